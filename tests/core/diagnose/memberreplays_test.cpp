// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/diagnose/identify/memberreplays.h"
#include "core/diagnose/verdict/margin.h"
#include "core/tensorfile/scan/scantensor.h"
#include "healthycall.h"

namespace nanscope {
namespace {

constexpr std::int64_t rows = 24;
constexpr std::int64_t cols = 40;

/// An input in which nothing is wrong, and an output that is all NaN.
diagnose::Element allNaN(double factor = 1)
{
    diagnose::Element element;
    element.shape = {1, rows, cols};
    auto input = test::waves(static_cast<std::size_t>(rows * cols), 0.3);
    std::ranges::for_each(input, [factor](double& value) { value *= factor; });
    element.input = std::move(input);
    element.output = std::vector<double>(element.input.size(), std::numeric_limits<double>::quiet_NaN());
    const auto smallest = tensorfile::smallestNormal(Precision::fp64);
    element.inputScan = tensorfile::scanMatrix(element.input.doubles(), rows, cols, false, smallest);
    element.outputScan = tensorfile::scanMatrix(element.output.doubles(), rows, cols, false, smallest);
    return element;
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
        [&](const diagnose::Member& member) { outcome.replayed.push_back(member.variant->name); });
    for (const auto& variant : replay::variants()) {
        auto result = replays.of({&variant, variant.precision});
        EXPECT_TRUE(result) << variant.name;
        outcome.results.push_back(result.value_or(MemberResult {}));
    }
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

TEST(MemberReplays, ReplayedInFullNoForecastTurnsOutWrong)
{
    const auto element = allNaN();
    const auto outcome = allOf(element, true);
    const auto device = replay::makeEigenDevice(1);
    for (const auto& result : outcome.results) {
        const auto& variant = **replay::findVariant(result.variant);
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
    const auto outcome = allOf(allNaN(1e-24), true);
    EXPECT_TRUE(std::ranges::none_of(outcome.results, diagnose::verdict::isForecast));
}

} // namespace
} // namespace nanscope
