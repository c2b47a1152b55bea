// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Spectra whose values are known without a computation, and an input whose overflow is.
#include <cmath>
#include <functional>
#include <span>

#include <gmock/gmock.h>

#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/tensorfile.h"
#include "core/workflow/measures.h"
#include "tests/core/session/temporaryfolder.h"

using namespace nanscope;

namespace {

constexpr std::int64_t rows = 48;
constexpr std::int64_t cols = 80;

class Measured : public testing::Test
{
protected:
    /// Of the matrix with these entries; the output is all NaN.
    report::Measures of(const std::function<double(int, int)>& entry, const CaptureVerdict& verdict = {})
    {
        std::vector<float> input;
        for (int row = 0; row < rows; ++row) {
            for (int col = 0; col < cols; ++col) {
                input.push_back(static_cast<float>(entry(row, col)));
            }
        }
        const auto path = m_folder / "dump.pt";
        EXPECT_TRUE(tensorfile::writePt(path,
            {{"input", tensor("input", input)},
                {"output", tensor("output", std::vector<float>(input.size(), std::nanf("")))}}));
        m_capture = tensorfile::readCapture(path)->capture;
        return workflow::measuresOf(m_capture, verdict, {});
    }

    TemporaryFolder m_folder;
    Capture m_capture;

private:
    static tensorfile::TensorToWrite tensor(const char* name, const std::vector<float>& values)
    {
        const auto bytes = std::as_bytes(std::span(values));
        return {name, DType::float32, {rows, cols}, {bytes.begin(), bytes.end()}};
    }
};

CaptureVerdict failing(const char* variant, const char* precision)
{
    CaptureVerdict verdict;
    verdict.members = {{variant, precision, 8, 0, 8, {}, {}, 0, "cast"}};
    return verdict;
}

double one(int row, int col)
{
    return (1 + row) * std::sin(1 + col);
}

} // namespace

TEST_F(Measured, SpectrumOfADiagonalIsItsEntries)
{
    const auto measures = of([](int row, int col) { return row == col ? 1.0 / (1 + row) : 0.0; });
    double squares = 0;
    for (int row = 1; row <= rows; ++row) {
        squares += 1.0 / (row * row);
    }
    ASSERT_TRUE(measures.sigmaMax && measures.stableRank);
    EXPECT_NEAR(*measures.sigmaMax, 1, 1e-6);
    EXPECT_NEAR(*measures.stableRank, squares, 1e-5);
}

TEST_F(Measured, AnOuterProductHasOneDirection)
{
    const auto measures = of(one);
    double left = 0;
    double right = 0;
    for (int row = 0; row < rows; ++row) {
        left += (1.0 + row) * (1.0 + row);
    }
    for (int col = 0; col < cols; ++col) {
        right += std::sin(1 + col) * std::sin(1 + col);
    }
    ASSERT_TRUE(measures.sigmaMax && measures.stableRank);
    EXPECT_NEAR(*measures.sigmaMax, std::sqrt(left * right), 1e-4 * std::sqrt(left * right));
    EXPECT_NEAR(*measures.stableRank, 1, 1e-5);
}

TEST_F(Measured, DigestIsThatOfTheFile)
{
    const auto measures = of(one);
    EXPECT_EQ(measures.sha256.size(), 64U);
    EXPECT_EQ(measures.sha256, of(one).sha256);
    EXPECT_NE(measures.sha256, of([](int row, int col) { return one(row, col) + 1; }).sha256);
}

TEST_F(Measured, AnInputThatTheCastLosesIsToldByItsLargestValue)
{
    const auto spiked = [](int row, int col) { return row == 5 && col == 7 ? 80384.0 : 0.01 * one(row, col); };
    const auto overflow = of(spiked, failing("deepspeed-gram", "fp16")).overflow;
    ASSERT_TRUE(overflow);
    EXPECT_EQ(overflow->op, OpName::cast);
    EXPECT_EQ(overflow->iteration, 0);
    EXPECT_EQ(overflow->reaches, 80384);
    EXPECT_EQ(overflow->variant, "deepspeed-gram");
    EXPECT_EQ(overflow->precision, Precision::fp16);
    EXPECT_FALSE(of(spiked, failing("deepspeed-gram", "bf16")).overflow) << "bf16 holds it";
    EXPECT_FALSE(of(spiked, failing("nobody's", "fp16")).overflow);
    auto finite = failing("deepspeed-gram", "fp16");
    finite.members[0].finite = 8;
    EXPECT_FALSE(of(spiked, finite).overflow) << "nothing failed";
}

TEST_F(Measured, WhatOnlyRoundingTakesOutOfTheFormatIsHeldAgainstFp64)
{
    const auto overflow = of(one, failing("gram-no-restart", "fp16")).overflow;
    ASSERT_TRUE(overflow && overflow->exact);
    EXPECT_EQ(overflow->op, OpName::q);
    EXPECT_LE(overflow->reaches, 65504);
    EXPECT_GE(overflow->reaches, 65504 / 4);
    // Beside the one direction of the input Q is the product of the first coefficients, some thousand at most.
    EXPECT_LT(*overflow->exact, 5000);
    EXPECT_GT(*overflow->exact, 100);
}

TEST_F(Measured, WhatIsNotFiniteOrZeroHasNoSpectrum)
{
    EXPECT_FALSE(of([](int, int) { return 0.0; }).sigmaMax);
    EXPECT_FALSE(of([](int row, int) { return row == 3 ? NAN : 1.0; }).sigmaMax);
}

TEST_F(Measured, NothingIsSaidOfAFileThatIsGoneOrAnother)
{
    of(one);
    auto gone = m_capture;
    gone.path = m_folder / "gone.pt";
    EXPECT_EQ(workflow::measuresOf(gone, {}, {}).sha256, "");
    auto another = m_capture;
    another.identity = "zip-0";
    EXPECT_EQ(workflow::measuresOf(another, {}, {}).sha256, "");
}
