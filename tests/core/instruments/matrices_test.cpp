// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gmock/gmock.h>

#include "core/instruments/minimise.h"
#include "samples.h"

namespace nanscope {
namespace {

using ::testing::ElementsAre;

std::vector<double> through(DType dtype, const std::vector<double>& values)
{
    return instruments::valuesOf(instruments::packed(dtype, {static_cast<std::int64_t>(values.size())}, values));
}

TEST(PackedMatrices, EveryHalfComesBackAsItself)
{
    std::vector<double> all;
    for (int exponent = -24; exponent < 16; ++exponent) {
        for (int mantissa = 0; mantissa < 1024; mantissa += exponent < -14 ? 1024 : 1) {
            all.push_back(std::ldexp(1 + mantissa / 1024.0, exponent));
            all.push_back(-all.back());
        }
    }
    EXPECT_EQ(through(DType::float16, all), all);
}

TEST(PackedMatrices, RoundToNearestAndOverflowAsTheFormatDoes)
{
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_THAT(through(DType::float16, {65519.9, 65520, -70000, 0x1p-25, 0x1.8p-25, 1 + 0x1p-11}),
        ElementsAre(65504, infinity, -infinity, 0, 0x1p-24, 1));
    EXPECT_THAT(
        through(DType::bfloat16, {1 + 0x1p-8, 1 + 0x1.8p-8, 3.4e38, 1e-45}), ElementsAre(1, 1 + 0x1p-7, infinity, 0));
    EXPECT_TRUE(std::isnan(through(DType::float16, {std::nan("")})[0]));
    EXPECT_TRUE(std::isnan(through(DType::bfloat16, {std::nan("")})[0]));
}

TEST(PackedMatrices, HashesTellTypeShapeAndEveryBit)
{
    const auto values = testing::waves(12);
    const auto one = instruments::packed(DType::float32, {3, 4}, values);
    auto other = one;
    EXPECT_EQ(instruments::hashOf(one), instruments::hashOf(other));
    other.bytes.back() ^= std::byte {1};
    EXPECT_NE(instruments::hashOf(one), instruments::hashOf(other));
    EXPECT_NE(instruments::hashOf(one), instruments::hashOf(instruments::packed(DType::float32, {4, 3}, values)));
}

TEST(Reduction, CutsTheSameRectangleOutOfChosenMatrices)
{
    std::vector<double> values(2 * 3 * 4);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<double>(i);
    }
    const auto whole = instruments::packed(DType::float32, {2, 3, 4}, values);
    const auto part = instruments::cutOut(whole, {{1}, 1, 2, 2, 2});
    EXPECT_THAT(part.shape, ElementsAre(1, 2, 2));
    EXPECT_THAT(instruments::valuesOf(part), ElementsAre(18, 19, 22, 23));
    EXPECT_EQ(instruments::nonZeroIn(instruments::withZeros(whole, 0, 2, 0, 4)), 2 * 4);
}

} // namespace
} // namespace nanscope
