// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include "gpu/torchops.h"

namespace nanscope {

namespace {

// The value of a 16-bit pattern, from the definition of the format.
double valueOf(std::uint32_t pattern, int exponentBits)
{
    const int mantissaBits = 15 - exponentBits;
    const int bias = (1 << (exponentBits - 1)) - 1;
    const auto mantissa = static_cast<double>(pattern & ((1U << mantissaBits) - 1U));
    const int exponent = static_cast<int>((pattern >> mantissaBits) & ((1U << exponentBits) - 1U));
    const double sign = (pattern & 0x8000U) != 0 ? -1 : 1;
    if (exponent == (1 << exponentBits) - 1) {
        return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
    }
    if (exponent == 0) {
        return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
    }
    return sign * std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
}

std::vector<float> rounded(std::vector<float> values, Precision format)
{
    auto tensor = at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())});
    at::Tensor scratch;
    roundInPlace(tensor, format, scratch);
    return values;
}

struct SixteenBitFormat
{
    Precision precision;
    int exponentBits;
};

class SixteenBits : public testing::TestWithParam<SixteenBitFormat>
{ };

TEST_P(SixteenBits, everyPatternIsKept)
{
    const auto [precision, exponentBits] = GetParam();
    std::vector<float> values;
    for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
        values.push_back(static_cast<float>(valueOf(pattern, exponentBits)));
    }
    const auto result = rounded(values, precision);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) {
            ASSERT_TRUE(std::isnan(result[i])) << i;
        } else {
            ASSERT_EQ(std::bit_cast<std::uint32_t>(result[i]), std::bit_cast<std::uint32_t>(values[i])) << i;
        }
    }
}

TEST_P(SixteenBits, midpointsGoToEvenAndTheirNeighboursToTheNearest)
{
    const auto [precision, exponentBits] = GetParam();
    const std::uint32_t infinity = ((1U << exponentBits) - 1U) << (15 - exponentBits);
    std::vector<float> values;
    std::vector<double> expected;
    for (std::uint32_t pattern = 0; pattern < infinity; ++pattern) {
        const double low = valueOf(pattern, exponentBits);
        const double high = valueOf(pattern + 1, exponentBits);
        // Beyond the largest number the next one would lie as far away as the last did.
        const double step = std::isinf(high) ? low - valueOf(pattern - 1, exponentBits) : high - low;
        const auto middle = static_cast<float>(low + step / 2);
        ASSERT_EQ(static_cast<double>(middle), low + step / 2);
        values.insert(values.end(),
            {std::nextafter(middle, 0.0F), middle, std::nextafter(middle, std::numeric_limits<float>::infinity())});
        expected.insert(expected.end(), {low, pattern % 2 == 0 ? low : high, high});
    }
    const auto result = rounded(values, precision);
    for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(static_cast<double>(result[i]), expected[i]) << values[i];
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, SixteenBits,
    testing::Values(SixteenBitFormat {Precision::bf16, 8}, SixteenBitFormat {Precision::fp16, 5}),
    [](const auto& info) { return std::string(name(info.param.precision)); });

TEST(Tf32, keepsTenBitsOfMantissaAndTiesToEven)
{
    std::vector<float> values {1.0F, 1.0F + 0x1p-11F, 1.0F + 0x3p-11F, 1.0F + 0x1.002p-11F, -1.0F - 0x1.8p-11F,
        0x1p-140F, std::numeric_limits<float>::infinity()};
    const auto tensor = at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())});
    at::Tensor out;
    roundToTf32(tensor, out);
    const std::vector<float> expected {
        1.0F, 1.0F, 1.0F + 0x2p-10F, 1.0F + 0x1p-10F, -1.0F - 0x1p-10F, 0.0F, std::numeric_limits<float>::infinity()};
    const auto* result = out.const_data_ptr<float>();
    EXPECT_EQ(std::vector<float>(result, result + out.numel()), expected);
    EXPECT_EQ(values[3], 1.0F + 0x1.002p-11F) << "the operand itself is left alone";
}

TEST(Ulps, moveByRepresentableNumbersOfTheFormat)
{
    const auto moved = [](float value, Precision format, int ulps) {
        return moveUlps(at::from_blob(&value, {1}), format, ulps).item<float>();
    };
    EXPECT_EQ(moved(1.5F, Precision::fp32, 1), std::nextafter(1.5F, 2.0F));
    EXPECT_EQ(moved(1.5F, Precision::fp32, -2), 1.5F - 0x2p-23F);
    EXPECT_EQ(moved(1.5F, Precision::bf16, 1), 1.5F + 0x1p-7F);
    EXPECT_EQ(moved(1.5F, Precision::fp16, -1), 1.5F - 0x1p-10F);
    EXPECT_EQ(moved(0.0F, Precision::fp16, 1), 0.0F);
    EXPECT_EQ(
        moved(std::numeric_limits<float>::infinity(), Precision::bf16, -1), std::numeric_limits<float>::infinity());
}

} // namespace

} // namespace nanscope
