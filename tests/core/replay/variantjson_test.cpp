// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/variantjson.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/replay/engine/outcome.h"
#include "core/replay/engine/replay.h"
#include "core/replay/variants/catalogue.h"
#include "core/replay/variants/variant.h"

namespace nanscope {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

std::string problemOf(std::string_view text)
{
    const auto read = replay::variantsFromText(text, {});
    EXPECT_FALSE(read) << text;
    return read ? std::string() : read.error().what;
}

replay::Variant only(std::string_view text)
{
    const auto read = replay::variantsFromText(text, {});
    EXPECT_TRUE(read) << text << ": " << (read ? "" : read.error().what);
    return read ? read->front() : replay::Variant {};
}

class File
{
public:
    File(const char* name, const std::string& content)
        : m_path(std::filesystem::path(testing::TempDir()) / name)
    {
        std::ofstream(m_path, std::ios::binary) << content;
    }
    ~File() { std::filesystem::remove(m_path); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

TEST(VariantJson, EveryPublishedVariantComesBackAsItWas)
{
    for (const auto& variant : replay::variants()) {
        const auto back = replay::variantFromJson(replay::variantToJson(variant), {});
        ASSERT_TRUE(back) << variant.name << ": " << back.error().what;
        auto own = variant;
        own.symmetricKernels = true; // of what a file defines nobody knows
        EXPECT_EQ(*back, own) << variant.name;
    }
}

TEST(VariantJson, ABaseGivesWhatIsNotSaid)
{
    const auto mine = only(R"({"base": "gns-gram", "name": "mine", "restarts": [1, 3], "epsilon": 0})");
    const auto& base = *replay::builtInVariant("gns-gram");
    EXPECT_EQ(mine.name, "mine");
    EXPECT_EQ(mine.steps, base.steps);
    EXPECT_EQ(mine.form, replay::Form::gram);
    EXPECT_EQ(mine.restarts, (std::vector {1, 3}));
    EXPECT_EQ(mine.epsilon, 0);
    EXPECT_EQ(mine.family, "gns");
    EXPECT_THAT(mine.source, HasSubstr("gns-gram"));
}

TEST(VariantJson, PlainOnesNeedANameAndSteps)
{
    const auto mine = only(R"({"name": "mine", "steps": [[2, -1.5, 0.5], [1.875, -1.25, 0.375]], "precision": "fp16",
        "normalization": "aol", "tall": "multiply_right", "norm_precision": "fp64", "beyond": "cycle"})");
    EXPECT_EQ(mine.steps.size(), 2U);
    EXPECT_EQ(mine.steps[0], (replay::Coefficients {2, -1.5, 0.5}));
    EXPECT_EQ(mine.precision, Precision::fp16);
    EXPECT_EQ(mine.normalization, replay::Normalization::aol);
    EXPECT_EQ(mine.tall, replay::TallRule::multiplyRight);
    EXPECT_EQ(mine.normPrecision, Precision::fp64);
    EXPECT_EQ(mine.beyond, replay::Beyond::cycle);
    EXPECT_THAT(problemOf(R"({"steps": [[2, -1.5, 0.5]]})"), HasSubstr("no \"name\""));
    EXPECT_THAT(problemOf(R"({"name": "mine"})"), HasSubstr("\"mine\" has no \"steps\""));
}

TEST(VariantJson, WhatIsWrongIsNamedWithItsPlace)
{
    EXPECT_THAT(problemOf(R"({"name": "m", "steps": [[1, 2, 3], [1, "x", 3]]})"),
        HasSubstr("coefficient 'b' in step 2 that is not a finite number"));
    EXPECT_THAT(problemOf(R"({"name": "m", "steps": [[1, 2, "nan"]]})"), HasSubstr("'c' in step 1"));
    EXPECT_THAT(problemOf(R"({"name": "m", "steps": [[1, 2]]})"), HasSubstr("step 1 that is not [a, b, c]"));
    EXPECT_THAT(problemOf(R"({"name": "m", "steps": []})"), HasSubstr("\"steps\" of the variant \"m\" is not a list"));
    EXPECT_THAT(
        problemOf(R"({"name": "m", "stepps": [[1, 2, 3]]})"), HasSubstr("no key \"stepps\"; the nearest are steps"));
    EXPECT_THAT(problemOf(R"({"name": "m", "steps": [[1, 2, 3]], "form": "grram"})"),
        HasSubstr("\"grram\", which is none of gram"));
    EXPECT_THAT(problemOf(R"({"base": "keller-jordon", "name": "m"})"), HasSubstr("keller-jordan"));
    EXPECT_THAT(problemOf(R"({"name": "m", "steps": [[1, 2, 1e999]]})"), Not(testing::IsEmpty()));
    for (const auto* number : {"NaN", "Infinity", "-Infinity"}) {
        EXPECT_THAT(problemOf(fmt::format(R"({{"name": "m", "steps": [[1, 2, {}]]}})", number)),
            HasSubstr(": there is no NaN and no Infinity in it"))
            << number;
    }
    EXPECT_THAT(problemOf(R"({"name": "NaN", "steps": [[1, 2, 3,]]})"), Not(HasSubstr("NaN")));
    EXPECT_THAT(problemOf(R"([{"name": "a", "steps": [[1, 2, 3]], "steps": [[2, 2, 3]]}])"),
        HasSubstr("\"steps\" twice in one object"));
    EXPECT_THAT(problemOf("hello"), HasSubstr("not JSON at byte 1"));
    EXPECT_THAT(problemOf("3"), HasSubstr("is a JSON object"));
    EXPECT_THAT(problemOf("[]"), HasSubstr("holds none"));
    EXPECT_THAT(problemOf(R"({"name": "m", "steps": [[1, 2, 3]], "epsilon": "small"})"), HasSubstr("\"epsilon\""));
    EXPECT_THAT(problemOf(R"({"name": "m", "steps": [[1, 2, 3]], "epsilon": -1})"), HasSubstr("epsilon"));
    EXPECT_THAT(problemOf(R"({"name": "a,b", "steps": [[1, 2, 3]]})"), HasSubstr("letters, digits"));
    EXPECT_THAT(problemOf(R"({"name": "m", "steps": [[1, 2, 3]], "restarts": [2]})"), HasSubstr("restart"));
    EXPECT_THAT(problemOf(std::string(50, '[')), Not(testing::IsEmpty()));
}

TEST(VariantJson, AMillionStepsAreRefusedBeforeTheyAreRead)
{
    std::string text = R"({"name": "m", "steps": [[1, 2, 3])";
    for (int i = 0; i < 100; ++i) {
        text += ",[1,2,3]";
    }
    EXPECT_THAT(problemOf(text + "]}"), HasSubstr("has 101 steps; give 1 to 100"));
    const File file("nanscope-many.json", std::string(replay::maxVariantFileBytes + 1, ' '));
    replay::Catalogue catalogue;
    const auto added = replay::addVariantFile(catalogue, file.path());
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().kind, ErrorKind::usage);
    EXPECT_THAT(added.error().what, HasSubstr("a schedule has at most 100 steps"));
    EXPECT_EQ(added.error().path, file.path().string());
}

TEST(VariantJson, FilesAddWhatSweepsThenFind)
{
    const File file("nanscope-two.json",
        R"([{"base": "dion-ns5", "name": "two-steps", "steps": [[2, -1.5, 0.5], [2, -1.5, 0.5]]},
            {"base": "keller-jordan", "name": "kj-fp16", "precision": "fp16"}])");
    replay::Catalogue catalogue;
    const auto added = replay::addVariantFile(catalogue, file.path());
    ASSERT_TRUE(added) << added.error().what;
    EXPECT_EQ(catalogue.added().size(), 2U);
    EXPECT_TRUE(catalogue.find("kj-fp16"));
    const auto found = catalogue.find("two-steps");
    ASSERT_TRUE(found);
    EXPECT_EQ((*found)->steps.size(), 2U);
    EXPECT_TRUE(replay::addVariantFile(catalogue, file.path())) << "the same again changes nothing";
    EXPECT_EQ(*catalogue.find("two-steps"), *found) << "and what was found stays where it is";

    const File other("nanscope-other.json", R"({"base": "gns-gram", "name": "two-steps"})");
    const auto clash = replay::addVariantFile(catalogue, other.path());
    ASSERT_FALSE(clash);
    EXPECT_THAT(clash.error().what, HasSubstr("two different variants 'two-steps'"));
    EXPECT_EQ(clash.error().path, other.path().string());
    const File own("nanscope-own.json", R"({"base": "gns-gram", "name": "gns-gram"})");
    const auto taken = replay::addVariantFile(catalogue, own.path());
    ASSERT_FALSE(taken);
    EXPECT_THAT(taken.error().what, HasSubstr("Nanscope has itself"));
    const auto missing = replay::addVariantFile(catalogue, "/no/such/variants.json");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().path, "/no/such/variants.json");
}

TEST(VariantJson, AnOwnOneRunsLikeAnyOther)
{
    const auto classic = only(R"({"name": "classic", "steps": [[2, -1.5, 0.5], [2, -1.5, 0.5], [2, -1.5, 0.5]]})");
    const auto device = replay::makeEigenDevice(1);
    replay::ReplayOptions options;
    options.precision = Precision::fp64;
    options.keepOutput = true;
    const std::vector<double> input {1, 0, 0, 0, 1, 0};
    const auto done = replay::replay(classic, {1, 2, 3}, input, *device, options);
    ASSERT_TRUE(done);
    EXPECT_NEAR(done->outputs[0][0], replay::applySchedule(classic.steps, 1 / (std::sqrt(2) + 1e-7)), 1e-12);
}

} // namespace
} // namespace nanscope
