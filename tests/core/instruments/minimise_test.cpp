// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>

#include "core/platform/privatefolder.h"
#include "core/replay/engine/replay.h"
#include "core/replay/variants/variant.h"
#include "samples.h"

namespace nanscope {
namespace {

using testing::cellOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MadeTarget;
using testing::waveInputBatch;

/// All NaN for a matrix that holds a number of at least 50.
std::vector<double> brokenByLargeOnes(std::vector<double> values, const MatrixShape& shape)
{
    for (std::int64_t i = 0; i < shape.batch; ++i) {
        const auto matrix = instruments::matrixOf(std::span(values), shape, static_cast<std::size_t>(i));
        if (std::ranges::any_of(matrix, [](double value) { return value >= 50; })) {
            std::ranges::fill(matrix, std::nan(""));
        }
    }
    return values;
}

instruments::InputBatch oneLargeOne(const Shape& shape, std::size_t at)
{
    const auto matrices = matrixShape(shape);
    auto values = testing::waves(matrices.batch * matrices.elements());
    values[at] = 60;
    return instruments::inputBatchOf(instruments::packed(DType::float32, shape, values), 1e-7);
}

Result<instruments::MinimiseAnswer> minimised(instruments::Target& target, const instruments::InputBatch& inputBatch,
    const instruments::MinimiseRequest& request = {})
{
    instruments::Measurement measurement(target, inputBatch, {});
    return instruments::minimise(measurement, request);
}

TEST(Minimise, LeavesTheOneElementThatDoesIt)
{
    const auto inputBatch = oneLargeOne({3, 20, 36}, 720 + 11 * 36 + 7);
    MadeTarget made(brokenByLargeOnes);
    const auto answer = minimised(made, inputBatch);
    ASSERT_TRUE(answer) << sentence(answer.error());
    EXPECT_THAT(answer->batches, ElementsAre(1));
    EXPECT_EQ(answer->symptom, (instruments::Symptom {Outcome::nan, true}));
    EXPECT_EQ(answer->nonZeroAfter, 1);
    EXPECT_LE(answer->after[1] * answer->after[2], 8);
    EXPECT_LT(answer->after[1], answer->after[2]) << "a wide matrix stays one";
    EXPECT_THAT(answer->sentence, HasSubstr("still all NaN"));
    EXPECT_LE(made.calls, 300);
}

TEST(Minimise, AFaultThatComesNowAndThenIsTriedOftenEnough)
{
    const auto inputBatch = oneLargeOne({1, 16, 24}, 7 * 24 + 5);
    int call = 0;
    const auto device = replay::makeEigenDevice(1);
    MadeTarget made([&](std::vector<double> values, const MatrixShape& shape) {
        replay::ReplayOptions options;
        options.precision = Precision::fp32;
        options.keepOutput = true;
        return ++call % 3 == 0
            ? brokenByLargeOnes(std::move(values), shape)
            : replay::replay(*replay::builtInVariant("keller-jordan"), shape, values, *device, options)
                  ->outputs[0]
                  .doubles();
    });
    instruments::MinimiseRequest request;
    request.calls = 3000;
    const auto answer = minimised(made, inputBatch, request);
    ASSERT_TRUE(answer) << sentence(answer.error());
    EXPECT_EQ(answer->nonZeroAfter, 1);
    EXPECT_EQ(answer->tries, 8) << "(2/3)^7 is 5.9 %, (2/3)^8 3.9 %";
    EXPECT_THAT(answer->sentence, HasSubstr("all NaN in one of 8 tries"));
    request.tries = 1;
    EXPECT_FALSE(minimised(made, inputBatch, request)) << "what is asked for is kept to";
}

TEST(Minimise, KeepsTheClassThatChoosesTheKernel)
{
    const auto inputBatch = oneLargeOne({512, 1408}, 400 * 1408 + 1000);
    MadeTarget made(brokenByLargeOnes);
    instruments::MinimiseRequest request;
    request.calls = 40;
    const auto answer = minimised(made, inputBatch, request);
    ASSERT_TRUE(answer) << sentence(answer.error());
    EXPECT_THAT(answer->after, ElementsAre(264, 352));
    EXPECT_TRUE(answer->exhausted);
    EXPECT_EQ(instruments::describe(answer->dispatch),
        "more columns than rows, both sides multiples of 8, no side below 257");
}

TEST(Minimise, ClassesFollowTheRulesOfTheKernels)
{
    EXPECT_TRUE(instruments::dispatchClass(512, 1408, false).has(264, 352));
    EXPECT_FALSE(instruments::dispatchClass(512, 1408, false).has(256, 352));
    EXPECT_FALSE(instruments::dispatchClass(512, 1408, false).has(264, 264));
    EXPECT_FALSE(instruments::dispatchClass(512, 1408, false).has(264, 350));
    EXPECT_FALSE(instruments::dispatchClass(512, 1408, false).has(352, 264));
    EXPECT_TRUE(instruments::dispatchClass(512, 1408, true).has(3, 5));
    EXPECT_TRUE(instruments::dispatchClass(300, 300, false).has(260, 260));
    EXPECT_FALSE(instruments::dispatchClass(300, 300, false).has(260, 300));
}

TEST(Minimise, WithoutASymptomThereIsNothingToKeep)
{
    const auto cell = cellOf("dion-ns5", Precision::bf16);
    const auto answer = minimised(*cell, waveInputBatch({6, 10}));
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().what, HasSubstr("the outcome is finite"));
}

TEST(Minimise, OfAReplayTheOutcomeStays)
{
    const auto cell = cellOf("deepspeed-gram", Precision::fp16);
    const auto inputBatch = waveInputBatch({16, 28}, DType::float32, 5000);
    const auto answer = minimised(*cell, inputBatch);
    ASSERT_TRUE(answer) << sentence(answer.error());
    EXPECT_EQ(answer->symptom.outcome, Outcome::zero);
    instruments::InputBatch small = instruments::inputBatchOf(answer->input, answer->epsilon);
    instruments::Measurement measurement(*cell, small, {});
    EXPECT_EQ(measurement.ask()->worst, Outcome::zero);
    EXPECT_LT(answer->nonZeroAfter, 16 * 28);
}

TEST(Minimise, WritesACaptureButNeverOverTheOriginal)
{
    const auto folder = platform::PrivateFolder::make();
    ASSERT_TRUE(folder);
    const auto original = (folder->path() / "a.pt").string();
    const auto link = (folder->path() / "link.pt").string();
    const auto out = (folder->path() / "small.pt").string();
    instruments::MinimiseAnswer answer;
    answer.input = instruments::packed(DType::bfloat16, {1, 2, 3}, testing::waves(6));
    answer.output = instruments::packed(DType::float32, {1, 2, 3}, testing::waves(6));
    answer.epsilon = 1e-8;
    ASSERT_TRUE(instruments::writeMinimised(answer, original, (folder->path() / "other.pt").string()));
    std::filesystem::create_symlink(original, link);
    EXPECT_THAT(instruments::writeMinimised(answer, link, original).error().what, HasSubstr("never written over"));
    EXPECT_THAT(instruments::writeMinimised(answer, original, original).error().what, HasSubstr("never written over"));
    ASSERT_TRUE(instruments::writeMinimised(answer, out, original));
    const auto read = instruments::openInputBatch(out, std::nullopt);
    ASSERT_TRUE(read) << sentence(read.error());
    EXPECT_EQ(read->epsilon, 1e-8);
    EXPECT_EQ(read->input.bytes, answer.input.bytes);
    EXPECT_EQ(read->input.shape, answer.input.shape);
}

} // namespace
} // namespace nanscope
