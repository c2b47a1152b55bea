// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// The ends of every format, from its definition: largest, smallest normal, subnormals, ties and signs.
#include <cfloat>
#include <cmath>

#include <gtest/gtest.h>

#include "core/replay/program/formats.h"

namespace nanscope {
namespace {

struct EdgeFormat
{
    Precision precision;
    int mantissaBits; ///< stored ones
    int largestExponent;
    int smallestExponent; ///< of a normal number
};

constexpr EdgeFormat formats[] = {{Precision::fp32, 23, 127, -126}, {Precision::tf32, 10, 127, -126},
    {Precision::bf16, 7, 127, -126}, {Precision::fp16, 10, 15, -14}};

double ulpAt(const EdgeFormat& format, int exponent)
{
    return std::ldexp(1.0, exponent - format.mantissaBits);
}

double largestOf(const EdgeFormat& format)
{
    return std::ldexp(2.0, format.largestExponent) - ulpAt(format, format.largestExponent);
}

class Edges : public testing::TestWithParam<EdgeFormat>
{
protected:
    double rounded(double value) const { return replay::roundTo(GetParam().precision, value); }
};

TEST_P(Edges, TheLargestNumberStaysAndHalfAnUlpAboveItOverflows)
{
    const double top = largestOf(GetParam());
    const double half = ulpAt(GetParam(), GetParam().largestExponent) / 2;
    for (const double sign : {1.0, -1.0}) {
        EXPECT_EQ(rounded(sign * top), sign * top);
        EXPECT_EQ(rounded(sign * (top + half)), sign * INFINITY) << "the tie goes to the even neighbour, which is inf";
        EXPECT_EQ(rounded(sign * std::nextafter(top + half, 0)), sign * top);
        EXPECT_EQ(rounded(sign * DBL_MAX), sign * INFINITY);
        EXPECT_EQ(rounded(sign * INFINITY), sign * INFINITY);
    }
    // Results of a tf32 product are fp32 numbers, so that is where a replay in tf32 overflows.
    const auto compute = GetParam().precision == Precision::tf32 ? FLT_MAX : top;
    EXPECT_EQ(largestFinite(GetParam().precision), compute);
}

TEST_P(Edges, TiesGoToTheEvenNeighbour)
{
    const double ulp = ulpAt(GetParam(), 0);
    EXPECT_EQ(rounded(1 + ulp / 2), 1);
    EXPECT_EQ(rounded(1 + 3 * ulp / 2), 1 + 2 * ulp);
    EXPECT_EQ(rounded(-1 - 3 * ulp / 2), -1 - 2 * ulp);
    EXPECT_EQ(rounded(std::nextafter(1 + ulp / 2, 2)), 1 + ulp);
    EXPECT_EQ(rounded(std::nextafter(1 + 3 * ulp / 2, 0)), 1 + ulp);
    EXPECT_EQ(epsilonOf(GetParam().precision), ulp);
}

TEST_P(Edges, ARoundingThatCarriesReachesTheNextBinade)
{
    const double ulp = ulpAt(GetParam(), 0);
    EXPECT_EQ(rounded(2 - ulp / 2), 2);
    EXPECT_EQ(rounded(std::nextafter(2 - ulp / 2, 0)), 2 - ulp);
}

TEST_P(Edges, SubnormalsAreKeptAndHalfTheSmallestIsZero)
{
    const double least = ulpAt(GetParam(), GetParam().smallestExponent);
    for (const double sign : {1.0, -1.0}) {
        EXPECT_EQ(rounded(sign * least), sign * least);
        EXPECT_EQ(rounded(sign * 5 * least), sign * 5 * least);
        EXPECT_EQ(rounded(sign * std::nextafter(least / 2, 1)), sign * least);
        EXPECT_EQ(rounded(sign * least * 1.5), sign * 2 * least);
        EXPECT_EQ(rounded(sign * least * 2.5), sign * 2 * least);
        const double zero = rounded(sign * least / 2);
        EXPECT_EQ(zero, 0);
        EXPECT_EQ(std::signbit(zero), sign < 0) << "minus nothing is still minus";
        EXPECT_EQ(std::signbit(rounded(sign * DBL_TRUE_MIN)), sign < 0);
    }
}

TEST_P(Edges, TheLastSubnormalRoundsUpToTheFirstNormal)
{
    const double normal = std::ldexp(1.0, GetParam().smallestExponent);
    const double least = ulpAt(GetParam(), GetParam().smallestExponent);
    EXPECT_EQ(rounded(normal - least / 2), normal);
    EXPECT_EQ(rounded(normal - least), normal - least);
}

TEST_P(Edges, OneUlpUpwardsIsTheNextNumber)
{
    const auto& format = GetParam();
    const auto stepped = [&](double value, int ulps) { return replay::stepUlps(format.precision, value, ulps); };
    for (const int exponent : {0, 3, format.smallestExponent, format.largestExponent}) {
        const double value = std::ldexp(1.5, exponent);
        EXPECT_EQ(stepped(value, 1), value + ulpAt(format, exponent));
        EXPECT_EQ(stepped(value, -2), value - 2 * ulpAt(format, exponent));
        EXPECT_EQ(stepped(-value, 1), -value + ulpAt(format, exponent)) << "upwards is towards +infinity";
    }
    const double least = ulpAt(format, format.smallestExponent);
    EXPECT_EQ(stepped(least, 1), 2 * least);
    EXPECT_EQ(stepped(least, -1), 0);
    EXPECT_EQ(stepped(largestOf(format), 1), INFINITY);
    EXPECT_TRUE(std::isnan(stepped(NAN, 1)));
    EXPECT_EQ(stepped(1.5, 0), 1.5);
}

INSTANTIATE_TEST_SUITE_P(Formats, Edges, testing::ValuesIn(formats),
    [](const auto& info) { return std::string(name(info.param.precision)); });

TEST(RoundTo, LeavesDoublesAloneInFp64)
{
    for (const double value : {DBL_MAX, DBL_TRUE_MIN, 1 + 0x1p-52, -0.0}) {
        EXPECT_EQ(replay::roundTo(Precision::fp64, value), value);
    }
    EXPECT_EQ(replay::stepUlps(Precision::fp64, 1.0, 1), 1 + 0x1p-52);
    EXPECT_EQ(replay::stepUlps(Precision::fp64, DBL_TRUE_MIN, 1), 2 * DBL_TRUE_MIN);
}

TEST(RoundTo, RoundsDoublesOnceEvenNextToATieOfFp32)
{
    // Just above a tie of fp16 by less than half an ulp of fp32: rounding twice would fall to the even side.
    for (int exponent = -24; exponent < 15; ++exponent) {
        const double ulp = std::ldexp(1.0, std::max(exponent, -14) - 10);
        const double low = std::ldexp(1.0, exponent);
        const double tie = low + ulp / 2;
        EXPECT_EQ(replay::roundTo(Precision::fp16, tie + tie * 0x1p-40), low + ulp) << exponent;
        EXPECT_EQ(replay::roundTo(Precision::fp16, tie - tie * 0x1p-40), low) << exponent;
    }
}

} // namespace
} // namespace nanscope
