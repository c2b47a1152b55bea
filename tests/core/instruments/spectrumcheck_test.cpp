// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>

#include "core/instruments/measure.h"
#include "core/instruments/spectrumcheck.h"
#include "samples.h"

namespace nanscope {
namespace {

using testing::cellOf;
using ::testing::HasSubstr;
using testing::MadeTarget;
using testing::waveInputBatch;

instruments::SpectrumAnswer checked(
    instruments::Target& target, instruments::CellTarget* reference, const instruments::InputBatch& inputBatch)
{
    instruments::Measurement measurement(target, inputBatch, {});
    auto answer = instruments::checkSpectrum(measurement, reference);
    EXPECT_TRUE(answer) << sentence(answer.error());
    return answer.value_or(instruments::SpectrumAnswer {});
}

std::ptrdiff_t flagged(const instruments::SpectrumStage& stage)
{
    return std::ranges::count_if(stage.lines, &instruments::SpectrumLine::flagged);
}

MadeTarget replayOf(
    instruments::CellTarget& cell, const std::function<void(std::vector<double>&, const MatrixShape&)>& spoil)
{
    return MadeTarget([&cell, spoil](const std::vector<double>& values, const MatrixShape& shape) {
        const auto input = instruments::packed(DType::float64, {shape.rows, shape.cols}, values);
        auto output = instruments::valuesOf(*cell.call({input, 1e-7}, {})->output);
        spoil(output, shape);
        return output;
    });
}

TEST(Singular, TripletsOfADiagonalAreItsElements)
{
    std::vector<double> matrix(3 * 5, 0.0);
    matrix[0] = 2;
    matrix[6] = 5e-30;
    matrix[12] = -7;
    const auto triplets = instruments::singularTriplets(matrix, 3, 5, 1024);
    ASSERT_EQ(triplets.sigma.size(), 3);
    EXPECT_DOUBLE_EQ(triplets.sigma[0], 7);
    EXPECT_DOUBLE_EQ(triplets.sigma[1], 2);
    const auto back = instruments::along(triplets, matrix);
    EXPECT_NEAR(back[0], 7, 1e-12);
    EXPECT_NEAR(back[1], 2, 1e-12);
}

TEST(Spectrum, InFp64EveryIterateIsThePolynomialOfEachSingularValue)
{
    const auto inputBatch = waveInputBatch({12, 30});
    for (const auto* variant : {"keller-jordan", "dion-polar-express", "gns-gram"}) {
        const auto cell = cellOf(variant, Precision::fp64);
        const auto answer = checked(*cell, cell.get(), inputBatch);
        ASSERT_EQ(answer.stages.size(), 5) << variant;
        for (const auto& stage : answer.stages) {
            for (const auto& line : stage.lines) {
                EXPECT_NEAR(line.found, *line.expected, 1e-7) << variant << " step " << stage.step;
            }
            EXPECT_EQ(flagged(stage), 0) << variant << " step " << stage.step;
        }
        EXPECT_TRUE(answer.exact);
    }
}

TEST(Spectrum, RoundingAloneIsNotFlagged)
{
    const auto inputBatch = waveInputBatch({12, 30});
    for (const auto precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
        const auto cell = cellOf("dion-ns5", precision);
        const auto answer = checked(*cell, cell.get(), inputBatch);
        for (const auto& stage : answer.stages) {
            EXPECT_EQ(flagged(stage), 0) << name(precision) << " step " << stage.step;
        }
    }
}

TEST(Spectrum, AFunctionThatLosesATileIsFlaggedAndAGoodOneIsNot)
{
    const auto inputBatch = waveInputBatch({24, 40});
    const auto cell = cellOf("dion-ns5", Precision::bf16);
    auto good = replayOf(*cell, [](auto&, auto&) {});
    const auto fine = checked(good, cell.get(), inputBatch);
    ASSERT_EQ(fine.stages.size(), 1);
    EXPECT_EQ(flagged(fine.stages[0]), 0);
    EXPECT_THAT(fine.sentence, HasSubstr("as far as rounding allows"));

    auto bad = replayOf(*cell, [](std::vector<double>& values, const MatrixShape& shape) {
        for (std::int64_t row = 0; row < 8; ++row) {
            std::fill_n(values.begin() + row * shape.cols, 8, 0.0);
        }
    });
    const auto lost = checked(bad, cell.get(), inputBatch);
    EXPECT_GT(flagged(lost.stages[0]), 3);
    EXPECT_THAT(lost.sentence, HasSubstr("something else than dion-ns5 makes of them"));
}

TEST(Spectrum, WithoutAVariantNothingIsExpected)
{
    const auto inputBatch = waveInputBatch({6, 10});
    MadeTarget made([](std::vector<double> values, const MatrixShape&) { return values; });
    const auto answer = checked(made, nullptr, inputBatch);
    ASSERT_EQ(answer.stages.size(), 1);
    EXPECT_EQ(answer.stages[0].lines[0].expected, std::nullopt);
    EXPECT_NEAR(answer.stages[0].lines[0].found, answer.stages[0].lines[0].sigma, 1e-9);
    EXPECT_THAT(answer.sentence, HasSubstr("nobody said which variant"));
    instruments::Measurement measurement(made, inputBatch, {});
    const auto text = instruments::measureText(instruments::Instrument::spectrum, measurement, answer);
    EXPECT_THAT(text, HasSubstr("  output:\n"));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("step 0")));
}

} // namespace
} // namespace nanscope
