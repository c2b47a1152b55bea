// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/deviationkinds.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/replay/program/formats.h"
#include "tests/core/diagnose/healthycall.h"

namespace nanscope {
namespace {

constexpr std::int64_t leftoverRows = 64;
constexpr std::int64_t leftoverCols = 96;
constexpr diagnose::Region everywhere {0, leftoverRows, 0, leftoverCols};
constexpr diagnose::Region place {16, 48, 32, 48};

std::vector<double> leftoverNoise(unsigned seed)
{
    return test::gaussian(leftoverRows * leftoverCols, seed, 0.1);
}

std::size_t indexAt(std::int64_t row, std::int64_t col)
{
    return static_cast<std::size_t>(row * leftoverCols + col);
}

/// Nothing of the output is what the replay gives.
class ExactLeftoversTest : public testing::Test
{
protected:
    ExactLeftoversTest()
    {
        element.shape = {1, leftoverRows, leftoverCols};
        element.input = leftoverNoise(1);
        element.output = leftoverNoise(2);
        element.outputType = DType::bfloat16;
    }

    template <class Value>
    static void fill(Values& values, Value value)
    {
        for (auto row = place.rowBegin; row < place.rowEnd; ++row) {
            for (auto col = place.colBegin; col < place.colEnd; ++col) {
                values.set(indexAt(row, col), value(row, col));
            }
        }
    }

    diagnose::Element element;
    Values replay = leftoverNoise(3);
};

} // namespace

TEST_F(ExactLeftoversTest, NoiseAloneHoldsNone)
{
    EXPECT_EQ(diagnose::findExactLeftovers(element, replay, everywhere).leftover, Leftover::none);
}

TEST_F(ExactLeftoversTest, ZerosThatNoReplayHas)
{
    const auto zero = [](auto, auto) { return 0.0; };
    fill(element.output, zero);
    const auto found = diagnose::findExactLeftovers(element, replay, everywhere);
    EXPECT_EQ(found.leftover, Leftover::zeros);
    EXPECT_EQ(found.region.rowBegin, place.rowBegin);
    EXPECT_EQ(found.region.rowEnd, place.rowEnd);
    EXPECT_EQ(found.region.colBegin, place.colBegin);
    EXPECT_EQ(found.region.colEnd, place.colEnd);
    fill(replay, zero);
    EXPECT_EQ(diagnose::findExactLeftovers(element, replay, everywhere).leftover, Leftover::none)
        << "the function gives zeros there";
}

TEST_F(ExactLeftoversTest, TheInputWhereItWasNeverWritten)
{
    fill(element.output, [this](auto row, auto col) { return element.input[indexAt(row, col)]; });
    const auto found = diagnose::findExactLeftovers(element, replay, everywhere);
    EXPECT_EQ(found.leftover, Leftover::input);
    EXPECT_EQ(found.region.rowBegin, place.rowBegin);
    fill(replay, [this](auto row, auto col) { return element.input[indexAt(row, col)]; });
    EXPECT_EQ(diagnose::findExactLeftovers(element, replay, everywhere).leftover, Leftover::none)
        << "an input that is orthogonal already";
}

TEST_F(ExactLeftoversTest, ATileThatStandsTwice)
{
    fill(element.output, [this](auto row, auto col) { return element.output[indexAt(row - 16, col - 32)]; });
    const auto found = diagnose::findExactLeftovers(element, replay, everywhere);
    EXPECT_EQ(found.leftover, Leftover::elsewhere);
    EXPECT_EQ(found.region.rowBegin, 16);
    EXPECT_EQ(found.region.colBegin, 32);
    EXPECT_EQ(found.otherRow, 0);
    EXPECT_EQ(found.otherCol, 0);
    fill(replay, [this](auto row, auto col) { return replay[indexAt(row - 16, col - 32)]; });
    EXPECT_EQ(diagnose::findExactLeftovers(element, replay, everywhere).leftover, Leftover::none)
        << "rows of the input that are equal";
}

TEST_F(ExactLeftoversTest, OnlyThePartThatIsAskedAboutCounts)
{
    fill(element.output, [](auto, auto) { return 0.0; });
    EXPECT_EQ(diagnose::findExactLeftovers(element, replay, {0, 16, 0, leftoverCols}).leftover, Leftover::none);
    EXPECT_EQ(diagnose::findExactLeftovers(element, replay, {16, 32, 32, 48}).leftover, Leftover::zeros);
}

TEST_F(ExactLeftoversTest, FewValuesRecurByChance)
{
    fill(element.output, [](auto row, auto /*col*/) { return row % 2 == 0 ? 0.25 : 0.5; });
    EXPECT_EQ(diagnose::findExactLeftovers(element, replay, everywhere).leftover, Leftover::none);
}

TEST_F(ExactLeftoversTest, AReplayThatIsNotFiniteTellsNothing)
{
    fill(element.output, [](auto, auto) { return 0.0; });
    replay.set(0, std::nan(""));
    EXPECT_EQ(diagnose::findExactLeftovers(element, replay, everywhere).leftover, Leftover::none);
}

} // namespace nanscope
