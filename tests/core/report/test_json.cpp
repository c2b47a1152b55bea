// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/json/records.h"
#include "core/report/input/reportinput.h"
#include "handmade.h"

using namespace nanscope;
using Json = nlohmann::ordered_json;
using testing::ElementsAre;

namespace {

std::vector<std::string> firstKeys(const Json& json, std::size_t count)
{
    std::vector<std::string> keys;
    for (const auto& item : json.items()) {
        if (keys.size() < count) {
            keys.push_back(item.key());
        }
    }
    return keys;
}

} // namespace

TEST(Json, NonFiniteNumbersAreTheirNames)
{
    EXPECT_EQ(jsonNumber(std::nan("")), "nan");
    EXPECT_EQ(jsonNumber(HUGE_VAL), "inf");
    EXPECT_EQ(jsonNumber(-HUGE_VAL), "-inf");
    EXPECT_EQ(jsonNumber(0.5), 0.5);
}

TEST(Json, WhatIsNotThereIsNull)
{
    EXPECT_EQ(orNull(std::optional(7)), 7);
    EXPECT_EQ(orNull(std::optional(false)), false);
    EXPECT_EQ(orNull(std::optional<int>()), nullptr);
    EXPECT_EQ(orNull("word"), "word");
    EXPECT_EQ(orNull(""), nullptr);
    EXPECT_EQ(numberOrNull(HUGE_VAL), "inf");
    EXPECT_EQ(numberOrNull(std::nullopt), nullptr);
}

TEST(Json, CellHasTheKeysOfTheContractInOrder)
{
    const auto json = toJson(handmade::failingCell());
    EXPECT_THAT(firstKeys(json, 15),
        ElementsAre("capture", "variant", "precision", "device", "lowering", "arithmetic", "epsilon", "steps",
            "outcome", "first_nonfinite", "birth", "batches", "seconds", "environment", "gauges"));
    EXPECT_THAT(firstKeys(json["first_nonfinite"], 9), ElementsAre("iteration", "op", "index", "kind", "count"));
    EXPECT_EQ(json["first_nonfinite"].dump(), R"({"iteration":3,"op":"gram","index":[12,5],"kind":"nan","count":384})");
    EXPECT_EQ(json["arithmetic"], "emulated");
    EXPECT_EQ(json["gauges"][0]["absmax_x"], "inf");
    EXPECT_TRUE(json["gauges"][0]["absmax_q"].is_null());
}

TEST(Json, FiniteCellHasNullsWhereNothingWentWrong)
{
    const auto json = toJson(Cell {});
    EXPECT_TRUE(json["first_nonfinite"].is_null());
    EXPECT_TRUE(json["birth"].is_null());
    EXPECT_EQ(json["outcome"], "finite");
}

TEST(Json, CellThatFailedHasNoOutcome)
{
    Cell cell;
    cell.error = "out of memory";
    EXPECT_TRUE(toJson(cell)["outcome"].is_null());
    EXPECT_EQ(toJson(cell)["error"], "out of memory");
}

TEST(Json, DiagnosisHasTheKeysOfTheContractInOrder)
{
    const auto json = diagnosisAnswer(handmade::diagnosis()).whole();
    EXPECT_THAT(firstKeys(json, 6), ElementsAre("schema", "triage", "captures", "findings", "advisories", "rollback"));
    EXPECT_EQ(json["schema"], "nanscope.diagnosis/1");
    EXPECT_EQ(json["triage"].dump(), R"({"captures":25,"births":1,"upstream":0,"downstream":24,"padding":0})");
    EXPECT_THAT(firstKeys(json["captures"][0], 13),
        ElementsAre("capture", "role", "rank", "step", "step_source", "verdict", "summary", "question", "variant",
            "for", "against", "not_testable", "next"));
    EXPECT_THAT(firstKeys(json["captures"][0]["variant"], 4), ElementsAre("names", "how", "fit", "runner_up"));
    EXPECT_EQ(json["captures"][0]["step"].dump(), "[5,6]");
    EXPECT_TRUE(json["captures"][0]["question"].is_null());
    EXPECT_TRUE(json["captures"][1]["step"].is_null());
    EXPECT_THAT(firstKeys(json["findings"][0], 8),
        ElementsAre("id", "state", "title", "severity", "step", "rank", "evidence", "advice"));
    EXPECT_TRUE(json["rollback"].is_null());
}

TEST(Json, CaptureHasTheKeysOfTheContractInOrder)
{
    const auto json = toJson(handmade::birthCapture());
    EXPECT_THAT(firstKeys(json, 10),
        ElementsAre("schema", "file", "rank", "shape", "dtype", "epsilon", "pid", "timestamp_ms", "input", "output"));
    EXPECT_THAT(firstKeys(json["output"], 7),
        ElementsAre("nan", "pos_inf", "neg_inf", "zero", "absmax", "frobenius", "first_nonfinite"));
    EXPECT_EQ(json["output"]["first_nonfinite"].dump(), "[0,32,64]");
    EXPECT_EQ(json["dtype"], "bf16");
    EXPECT_DOUBLE_EQ(json["input"]["frobenius"].get<double>(), 3);
}

TEST(Json, CaptureWithoutOutputOrEpsilonHasNulls)
{
    auto capture = handmade::birthCapture();
    capture.output.reset();
    capture.epsilon.reset();
    EXPECT_TRUE(toJson(capture)["output"].is_null());
    EXPECT_TRUE(toJson(capture)["epsilon"].is_null());
}

TEST(Json, SeriesListNamesRunAndCounts)
{
    const auto json = report::seriesAnswer(handmade::run()).whole();
    EXPECT_EQ(json["schema"], "nanscope.series/1");
    EXPECT_THAT(firstKeys(json["series"][0], 11),
        ElementsAre("run", "rank", "name", "points", "first_step", "last_step", "nan", "pos_inf", "neg_inf", "missing",
            "source"));
    EXPECT_EQ(json["series"][0]["run"], "tile");
    EXPECT_EQ(json["series"][0]["nan"], 1);
}

TEST(Json, ProgressHasTheKeysOfTheContract)
{
    const auto json = toJson(Progress {"sweep", "replay", 3, 10, "cells", "gns-gram bf16"});
    EXPECT_THAT(firstKeys(json, 8), ElementsAre("job", "phase", "done", "total", "unit", "eta_s", "message", "cell"));
}

TEST(Json, DeepGaugesAreKeysOfTheirStepAndOnlyWhereTheyAreKnown)
{
    auto cell = handmade::failingCell();
    EXPECT_FALSE(toJson(cell).contains("deep"));
    cell.gauges = {{1, 1.5, {}, {}, {}, 2, {}}};
    cell.deep.emplace();
    cell.deep->batch = 2;
    cell.deep->outputRange = {0.5, 1.5};
    cell.deep->shares = {0.75};
    cell.deep->steps = {{1, 0.25, -4e-4, 0.0, {}, {7.5}}, {2, {}, {}, {}, {}, {}}};
    const auto json = toJson(cell);
    EXPECT_EQ(json["gauges"][0]["iterate_distance"], 0.25);
    EXPECT_EQ(json["gauges"][0]["lambda_min"], -4e-4);
    EXPECT_EQ(json["gauges"][0]["symmetry_error"], 0.0);
    EXPECT_FALSE(json["gauges"][0].contains("commutator"));
    EXPECT_EQ(json["gauges"][0]["signal_gains"].dump(), "[7.5]");
    EXPECT_EQ(json["gauges"][1].dump(), R"({"iteration":2})");
    EXPECT_EQ(json["deep"].dump(), R"({"batch":2,"output_range":[0.5,1.5],"shares":[0.75],"seconds":0.0})");
    const auto back = cellFromJson(json);
    ASSERT_TRUE(back && back->deep);
    EXPECT_EQ(jsonText(toJson(*back)["deep"]), jsonText(json["deep"]));
    EXPECT_EQ(back->deep->steps.at(0).lambdaMin, -4e-4);
    EXPECT_FALSE(back->deep->steps.at(0).commutator);
    EXPECT_EQ(back->deep->steps.at(0).signalGains, std::vector<double> {7.5});
    cell.deep.reset();
    cell.deepError = "too much";
    EXPECT_EQ(cellFromJson(toJson(cell))->deepError, "too much");
    EXPECT_EQ(toJson(cell)["deep_error"], "too much");
}

TEST(Json, CellComesBackAsItWent)
{
    const auto cell = handmade::failingCell();
    const auto text = jsonText(toJson(cell));
    const auto back = cellFromJson(Json::parse(text));
    ASSERT_TRUE(back) << sentence(back.error());
    EXPECT_EQ(jsonText(toJson(*back)), text);
    EXPECT_EQ(back->firstNonFinite, cell.firstNonFinite);
    EXPECT_EQ(back->environment, cell.environment);
    EXPECT_EQ(back->precision, Precision::fp16);
    EXPECT_EQ(back->lowering, Lowering::fused);
    EXPECT_TRUE(std::isinf(back->gauges[0].absmaxX));
    EXPECT_TRUE(std::isnan(*back->gauges[1].orthogonality));
}

TEST(Json, AnAnswerIsWrittenInPiecesAsItWouldBeWhole)
{
    const auto run = handmade::run();
    const auto diagnosis = handmade::diagnosis();
    JsonAnswer inner;
    const std::vector<int> none;
    inner.addEach("none", none, [](int one) { return one; });
    JsonAnswer answer;
    answer.add("schema", "nanscope.test/1");
    answer.add("diagnosis", diagnosisAnswer(diagnosis));
    answer.add("empty", inner);
    answer.add("nothing", JsonAnswer());
    answer.add("lines", Json::array({"a\nb", Json::object(), Json::array({1, 2})}));
    answer.addEach("captures", run.captures, [](const Capture& capture) { return toJson(capture); });
    EXPECT_EQ(answer.text(true), answer.whole().dump(2));
    EXPECT_EQ(answer.text(), answer.whole().dump());
    EXPECT_EQ(Json::parse(answer.text())["captures"].size(), run.captures.size());
}

TEST(Json, AChangeIsMadeToEachPartWithItsPlace)
{
    const std::vector<std::string> names {"x", "y"};
    JsonAnswer inner;
    inner.addEach("names", names, [](const std::string& one) { return one; });
    JsonAnswer answer;
    answer.add("in", inner);
    answer.add("out", "z");
    std::vector<std::string> places;
    std::string text;
    answer.write([&text](std::string_view part) { text += part; }, false,
        [&places](Json& value, const std::string& place) {
            places.push_back(place);
            value = "*";
        });
    EXPECT_THAT(places, ElementsAre("in.names.0", "in.names.1", "out"));
    EXPECT_EQ(text, R"({"in":{"names":["*","*"]},"out":"*"})");
}

TEST(Json, DiagnosisComesBackAsItWent)
{
    const auto text = diagnosisAnswer(handmade::diagnosis()).text();
    const auto back = diagnosisFromJson(text);
    ASSERT_TRUE(back) << sentence(back.error());
    EXPECT_EQ(diagnosisAnswer(*back).text(), text);
    const auto& verdict = back->captures[0];
    EXPECT_EQ(verdict.captureId, 3);
    EXPECT_EQ(verdict.step, std::make_pair(std::int64_t {5}, std::int64_t {6}));
    EXPECT_EQ(verdict.facts.damage.nanBits[0].first, 0x7fc0U);
    EXPECT_TRUE(std::isinf(verdict.members[1].headroomBinades));
    EXPECT_TRUE(std::isnan(verdict.variant.all[2].fit));
    EXPECT_EQ(back->captures[1].role, Role::downstream);
    EXPECT_FALSE(back->captures[1].step);
    EXPECT_EQ(back->findings[0].evidence[0].line, 23);
}

TEST(Json, UnknownKeysAreIgnoredAndWrongTypesKeepTheDefault)
{
    const auto cell =
        cellFromJson(Json::parse(R"({"variant":"x","future":[1],"epsilon":{},"precision":"fp8","id":"y"})"));
    ASSERT_TRUE(cell);
    EXPECT_EQ(cell->precision, Cell {}.precision);
    EXPECT_EQ(cell->epsilon, 0);
    EXPECT_EQ(cell->id, 0);
}

TEST(Json, WhatIsNoAnswerIsRefusedInASentence)
{
    EXPECT_FALSE(cellFromJson(Json::parse("[]")));
    EXPECT_FALSE(diagnosisFromJson("not json"));
    EXPECT_FALSE(diagnosisFromJson(R"({"schema":"nanscope.diagnosis/99"})"));
    EXPECT_FALSE(diagnosisFromJson(R"({"schema":7})"));
    EXPECT_FALSE(diagnosisFromJson("").error().what.empty());
}

TEST(Json, BytesThatAreNotUtf8DoNotThrow)
{
    auto capture = handmade::birthCapture();
    capture.file = "bad\xff\xfe.pt";
    EXPECT_NE(jsonText(toJson(capture)).find("bad\uFFFD"), std::string::npos);
}

TEST(Json, ReportRedactsEveryString)
{
    const auto text = report::jsonReport(handmade::reportInput());
    EXPECT_EQ(text.find("alice"), std::string::npos);
    const auto json = Json::parse(text);
    EXPECT_EQ(json["schema"], "nanscope.report/1");
    EXPECT_EQ(json["run"]["root"], json["run"]["name"]) << "not where it lies";
    EXPECT_EQ(json["diagnosis"]["schema"], "nanscope.diagnosis/1");
    EXPECT_EQ(json["cells"].size(), 1U);
    const auto open = report::jsonReport(handmade::reportInput(), {false});
    EXPECT_EQ(Json::parse(open)["run"]["root"], "/home/alice/runs/tile");
}
