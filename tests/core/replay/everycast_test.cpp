// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "core/replay/program/formats.h"

namespace nanscope {
namespace {

struct CastFormat
{
    Precision precision;
    int mantissaBits;
    int smallestExponent;
};

// Rounding by exact scaling in fp64: dividing by a power of two loses nothing, and nearbyint rounds ties to even.
double roundedByScaling(double value, const CastFormat& format)
{
    if (value == 0 || !std::isfinite(value)) {
        return value;
    }
    const int exponent = std::max(std::ilogb(value), format.smallestExponent);
    const double quantum = std::ldexp(1.0, exponent - format.mantissaBits);
    const double rounded = std::nearbyint(value / quantum) * quantum;
    return std::abs(rounded) > largestFinite(format.precision) ? std::copysign(INFINITY, value) : rounded;
}

class EveryCast : public testing::TestWithParam<CastFormat>
{ };

TEST_P(EveryCast, RoundsAllFloatsAsExactScalingDoes)
{
    if (std::getenv("NANSCOPE_SLOW") == nullptr) {
        GTEST_SKIP() << "takes minutes; set NANSCOPE_SLOW=1 to run it";
    }
    constexpr std::uint64_t block = 1U << 16;
    std::vector<float> values(block);
    for (std::uint64_t begin = 0; begin < (std::uint64_t {1} << 32); begin += block) {
        for (std::uint64_t i = 0; i < block; ++i) {
            values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(begin + i));
        }
        replay::roundTo(GetParam().precision, values);
        for (std::uint64_t i = 0; i < block; ++i) {
            const auto input = std::bit_cast<float>(static_cast<std::uint32_t>(begin + i));
            if (std::isnan(input)) {
                ASSERT_TRUE(std::isnan(values[i])) << begin + i;
                continue;
            }
            const auto expected = roundedByScaling(static_cast<double>(input), GetParam());
            ASSERT_EQ(static_cast<double>(values[i]), expected) << begin + i;
            ASSERT_EQ(std::signbit(values[i]), std::signbit(input)) << begin + i;
        }
    }
}

// tf32 keeps fp32's range: what rounds past its own largest number is infinity, as the hardware gives it.
INSTANTIATE_TEST_SUITE_P(Formats, EveryCast,
    testing::Values(CastFormat {Precision::bf16, 7, -126}, CastFormat {Precision::fp16, 10, -14},
        CastFormat {Precision::tf32, 10, -126}),
    [](const auto& info) { return std::string(name(info.param.precision)); });

} // namespace
} // namespace nanscope
