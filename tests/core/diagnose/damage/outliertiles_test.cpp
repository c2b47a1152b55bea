// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <random>

#include <gmock/gmock.h>

#include "core/diagnose/damage/outliertiles.h"
#include "core/diagnose/damage/provenance.h"
#include "core/replay/program/formats.h"
#include "core/replay/variants/variant.h"
#include "core/tensorfile/scan/scantensor.h"
#include "tests/core/diagnose/healthycall.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

constexpr std::int64_t outlierRows = 96;
constexpr std::int64_t outlierCols = 160;

std::vector<double> outlierInput(unsigned seed)
{
    return test::gaussian(outlierRows * outlierCols, seed);
}

diagnose::Element healthyElement(std::string_view name, std::vector<double> input)
{
    const auto member = test::memberOf(name);
    const auto device = replay::makeEigenDevice(1);
    replay::ReplayOptions options;
    options.precision = member.precision;
    options.rounding.lowering = member.variant->lowering;
    options.keepOutput = true;
    diagnose::Element element;
    element.shape = {1, outlierRows, outlierCols};
    element.output = replay::replay(*member.variant, element.shape, input, *device, options)->outputs[0];
    element.input = std::move(input);
    element.inputScan.count = outlierRows * outlierCols;
    element.outputScan.count = outlierRows * outlierCols;
    return element;
}

using Find = decltype(&diagnose::findOutlierTiles);

diagnose::OutlierTiles oddIn(
    const diagnose::Element& element, const std::vector<std::string>& names, Find find = diagnose::findOutlierTiles)
{
    std::vector<diagnose::Member> members;
    for (const auto& name : names) {
        members.push_back(test::memberOf(name));
    }
    const auto device = replay::makeEigenDevice(1);
    const auto& front = members.front();
    replay::ReplayOptions options;
    options.precision = front.precision;
    options.rounding.lowering = front.variant->lowering;
    options.keepOutput = true;
    const auto first = replay::replay(*front.variant, element.shape, element.input, *device, options)->outputs[0];
    const auto found = find(element, members, first, {}, *device, {});
    EXPECT_TRUE(found);
    return found.value_or(diagnose::OutlierTiles {});
}

void fill(diagnose::Element& element, const diagnose::Region& region,
    const std::function<double(std::int64_t, std::int64_t)>& value)
{
    for (auto r = region.rowBegin; r < region.rowEnd; ++r) {
        for (auto c = region.colBegin; c < region.colEnd; ++c) {
            element.output.set(static_cast<std::size_t>(r * outlierCols + c), value(r, c));
        }
    }
}

constexpr diagnose::Region outlierTile {32, 48, 64, 80};

TEST(OutlierTiles, AHealthyOutputHasNone)
{
    for (const auto* name : {"gns-gram", "keller-jordan", "dion-polar-express"}) {
        EXPECT_EQ(oddIn(healthyElement(name, outlierInput(1)), {name}).count, 0U) << name;
    }
}

TEST(OutlierTiles, OneSmallTileOfALargeOutputIsFound)
{
    auto element = healthyElement("gns-gram", outlierInput(2));
    fill(element, outlierTile, [](auto, auto) { return 0.0; });
    const auto odd = oddIn(element, {"gns-gram", "gns-standard"});
    EXPECT_EQ(odd.count, 1U);
    EXPECT_EQ(odd.row, 32);
    EXPECT_EQ(odd.col, 64);
    EXPECT_NEAR(odd.worstError, 1, 0.05);
    EXPECT_LT(odd.spread, 0.05);
}

TEST(OutlierTiles, WhatAnyPlausibleVariantGivesIsNotOdd)
{
    const auto element = healthyElement("keller-jordan", outlierInput(3));
    EXPECT_EQ(oddIn(element, {"gns-gram", "keller-jordan"}).count, 0U);
}

TEST(OutlierTiles, WhereTheRestIsExactNoSpreadExcusesATile)
{
    // One direction, and noise in all others: roundings of one function end far apart.
    std::vector<double> input(outlierRows * outlierCols);
    std::mt19937 generator(3);
    std::normal_distribution<double> normal;
    std::vector<double> left(outlierRows);
    std::vector<double> right(outlierCols);
    std::ranges::generate(left, [&] { return normal(generator); });
    std::ranges::generate(right, [&] { return normal(generator); });
    for (std::size_t i = 0; i < input.size(); ++i) {
        input[i] = replay::roundTo(Precision::bf16, left[i / outlierCols] * right[i % outlierCols]);
    }
    auto element = healthyElement("keller-jordan", input);
    element.outputType = DType::bfloat16;
    ASSERT_EQ(oddIn(element, {"keller-jordan"}).count, 0U);
    const auto whole = element.output;
    fill(element, outlierTile,
        [&](auto r, auto c) { return 1.25 * whole[static_cast<std::size_t>(r * outlierCols + c)]; });
    const auto odd = oddIn(element, {"keller-jordan"});
    EXPECT_EQ(odd.count, 1U);
    EXPECT_EQ(odd.row, 32);
    EXPECT_EQ(odd.col, 64);
    // With as much noise everywhere else, nothing is known of any tile.
    for (std::size_t i = 0; i < element.output.size(); ++i) {
        element.output.set(i, replay::roundTo(Precision::bf16, element.output[i] + 0.01 * normal(generator)));
    }
    EXPECT_EQ(oddIn(element, {"keller-jordan"}).count, 0U);
}

/// So many directions, each smaller than the one before.
std::vector<double> steep(unsigned seed, int directions, double ratio)
{
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> values(outlierRows * outlierCols, 0);
    for (int direction = 0; direction < directions; ++direction) {
        std::vector<double> left(outlierRows);
        std::vector<double> right(outlierCols);
        std::ranges::generate(left, [&] { return normal(generator); });
        std::ranges::generate(right, [&] { return normal(generator); });
        const double size = std::pow(ratio, direction);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] += size * left[i / outlierCols] * right[i % outlierCols];
        }
    }
    for (auto& x : values) {
        x = replay::roundTo(Precision::bf16, x);
    }
    return values;
}

/// Part of the way to what a slightly different input gives, as sums in another order may end.
diagnose::Element partlyElsewhere(std::string_view name, const std::vector<double>& input)
{
    constexpr double part = 0.25;
    std::mt19937 generator(5);
    auto moved = input;
    for (auto& value : moved) {
        value = replay::stepUlps(Precision::bf16, value, static_cast<int>(generator() % 3) - 1);
    }
    const auto other = healthyElement(name, std::move(moved)).output;
    auto element = healthyElement(name, input);
    for (std::size_t i = 0; i < other.size(); ++i) {
        element.output.set(i, element.output[i] + part * (other[i] - element.output[i]));
    }
    return element;
}

void multiply(diagnose::Element& element, const diagnose::Region& region, double factor)
{
    const auto whole = element.output;
    fill(
        element, region, [&](auto r, auto c) { return factor * whole[static_cast<std::size_t>(r * outlierCols + c)]; });
}

TEST(OutlierTiles, ATileIsOddWhereAllOthersFollowOneReplay)
{
    auto element = healthyElement("gns-gram", steep(21, 16, 1));
    // Last bits only, so that no tile is a replay's bit for bit.
    for (std::size_t i = 0; i < element.output.size(); ++i) {
        element.output.set(i, element.output[i] * (i % 2 == 0 ? 1.0001 : 0.9999));
    }
    EXPECT_EQ(oddIn(element, {"gns-gram"}).count, 0U);
    multiply(element, outlierTile, 1.3);
    const auto odd = oddIn(element, {"gns-gram", "gram-no-restart"});
    EXPECT_EQ(odd.count, 1U);
    EXPECT_GT(odd.spread, odd.worstError) << "roundings differ by more";
    EXPECT_TRUE(odd.unlessRan.empty());
}

TEST(OutlierTiles, WhereTilesFollowNoReplayRoundingsExcuseOne)
{
    auto element = partlyElsewhere("gns-gram", steep(21, 96, 0.95));
    EXPECT_EQ(oddIn(element, {"gns-gram"}).count, 0U);
    multiply(element, outlierTile, 1.8);
    const auto hidden = oddIn(element, {"gns-gram"});
    EXPECT_EQ(hidden.count, 0U);
    EXPECT_EQ(hidden.unjudged.count, 1);
    EXPECT_EQ(hidden.unjudged.row, 32);
    EXPECT_EQ(hidden.unjudged.col, 64);
}

TEST(OutlierTiles, ATileOffByLittleBesideOthersThatAreTightIsNotJudged)
{
    auto element = healthyElement("keller-jordan", outlierInput(3));
    EXPECT_EQ(oddIn(element, {"keller-jordan"}).unjudged.count, 0);
    multiply(element, outlierTile, 1.06);
    const auto found = oddIn(element, {"keller-jordan"});
    EXPECT_EQ(found.count, 0U) << "too little to call wrong";
    EXPECT_EQ(found.unjudged.count, 1);
    EXPECT_NEAR(found.unjudged.error, 0.06, 0.001);
    EXPECT_EQ(found.unjudged.row, 32);
    EXPECT_EQ(found.unjudged.col, 64);
    for (std::size_t i = 0; i < element.output.size(); ++i) {
        element.output.set(i, element.output[i] * (i % 2 == 0 ? 1.03 : 0.97));
    }
    EXPECT_NE(oddIn(element, {"keller-jordan"}).unjudged.count, 1) << "beside others that are off as well";
}

/// Through all ten tiles of one of six rows of them.
constexpr diagnose::Region badRow {40, 41, 0, outlierCols};

TEST(OutlierTiles, ARowThatIsTooSmallBesideRoundingsIsNotJudged)
{
    auto element = healthyElement("keller-jordan", outlierInput(3));
    for (std::size_t i = 0; i < element.output.size(); ++i) {
        element.output.set(i, element.output[i] * (i % 2 == 0 ? 1.015 : 0.985));
    }
    EXPECT_EQ(oddIn(element, {"keller-jordan"}).unjudged.count, 0);
    multiply(element, badRow, 0.5);
    const auto found = oddIn(element, {"keller-jordan"});
    EXPECT_EQ(found.count, 0U);
    EXPECT_GT(found.unjudged.count, 0) << "healthy, were nine in ten of the tiles alone what is usual";
    EXPECT_EQ(found.unjudged.row, 32);
}

/// Rows that share no column with others, and below them some that are nearly one: roundings take those far apart.
std::vector<double> apartFromABlock()
{
    std::vector<double> input(outlierRows * outlierCols, 0);
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < outlierRows * outlierCols; ++i) {
        const auto row = i / outlierCols;
        const auto col = i % outlierCols;
        const bool apart = row < 80;
        const double value = apart ? (col == row ? 1 : 0) : col < 80 ? 0 : std::sin(0.7 * static_cast<double>(col));
        input[static_cast<std::size_t>(i)] =
            replay::roundTo(Precision::bf16, value * (apart ? 1 : 1 + 1e-3 * normal(generator)));
    }
    return input;
}

TEST(OutlierTiles, TilesThatAllRoundingsGiveAlikeMakeNoReplayExact)
{
    auto element = healthyElement("keller-jordan", apartFromABlock());
    for (auto i = 80 * outlierCols; i < outlierRows * outlierCols; ++i) {
        const auto at = static_cast<std::size_t>(i);
        element.output.set(at, element.output[at] * (i % 2 == 0 ? 1.1 : 0.9));
    }
    EXPECT_EQ(oddIn(element, {"keller-jordan"}).count, 0U);
}

TEST(OutlierTiles, ZerosThatEveryReplayGivesMakeNoReplayExact)
{
    // Most rows are zero, as of an embedding of few words; roundings take the others far apart.
    auto input = steep(22, 24, 0.7);
    std::fill(input.begin() + 16 * outlierCols, input.end(), 0.0);
    auto element = healthyElement("keller-jordan", input);
    for (std::int64_t i = 0; i < 16 * outlierCols; ++i) {
        const auto at = static_cast<std::size_t>(i);
        element.output.set(at, element.output[at] * (i % 2 == 0 ? 1.1 : 0.9));
    }
    EXPECT_EQ(oddIn(element, {"keller-jordan"}).count, 0U);
}

TEST(OutlierTiles, RoundingsOfAFormThatNobodyRecommendsAreAQuestion)
{
    auto element = partlyElsewhere("gns-gram", steep(21, 96, 0.95));
    multiply(element, outlierTile, 4);
    const auto named = oddIn(element, {"gns-gram"});
    EXPECT_EQ(named.count, 1U);
    EXPECT_TRUE(named.unlessRan.empty());
    const auto open = oddIn(element, {"gns-gram", "gram-no-restart"});
    EXPECT_EQ(open.count, 1U);
    EXPECT_EQ(open.unlessRan, std::vector<std::string> {"gram-no-restart"});
}

TEST(OutlierTiles, WhereMostTilesAreNoiseNoneIsJudged)
{
    const auto input = steep(22, 24, 0.7);
    const auto element = healthyElement("keller-jordan", input);
    const auto other = oddIn(healthyElement("dion-polar-express", input), {"keller-jordan"});
    EXPECT_EQ(other.count, 0U);
    EXPECT_EQ(other.unjudged.count, other.unjudged.of) << "another function, which is for its fit to say";
    EXPECT_GT(other.unjudged.error, 0.05);
    EXPECT_EQ(oddIn(element, {"keller-jordan"}).unjudged.count, 0) << "bit for bit";
}

TEST(OutlierTiles, AnotherFunctionIsNotCalledCorrupt)
{
    const auto element = healthyElement("keller-jordan", outlierInput(4));
    EXPECT_EQ(oddIn(element, {"gns-gram"}).count, 0U);
}

TEST(OutlierTiles, AmplifiedNoiseOfARankOneInputIsNotOdd)
{
    std::vector<double> input(outlierRows * outlierCols);
    for (std::int64_t i = 0; i < outlierRows * outlierCols; ++i) {
        const auto row = i / outlierCols;
        input[static_cast<std::size_t>(i)] = replay::roundTo(Precision::bf16,
            std::sin(0.3 * static_cast<double>(row)) * std::cos(0.7 * static_cast<double>(i % outlierCols)));
    }
    const auto element = healthyElement("dion-polar-express", input);
    EXPECT_EQ(oddIn(element, {"dion-polar-express"}).count, 0U);
}

constexpr diagnose::Region stripe {0, 16, 0, outlierCols};

TEST(OutliersOutsideDamage, AFiniteWrongTileBesideNanIsFound)
{
    auto element = healthyElement("gns-gram", outlierInput(10));
    fill(element, stripe, [](auto, auto) { return NAN; });
    EXPECT_EQ(oddIn(element, {"gns-gram", "gns-standard"}, diagnose::findOutliersOutsideDamage).count, 0U)
        << "the rest is as it should be";
    fill(element, outlierTile,
        [&](auto r, auto c) { return element.input[static_cast<std::size_t>(r * outlierCols + c)] / 64; });
    const auto odd = oddIn(element, {"gns-gram", "gns-standard"}, diagnose::findOutliersOutsideDamage);
    EXPECT_EQ(odd.count, 1U);
    EXPECT_EQ(odd.row, 32);
    EXPECT_EQ(odd.col, 64);
}

TEST(OutliersOutsideDamage, TilesThatAreGoneMakeTheOthersNoLessTypical)
{
    // Another function is 9 % off everywhere. With the NaN counted as fits, the few tiles left would all stand out.
    auto element = healthyElement("keller-jordan", outlierInput(11));
    fill(element, {0, 64, 0, outlierCols}, [](auto, auto) { return NAN; });
    EXPECT_EQ(oddIn(element, {"gns-gram"}, diagnose::findOutliersOutsideDamage).count, 0U);
}

TEST(OutliersOutsideDamage, WhatIsMostlyGoneSaysNothing)
{
    auto element = healthyElement("gns-gram", outlierInput(12));
    fill(element, {0, outlierRows, 16, outlierCols}, [](auto, auto) { return NAN; });
    fill(element, {32, 48, 0, 16}, [](auto, auto) { return 0.0; });
    EXPECT_EQ(oddIn(element, {"gns-gram"}, diagnose::findOutliersOutsideDamage).count, 0U) << "six tiles are left";
    auto half = healthyElement("gns-gram", outlierInput(12));
    fill(half, outlierTile, [](auto r, auto) { return r < 41 ? NAN : 0.0; });
    EXPECT_EQ(oddIn(half, {"gns-gram"}, diagnose::findOutliersOutsideDamage).count, 0U)
        << "more than half of the tile is NaN";
}

TEST(Stale, ATileOfAnEarlierOutputIsRecognised)
{
    auto element = healthyElement("gns-gram", outlierInput(20));
    const auto before = healthyElement("gns-gram", outlierInput(21)).output;
    EXPECT_FALSE(diagnose::recursBeyondChance(element, outlierTile, before, 16));
    fill(element, outlierTile, [&](auto r, auto c) { return before[static_cast<std::size_t>(r * outlierCols + c)]; });
    const auto stretch = diagnose::recursBeyondChance(element, outlierTile, before, 16);
    ASSERT_TRUE(stretch);
    EXPECT_EQ(stretch->row, 32);
    EXPECT_EQ(stretch->col, 64);
    EXPECT_GT(stretch->values, 100U);
}

TEST(Stale, WhatRepeatsItselfDoesNotCount)
{
    auto element = healthyElement("gns-gram", outlierInput(22));
    auto before = healthyElement("gns-gram", outlierInput(23)).output;
    for (const double filling : {0.0, 0.5}) {
        fill(element, outlierTile, [&](auto, auto) { return filling; });
        before = std::vector(before.size(), filling);
        EXPECT_FALSE(diagnose::recursBeyondChance(element, outlierTile, before, 16)) << filling;
    }
    fill(element, outlierTile, [](auto, auto c) { return 0.001 * static_cast<double>(c % 8 + 1); });
    auto copy = healthyElement("gns-gram", outlierInput(23));
    fill(copy, outlierTile, [](auto, auto c) { return 0.001 * static_cast<double>(c % 8 + 1); });
    EXPECT_FALSE(diagnose::recursBeyondChance(element, outlierTile, copy.output, 16)) << "eight values, over and over";
}

TEST(Stale, AFewEqualValuesAreChance)
{
    auto element = healthyElement("gns-gram", outlierInput(24));
    const auto before = healthyElement("gns-gram", outlierInput(25)).output;
    fill(element, {32, 33, 64, 79},
        [&](auto r, auto c) { return before[static_cast<std::size_t>(r * outlierCols + c)]; });
    EXPECT_FALSE(diagnose::recursBeyondChance(element, outlierTile, before, 16)) << "fifteen in a row";
    auto scattered = healthyElement("gns-gram", outlierInput(24));
    fill(scattered, outlierTile, [&](auto r, auto c) {
        const auto i = static_cast<std::size_t>(r * outlierCols + c);
        return c % 8 == 0 ? scattered.output[i] : before[i];
    });
    EXPECT_FALSE(diagnose::recursBeyondChance(scattered, outlierTile, before, 16)) << "no stretch";
}

// A matrix changes little from update to update, and a kernel that is wrong in one place is so each time.
TEST(Stale, MatricesThatAreAlikeEverywhereSayNothing)
{
    auto element = healthyElement("gns-gram", outlierInput(26));
    auto before = healthyElement("gns-gram", outlierInput(27)).output;
    for (std::size_t i = 0; i < before.size(); ++i) {
        before.set(i, i % 3 == 0 ? element.output[i] : before[i]);
    }
    fill(element, outlierTile, [&](auto r, auto c) { return before[static_cast<std::size_t>(r * outlierCols + c)]; });
    EXPECT_FALSE(diagnose::recursBeyondChance(element, outlierTile, before, 16));
    EXPECT_FALSE(diagnose::recursBeyondChance(element, {0, outlierRows, 0, outlierCols}, before, 16))
        << "nothing is left outside";
}

TEST(Provenance, TellsWhereValuesRecurFrom)
{
    auto element = healthyElement("gns-gram", outlierInput(5));
    EXPECT_EQ(diagnose::recursInside(element, outlierTile), "");
    auto cleared = element;
    fill(cleared, outlierTile, [](auto, auto) { return 0.0; });
    EXPECT_THAT(diagnose::recursInside(cleared, outlierTile), HasSubstr("zero"));
    auto copied = element;
    fill(copied, outlierTile,
        [&](auto r, auto c) { return element.input[static_cast<std::size_t>(r * outlierCols + c)]; });
    EXPECT_EQ(diagnose::recursInside(copied, outlierTile), "it holds the input, bit for bit");
    auto twice = element;
    fill(twice, outlierTile,
        [&](auto r, auto c) { return element.output[static_cast<std::size_t>((r + 16) * outlierCols + c - 32)]; });
    EXPECT_EQ(diagnose::recursInside(twice, outlierTile), "it is also at [48, 32] of the same output, bit for bit");
}

TEST(Provenance, AnotherMatrixIsRecognised)
{
    auto element = healthyElement("gns-gram", outlierInput(6));
    const auto other = healthyElement("gns-gram", outlierInput(7)).output;
    EXPECT_EQ(diagnose::recursIn(element, outlierTile, other, "the output of element 1"), "");
    fill(element, outlierTile, [&](auto r, auto c) { return other[static_cast<std::size_t>(r * outlierCols + c)]; });
    EXPECT_EQ(diagnose::recursIn(element, outlierTile, other, "the output of element 1"),
        "it holds the output of element 1, bit for bit");
}

TEST(Provenance, AConstantIsNoCopy)
{
    auto element = healthyElement("gns-gram", outlierInput(8));
    fill(element, outlierTile, [](auto, auto) { return 0.5; });
    auto other = element;
    EXPECT_EQ(diagnose::recursIn(element, outlierTile, other.output, "it"), "");
}

TEST(Provenance, AnOutputThatIsItsInputIsACopy)
{
    auto element = healthyElement("gns-gram", outlierInput(9));
    EXPECT_FALSE(diagnose::isCopyOfInput(element));
    element.output = element.input;
    EXPECT_TRUE(diagnose::isCopyOfInput(element));
}

} // namespace
} // namespace nanscope
