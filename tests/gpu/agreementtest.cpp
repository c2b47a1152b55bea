// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/replay/variants/variant.h"
#include "gpu/gpu.h"
#include "tests/gpu/samples.h"

namespace nanscope {

namespace {

// Two orders of summation of the same program differ by eps per product; the schedule's slope at zero amplifies it.
constexpr double margin = 2;

double slopeAtZero(const replay::Variant& variant)
{
    double slope = 1;
    for (const auto& step : variant.steps) {
        slope *= step[0];
    }
    return slope;
}

std::vector<Values> outputs(replay::Device& device, const replay::Variant& variant, const MatrixShape& shape,
    Precision precision, Lowering lowering)
{
    replay::ReplayOptions options;
    options.precision = precision;
    options.rounding.lowering = lowering;
    options.keepOutput = true;
    const auto result = replay::replay(variant, shape, test::normalInput(shape, 11), device, options);
    EXPECT_TRUE(result) << (result ? "" : result.error().what);
    return result ? result->outputs : std::vector<Values>();
}

class Agreement : public testing::TestWithParam<Precision>
{ };

TEST_P(Agreement, torchAndEigenDifferByRoundingAlone)
{
    const auto precision = GetParam();
    const auto torch = makeTorchDevice("cpu").value();
    const auto eigen = replay::makeEigenDevice();
    for (const auto& variant : replay::variants()) {
        for (const auto lowering : {Lowering::eager, Lowering::fused}) {
            for (const MatrixShape shape :
                {MatrixShape {2, 48, 80}, MatrixShape {1, 80, 48}, MatrixShape {1, 64, 64}}) {
                const auto ours = outputs(*torch, variant, shape, precision, lowering);
                const auto theirs = outputs(*eigen, variant, shape, precision, lowering);
                EXPECT_LE(test::distance(ours, theirs), margin * epsilonOf(precision) * slopeAtZero(variant))
                    << fmt::format("{} {} {}x{}x{}", variant.name, name(lowering), shape.batch, shape.rows, shape.cols);
            }
        }
    }
}

TEST_P(Agreement, bothFindTheSameFirstNonFinite)
{
    const auto precision = GetParam();
    const MatrixShape shape {1, 40, 24};
    auto input = test::normalInput(shape, 5);
    input[7 * 24 + 3] = std::numeric_limits<double>::infinity();
    replay::ReplayOptions options;
    options.precision = precision;
    for (const auto& variant : replay::variants()) {
        auto torch = makeTorchDevice("cpu").value();
        auto eigen = replay::makeEigenDevice();
        const auto ours = replay::replay(variant, shape, input, *torch, options);
        const auto theirs = replay::replay(variant, shape, input, *eigen, options);
        ASSERT_TRUE(ours && theirs);
        ASSERT_EQ(ours->ops.size(), theirs->ops.size());
        for (std::size_t i = 0; i < ours->ops.size(); ++i) {
            const auto& a = ours->ops[i].batches.front();
            const auto& b = theirs->ops[i].batches.front();
            EXPECT_EQ(a.firstNonFinite, b.firstNonFinite) << variant.name << " " << name(ours->ops[i].op);
            EXPECT_EQ(a.nonFinite(), b.nonFinite()) << variant.name << " " << name(ours->ops[i].op);
        }
        EXPECT_EQ(ours->ops.front().batches.front().firstNonFinite, 7 * 24 + 3) << "in the capture's own orientation";
    }
}

INSTANTIATE_TEST_SUITE_P(Precisions, Agreement, testing::ValuesIn(allPrecisions()), [](const auto& info) {
    std::string word(name(info.param));
    std::erase(word, '-');
    return word;
});

} // namespace

} // namespace nanscope
