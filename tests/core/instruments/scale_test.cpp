// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>

#include "core/instruments/scale.h"
#include "core/replay/program/formats.h"
#include "samples.h"

namespace nanscope {
namespace {

using testing::cellOf;
using testing::MadeTarget;
using testing::waveInputBatch;

instruments::ScaleAnswer edgesOf(instruments::Target& target, const instruments::InputBatch& inputBatch,
    const instruments::ScaleRequest& request = {})
{
    instruments::Measurement measurement(target, inputBatch, {});
    auto answer = instruments::bisectScale(measurement, request);
    EXPECT_TRUE(answer) << sentence(answer.error());
    return answer.value_or(instruments::ScaleAnswer {});
}

const instruments::ScaleEdge* edge(const instruments::ScaleAnswer& answer, Outcome inside, Outcome outside, bool up)
{
    const auto found = std::ranges::find_if(answer.edges,
        [&](const instruments::ScaleEdge& e) { return e.inside == inside && e.outside == outside && e.up == up; });
    return found == answer.edges.end() ? nullptr : &*found;
}

double castNorm(const instruments::InputBatch& inputBatch, double scale)
{
    double sum = 0;
    for (const double value : inputBatch.values) {
        const double rounded = replay::roundTo(Precision::fp16, value * scale);
        sum += rounded * rounded;
    }
    return std::sqrt(sum);
}

class ScaleOfFp16 : public ::testing::TestWithParam<DType>
{ };

// The closed forms: 65520 is where fp16 rounds to infinity, for the norm of the matrix and then for its largest
// element.
TEST_P(ScaleOfFp16, CastFirstIsSilentlyZeroFromItsNormAndNanFromItsLargestElement)
{
    const auto inputBatch = waveInputBatch({12, 20}, GetParam());
    const auto cell = cellOf("dion-ns5", Precision::fp16);
    const auto answer = edgesOf(*cell, inputBatch);
    const auto* zero = edge(answer, Outcome::finite, Outcome::zero, true);
    const auto* nan = edge(answer, Outcome::zero, Outcome::nan, true);
    ASSERT_TRUE(zero != nullptr && nan != nullptr);
    EXPECT_LT(castNorm(inputBatch, zero->lastInside), 65520);
    EXPECT_GE(castNorm(inputBatch, zero->firstOutside), 65520);
    EXPECT_LE(zero->width(), 1.01e-5);
    EXPECT_NEAR(nan->absmax / 65520, 1, 1e-5);
    EXPECT_LT(inputBatch.scans[0].absmax * nan->lastInside, 65520);
    EXPECT_NEAR(nan->headroom(), std::log2(65520 / inputBatch.scans[0].absmax), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(OfDumps, ScaleOfFp16, ::testing::Values(DType::float32, DType::bfloat16, DType::float16));

TEST(Scale, Fp32IsSilentlyZeroWhereItsSquaresOverflow)
{
    const auto inputBatch = waveInputBatch({9, 30});
    const auto cell = cellOf("torch-muon", Precision::fp32);
    const auto answer = edgesOf(*cell, inputBatch);
    const auto* zero = edge(answer, Outcome::finite, Outcome::zero, true);
    ASSERT_NE(zero, nullptr);
    EXPECT_NEAR(zero->frobenius / 1.8446744e19, 1, 1e-5);
    EXPECT_NE(edge(answer, Outcome::finite, Outcome::degenerate, false), nullptr);
}

TEST(Scale, AnEdgeIsNamedAfterTheFormatThatEndsThere)
{
    const auto inputBatch = waveInputBatch({12, 20});
    const auto half = edgesOf(*cellOf("dion-ns5", Precision::fp16), inputBatch);
    EXPECT_EQ(instruments::closedFormOf(*edge(half, Outcome::finite, Outcome::zero, true), 1e-7),
        "the norm rounds to Inf in fp16");
    EXPECT_EQ(instruments::closedFormOf(*edge(half, Outcome::zero, Outcome::nan, true), 1e-7),
        "the largest element rounds to Inf in fp16");
    const auto single = edgesOf(*cellOf("torch-muon", Precision::fp32), inputBatch);
    EXPECT_EQ(instruments::closedFormOf(*edge(single, Outcome::finite, Outcome::zero, true), 1e-7),
        "the square of the norm overflows fp32");
    EXPECT_EQ(instruments::closedFormOf(*edge(single, Outcome::finite, Outcome::degenerate, false), 1e-7), "");
}

TEST(Scale, AnEdgeIsNotNamedAfterAFormatThatEndsNearby)
{
    instruments::ScaleEdge edge;
    edge.lastInside = 2;
    edge.firstOutside = 2 * (1 + 1e-6);
    edge.frobenius = 65520 * 1.003;
    EXPECT_EQ(instruments::closedFormOf(edge, {}), "");
    edge.frobenius = 65520 * 1.0005;
    EXPECT_EQ(instruments::closedFormOf(edge, {}), "the norm rounds to Inf in fp16");
    edge.firstOutside = 2.1;
    EXPECT_EQ(instruments::closedFormOf(edge, {}), "") << "known to no better than 5 %";
    edge.firstOutside = 2 * (1 + 1e-6);
    edge.frobenius = 1;
    edge.absmax = 0x1p-25 * 1e-8;
    EXPECT_EQ(instruments::closedFormOf(edge, 1e-8), "the largest element over epsilon rounds to zero in fp16");
    EXPECT_EQ(instruments::closedFormOf(edge, {}), "");
}

TEST(Scale, AnEdgeWithoutAClosedFormIsFoundWithinItsCalls)
{
    MadeTarget made([](std::vector<double> values, const MatrixShape&) {
        const double largest = *std::ranges::max_element(values);
        std::ranges::fill(values, largest > 12345.678 ? std::nan("") : 0.0);
        return values;
    });
    const auto inputBatch = waveInputBatch({4, 6});
    instruments::Measurement measurement(made, inputBatch, {});
    instruments::ScaleRequest request;
    request.roundedTo = DType::float32;
    const auto answer = instruments::bisectScale(measurement, request);
    ASSERT_TRUE(answer) << sentence(answer.error());
    ASSERT_EQ(answer->edges.size(), 1);
    const auto& found = answer->edges.front();
    const double truth = 12345.678 / *std::ranges::max_element(inputBatch.values);
    EXPECT_GE(found.firstOutside, truth * (1 - 1e-6));
    EXPECT_LE(found.lastInside, truth * (1 + 1e-6));
    EXPECT_LT(found.width(), 2e-3);
    EXPECT_LE(measurement.log().calls, request.coarse + request.perEdge);
}

TEST(Scale, AMatrixOfZerosHasNoScale)
{
    const auto cell = cellOf("torch-muon", Precision::bf16);
    const auto inputBatch =
        instruments::inputBatchOf(instruments::packed(DType::float32, {2, 3}, std::vector<double>(6, 0.0)), 1e-7);
    instruments::Measurement measurement(*cell, inputBatch, {});
    const auto answer = instruments::bisectScale(measurement, {});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().what, "matrix 0 is all zero: there is no scale to change");
}

TEST(Scale, TheFirstSoundMatrixOfABatchIsWatched)
{
    auto values = testing::waves(2 * 12);
    std::fill_n(values.begin(), 12, 0.0);
    const auto inputBatch = instruments::inputBatchOf(instruments::packed(DType::float32, {2, 3, 4}, values), 1e-7);
    const auto cell = cellOf("torch-muon", Precision::bf16);
    EXPECT_EQ(edgesOf(*cell, inputBatch).batch, 1);
}

TEST(Epsilon, OnesThatRoundToZeroInTheFormatAreNamed)
{
    const auto cell = cellOf("dion-ns5", Precision::fp16);
    auto inputBatch = waveInputBatch({6, 10});
    instruments::Measurement measurement(*cell, inputBatch, {});
    const auto request = instruments::epsilonOf(*cell, inputBatch);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->format, Precision::fp16);
    const auto answer = instruments::varyEpsilon(measurement, *request);
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->lines.size(), 8);
    for (const auto& line : answer->lines) {
        const bool vanishes = std::ranges::find(line.zeroIn, Precision::fp16) != line.zeroIn.end();
        EXPECT_EQ(vanishes, line.epsilon < 2.98e-8) << line.epsilon;
        EXPECT_EQ(line.own, line.epsilon == 1e-7);
    }
    EXPECT_EQ(answer->lines[5].change, 0.0);
}

TEST(Epsilon, ATinyInputIsDividedByEpsilonAloneOrByZero)
{
    const auto cell = cellOf("torch-muon", Precision::fp32);
    const auto inputBatch = waveInputBatch({6, 10}, DType::float32, 1e-9);
    instruments::Measurement measurement(*cell, inputBatch, {});
    const auto answer = instruments::varyEpsilon(measurement, *instruments::epsilonOf(*cell, inputBatch));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->lines.front().outcome, Outcome::finite);
    EXPECT_EQ(answer->lines.back().outcome, Outcome::degenerate);
    EXPECT_GT(*answer->lines.front().change, 0.1);
}

} // namespace
} // namespace nanscope
