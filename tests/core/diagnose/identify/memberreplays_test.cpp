// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/diagnose/identify/envelope.h"
#include "core/diagnose/verdict/margin.h"
#include "core/replay/variants/variant.h"
#include "core/tensorfile/scan/scantensor.h"
#include "tests/core/diagnose/healthycall.h"

namespace nanscope {
namespace {

constexpr std::int64_t memberRows = 24;
constexpr std::int64_t memberCols = 40;

/// An input in which nothing is wrong, and an output that is all NaN.
diagnose::Element allNaN(std::vector<double> input = test::waves(memberRows * memberCols, 0.3))
{
    diagnose::Element element;
    element.shape = {1, memberRows, memberCols};
    element.input = std::move(input);
    element.output = std::vector<double>(element.input.size(), std::numeric_limits<double>::quiet_NaN());
    const auto smallest = tensorfile::smallestNormal(Precision::fp64);
    element.inputScan = tensorfile::scanMatrix(element.input.doubles(), memberRows, memberCols, false, smallest);
    element.outputScan = tensorfile::scanMatrix(element.output.doubles(), memberRows, memberCols, false, smallest);
    return element;
}

std::vector<double> oneDirection()
{
    std::vector<double> input;
    for (std::int64_t i = 0; i < memberRows * memberCols; ++i) {
        const auto row = i / memberCols;
        input.push_back(std::sin(static_cast<double>(1 + row)) * std::cos(static_cast<double>(i % memberCols)));
    }
    return input;
}

struct Outcome
{
    std::vector<MemberResult> results;
    std::vector<std::string> replayed; ///< the variants, as they were begun
};

Outcome allOf(const diagnose::Element& element, bool forecasts)
{
    const auto device = replay::makeEigenDevice(1);
    const CancelToken cancel;
    Outcome outcome;
    const std::map<const replay::Variant*, MemberResult> none;
    diagnose::MemberReplays replays({element, 1e-8, diagnose::Enough::asked, forecasts, none, *device, cancel},
        [&](const diagnose::Member& member, std::size_t done, std::size_t all) {
            outcome.replayed.push_back(member.variant->name);
            EXPECT_EQ(all, replay::variants().size());
            EXPECT_LT(done, all);
            EXPECT_GE(done + 1, outcome.replayed.size()) << "it goes forward";
        });
    std::vector<diagnose::Member> members;
    for (const auto& variant : replay::variants()) {
        members.push_back({&variant, variant.precision});
    }
    auto results = replays.all(members);
    EXPECT_TRUE(results);
    outcome.results = std::move(results).value_or(std::vector<MemberResult> {});
    return outcome;
}

TEST(MemberReplays, WhatIsForecastIsBornOutByAReplayOfItsFormatAndForm)
{
    const auto outcome = allOf(allNaN(), true);
    int forecast = 0;
    for (const auto& result : outcome.results) {
        if (!diagnose::verdict::isForecast(result)) {
            EXPECT_GT(result.roundings, 0) << result.variant;
            continue;
        }
        ++forecast;
        EXPECT_EQ(result.roundings, 0) << result.variant;
        EXPECT_TRUE(diagnose::verdict::isClear(result)) << result.variant;
        const auto checked = std::ranges::find(outcome.results, result.forecastBy, &MemberResult::variant);
        ASSERT_NE(checked, outcome.results.end()) << result.variant;
        EXPECT_GT(checked->roundings, 0) << result.variant;
        EXPECT_EQ(checked->precision, result.precision) << result.variant;
        EXPECT_EQ(checked->absmaxQ.has_value(), result.absmaxQ.has_value()) << result.variant;
    }
    EXPECT_GE(forecast, 15);
}

TEST(MemberReplays, WhatHasToBeReplayedBearsOutTheForecastsOfOthers)
{
    const auto outcome = allOf(allNaN(), true);
    const auto ofVariant = [&](std::string_view name) {
        return *std::ranges::find(outcome.results, name, &MemberResult::variant);
    };
    const auto near = ofVariant("polar-express-unprotected");
    EXPECT_GT(near.roundings, 0);
    EXPECT_FALSE(diagnose::keepsClear(near)) << "too near its limit to be forecast itself";
    EXPECT_EQ(ofVariant("keller-jordan").forecastBy, near.variant) << "although it comes first";
}

TEST(MemberReplays, WhereASlackTurnsOutOtherwiseNothingOfItsFormatIsForecast)
{
    // All of it lies in one direction, on which the roundings of bf16 add up.
    const auto outcome = allOf(allNaN(oneDirection()), true);
    for (const auto& result : outcome.results) {
        EXPECT_FALSE(result.precision == "bf16" && diagnose::verdict::isForecast(result)) << result.variant;
    }
}

TEST(MemberReplays, ReplayedInFullNoForecastTurnsOutWrong)
{
    const auto element = allNaN();
    const auto outcome = allOf(element, true);
    const auto device = replay::makeEigenDevice(1);
    for (const auto& result : outcome.results) {
        const auto& variant = *replay::builtInVariant(result.variant);
        const auto whole =
            diagnose::replayMember({&variant, variant.precision}, element, 1e-8, diagnose::Enough::whole, *device, {});
        ASSERT_TRUE(whole);
        if (diagnose::verdict::isForecast(result)) {
            EXPECT_FALSE(diagnose::verdict::couldFail(*whole)) << result.variant;
            EXPECT_GE(*whole->slackPercent, *result.slackPercent - 0.5) << result.variant;
            EXPECT_GE(whole->headroomBinades, result.headroomBinades - 0.1) << result.variant;
        }
    }
}

TEST(MemberReplays, WithoutForecastsEachPieceOfWorkIsReplayedOnce)
{
    const auto outcome = allOf(allNaN(), false);
    EXPECT_TRUE(std::ranges::none_of(outcome.results, diagnose::verdict::isForecast));
    EXPECT_LT(outcome.replayed.size(), outcome.results.size()) << "projects copy from one another";
    EXPECT_GT(outcome.replayed.size(), 25U);
}

TEST(MemberReplays, OutOfTheRangeOfAFormatEveryVariantIsReplayed)
{
    // Every square is below the smallest number of fp32.
    auto input = test::waves(memberRows * memberCols, 0.3);
    std::ranges::for_each(input, [](double& value) { value *= 1e-24; });
    const auto outcome = allOf(allNaN(std::move(input)), true);
    EXPECT_TRUE(std::ranges::none_of(outcome.results, diagnose::verdict::isForecast));
}

} // namespace
} // namespace nanscope
