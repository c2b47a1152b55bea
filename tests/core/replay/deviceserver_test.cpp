// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a device answers to lines that nobody should send. tests/integration/remotedevice_test.cpp has the others.
#include "core/rpc/deviceserver.h"

#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/replay/program/programjson.h"
#include "core/replay/variants/catalogue.h"
#include "core/rpc/answers.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<Json> answersTo(const std::string& lines)
{
    std::istringstream in(lines);
    std::ostringstream out;
    EXPECT_EQ(rpc::serveDevice(in, out, *replay::makeEigenDevice(1)), 0);
    std::istringstream text(out.str());
    std::vector<Json> answers;
    for (std::string line; std::getline(text, line);) {
        answers.push_back(Json::parse(line, nullptr, false));
    }
    return answers;
}

Json program()
{
    const auto variant = replay::Catalogue().find("torch-muon");
    return replay::programToJson(*replay::compileProgram(**variant, {1, 4, 6}, {}));
}

std::string prepare(const Json& program, int batch = 1)
{
    return Json {{"do", "prepare"}, {"program", program}, {"batch", batch}}.dump() + "\n";
}

std::string errorOf(const std::string& lines)
{
    const auto answers = answersTo(lines);
    return answers.empty() ? "no answer" : answers.back().value("error", "no error");
}

TEST(DeviceServer, AnswersEveryLineAndGoesOn)
{
    const auto answers = answersTo("nonsense\n[1]\n{\"do\":\"dance\"}\n{\"do\":\"hello\"}\n");
    ASSERT_THAT(answers, SizeIs(4));
    EXPECT_TRUE(answers[0].contains("error"));
    EXPECT_TRUE(answers[1].contains("error"));
    EXPECT_TRUE(answers[2].contains("error"));
    EXPECT_EQ(answers[3]["hello"]["device"], "cpu");
    EXPECT_EQ(answers[3]["hello"]["native"], Json::array({"fp64", "fp32"}));
}

TEST(DeviceServer, RunsNothingBeforeAProgram)
{
    EXPECT_THAT(errorOf("{\"do\":\"scans\"}\n"), HasSubstr("No program"));
    EXPECT_THAT(errorOf(prepare(program(), 0)), HasSubstr("batch"));
}

TEST(DeviceServer, RefusesAProgramThatNamesWhatItHasNot)
{
    EXPECT_EQ(errorOf(prepare(program())), "no error");
    for (const auto* key : {"a", "out", "scalar", "vector", "scan", "code", "round"}) {
        auto wrong = program();
        wrong["code"][2][key] = 1000;
        EXPECT_THAT(errorOf(prepare(wrong)), HasSubstr("contradicts itself")) << key;
        wrong["code"][2][key] = -2;
        EXPECT_THAT(errorOf(prepare(wrong)), HasSubstr("contradicts itself")) << key;
    }
    auto huge = program();
    huge["buffers"][0]["rows"] = std::int64_t {1} << 62;
    EXPECT_THAT(errorOf(prepare(huge)), HasSubstr("contradicts itself"));
    EXPECT_THAT(errorOf(prepare(Json())), HasSubstr("contradicts itself"));
}

TEST(DeviceServer, RefusesPlacesThatAreNotThere)
{
    const auto ready = prepare(program());
    EXPECT_THAT(errorOf(ready + R"({"do":"download","buffer":1000,"element":0})" + "\n"), HasSubstr("no such buffer"));
    EXPECT_THAT(errorOf(ready + R"({"do":"tiles","buffer":0,"element":1})" + "\n"), HasSubstr("no such buffer"));
    const std::string overwrite = R"({"do":"overwrite","buffer":0,"element":0,"values":[1,2],"region":)";
    EXPECT_THAT(errorOf(ready + overwrite + "[0,5,1,2]}\n"), HasSubstr("does not lie in its buffer"));
    EXPECT_THAT(errorOf(ready + overwrite + "[0,4,2,2]}\n"), HasSubstr("do not fill their region"));
    EXPECT_THAT(errorOf(ready + overwrite + "[-1,0,1,2]}\n"), HasSubstr("does not lie in its buffer"));
    EXPECT_THAT(errorOf(ready + overwrite + "\"all\"}\n"), HasSubstr("region"));
    EXPECT_EQ(errorOf(ready + overwrite + "[0,4,1,2]}\n"), "no error");
    const std::string download = R"({"do":"download","buffer":0,"element":0,"region":)";
    EXPECT_THAT(errorOf(ready + download + "[0,5,1,2]}\n"), HasSubstr("does not lie in its buffer"));
    EXPECT_THAT(errorOf(ready + download + "null}\n"), HasSubstr("region"));
}

TEST(DeviceServer, TakesEigenvaluesOfSquareBuffersAlone)
{
    const auto ready = prepare(program());
    EXPECT_THAT(
        errorOf(ready + R"({"do":"eigenvalue","buffer":1000,"element":0})" + "\n"), HasSubstr("no such buffer"));
    EXPECT_THAT(errorOf(ready + R"({"do":"eigenvalue","buffer":0,"element":0})" + "\n"), HasSubstr("not square"));
    EXPECT_NE(errorOf(R"({"do":"eigenbasis","rows":4,"cols":6,"matrix":null,"columns":null})"
                      "\n"),
        "no error");
}

TEST(DeviceServer, TakesNoInputFromElsewhere)
{
    const auto ready = prepare(program());
    const std::string upload = R"({"do":"upload","count":24,"wide":true,"at":16,"block":)";
    EXPECT_NE(errorOf(ready + upload + R"({"version":1,"name":"/etc/passwd","bytes":208}})" + "\n"), "no error");
    EXPECT_NE(errorOf(ready + upload + "null}\n"), "no error");
    EXPECT_THAT(errorOf(ready + R"({"do":"upload","again":true})" + "\n"), HasSubstr("handed over"));
}

TEST(DeviceServer, ReplaysWhatItWasGivenToDecompose)
{
    const std::vector<float> values(24, 0.5F);
    const std::vector<double> columns(4, 1);
    const auto matrix = rpc::packValues(values);
    const auto beside = rpc::packValues(columns);
    ASSERT_TRUE(matrix && beside);
    const Json decompose {
        {"do", "eigenbasis"}, {"rows", 4}, {"cols", 6}, {"matrix", matrix->json}, {"columns", beside->json}};
    const auto answers = answersTo(prepare(program()) + decompose.dump() + "\n" + R"({"do":"upload","again":true})"
        + "\n" + R"({"do":"upload","again":true})" + "\n");
    ASSERT_THAT(answers, SizeIs(4));
    EXPECT_EQ(answers[1], Json::object({{"done", true}})) << "core's own CPU device has no way of its own";
    EXPECT_EQ(answers[2], answers[1]);
    EXPECT_EQ(answers[3], answers[1]);
    EXPECT_TRUE(matrix->block.taken());
}

} // namespace

} // namespace nanscope
