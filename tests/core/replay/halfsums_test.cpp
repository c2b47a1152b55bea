// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/replay/device/halfsums.h"
#include "core/replay/engine/replay.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope {
namespace {

constexpr float infiniteFloat = std::numeric_limits<float>::infinity();

using Floats = std::vector<float>;

struct Sizes
{
    std::int64_t rows = 0;
    std::int64_t inner = 0;
    std::int64_t cols = 0;
};

float dotInHalfSums(const Floats& a, const Floats& b)
{
    float out = NAN;
    replay::multiplyInHalfSums({{a.data(), b.data(), &out, 1, 1, static_cast<std::int64_t>(a.size())}}, 1);
    return out;
}

Floats flipped(const Floats& matrix, std::int64_t rows, std::int64_t cols)
{
    Floats out(matrix.size());
    for (std::int64_t i = 0; i < rows * cols; ++i) {
        out[static_cast<std::size_t>(i % cols * rows + i / cols)] = matrix[static_cast<std::size_t>(i)];
    }
    return out;
}

void expectSameNumbers(const Floats& actual, const Floats& expected)
{
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (std::isnan(expected[i])) {
            ASSERT_TRUE(std::isnan(actual[i])) << i;
        } else {
            ASSERT_EQ(actual[i], expected[i]) << i;
            ASSERT_EQ(std::signbit(actual[i]), std::signbit(expected[i])) << i;
        }
    }
}

/// One file of tests/reference/data/halfsums, which torch made.
class HalfSums : public testing::TestWithParam<const char*>
{
protected:
    void SetUp() override
    {
        auto file = tensorfile::openTensorFile(NANSCOPE_TEST_DATA "/halfsums/" + std::string(GetParam()) + ".pt");
        ASSERT_TRUE(file) << sentence(file.error());
        m_root = file->root;
    }

    Floats read(const char* key) const
    {
        const auto& tensor = *m_root.find(key)->tensor();
        std::vector<double> values(static_cast<std::size_t>(tensor.matrices().elements()));
        EXPECT_TRUE(tensor.read(0, std::span(values))) << key;
        return {values.begin(), values.end()};
    }

    double number(const char* key) const { return std::get<double>(m_root.find(key)->value); }

    tensorfile::PickleValue m_root;
    Sizes m_sizes {19, 37, 70};
};

} // namespace

TEST_P(HalfSums, HaveTheBitsOfAnIndependentLoop)
{
    const auto a = read("a");
    const auto b = read("b");
    const auto c = read("c");
    const auto [rows, inner, cols] = m_sizes;
    const auto aFlipped = flipped(a, rows, inner);
    const auto bFlipped = flipped(b, inner, cols);
    for (const int threads : {1, 3}) {
        for (const bool flipA : {false, true}) {
            for (const bool flipB : {false, true}) {
                Floats out(static_cast<std::size_t>(rows * cols), -1);
                const replay::GemmShape<float> shape {(flipA ? aFlipped : a).data(), (flipB ? bFlipped : b).data(),
                    out.data(), rows, cols, inner, flipA, flipB};
                replay::multiplyInHalfSums({shape}, threads);
                expectSameNumbers(out, read("product"));
                replay::multiplyInHalfSums({shape, number("alpha"), number("beta"), c.data()}, threads);
                expectSameNumbers(out, read("sum"));
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, HalfSums, testing::Values("ordinary", "overflowing", "subnormal"));

TEST(HalfSum, OverflowsOnTheWayToAResultThatFits)
{
    Floats a(32, 64);
    Floats b(32, 64);
    std::fill(b.begin() + 16, b.end(), -64.0F);
    EXPECT_EQ(dotInHalfSums(a, b), infiniteFloat) << "16 x 4096 is 65,536, and what follows takes no infinity back";
    std::fill(b.begin() + 15, b.end(), -63.0F);
    EXPECT_EQ(dotInHalfSums(a, b), 15 * 4096 - 17 * 4032) << "61,440 and then less";
    const Floats one(16, 64);
    Floats mixed(one);
    mixed[15] = -64;
    EXPECT_EQ(dotInHalfSums(one, mixed), 14 * 4096) << "what one instruction adds is wider than fp16";
}

TEST(HalfSum, SwallowsWhatIsBelowHalfAStepOfTheSum)
{
    // 4,096 first, then 64 times 16 products that add up to 1, where numbers of fp16 lie 4 apart: exactly 4,160.
    Floats a(16 * 65, 0.25F);
    Floats b(a);
    std::fill_n(a.begin(), 16, 16.0F);
    std::fill_n(b.begin(), 16, 16.0F);
    EXPECT_EQ(dotInHalfSums(a, b), 4096);
    const Floats small(a.begin() + 16, a.end());
    EXPECT_EQ(dotInHalfSums(small, small), 64) << "nothing is lost where all are alike";
}

TEST(HalfSum, RoundsTheFactorsAsTheGpuIsGivenThem)
{
    // 1 + 2^-11 is a tie that goes to 1; three times that would be rounded up.
    const float one = 1;
    const float three = 3;
    float out = NAN;
    replay::multiplyInHalfSums({{&one, &three, &out, 1, 1, 1}, 1 + 0x1p-11}, 1);
    EXPECT_EQ(out, 3);
    replay::multiplyInHalfSums({{&one, &one, &out, 1, 1, 1}, 0, 1 + 0x1p-11, &three}, 1);
    EXPECT_EQ(out, 3);
}

TEST(HalfSum, IsWhatAReplayInItsPrecisionComputes)
{
    // X X^T of one row: its first element gives half of it, and each 16 of the others 1/8,192, a quarter of the step of
    // numbers of fp16 there.
    const MatrixShape shape {1, 1, 65536};
    std::vector<double> input(65536, 0x1p-8);
    input.front() = 1;
    const auto device = replay::makeEigenDevice(1);
    replay::ReplayOptions options;
    const auto largestGram = [&](Precision precision) {
        options.precision = precision;
        const auto replayed = replay::replay(*replay::builtInVariant("keller-jordan"), shape, input, *device, options);
        double largest = 0;
        for (const auto& op : replayed->ops) {
            largest = op.op == OpName::gram && op.iteration == 1 ? op.batches.front().absmax : largest;
        }
        return largest;
    };
    EXPECT_NEAR(largestGram(Precision::fp16), 1, 2e-3);
    EXPECT_NEAR(largestGram(Precision::fp16Acc16), 0.5, 1e-3);
    EXPECT_FALSE(device->native(Precision::fp16Acc16)) << "no CPU sums so: it is emulated, and says so";
}

} // namespace nanscope
