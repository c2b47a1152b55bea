// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/smaller.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "core/replay/variants/variant.h"

using testing::ElementsAre;
using testing::HasSubstr;

namespace nanscope {

namespace {

constexpr std::int64_t rows = 16;
constexpr std::int64_t cols = 24;

reproduce::SuspectedRun run(const std::string& name)
{
    const auto* variant = replay::builtInVariant(name);
    return {variant, variant->precision};
}

/// Small entries and one beyond fp16 in the last row of the last matrix; what came of that one is all NaN.
reproduce::ReducedCapture overflowing(std::int64_t count)
{
    reproduce::ReducedCapture capture;
    capture.captured = count;
    capture.shape = {count, rows, cols};
    std::vector<float> values(static_cast<std::size_t>(count * rows * cols));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::sin(static_cast<float>(i));
    }
    values.back() = 1e5F;
    const auto bytes = std::as_bytes(std::span(values));
    capture.input = {"input", DType::float32, {count, rows, cols}, {bytes.begin(), bytes.end()}};
    capture.inputValues.assign(values.begin(), values.end());
    capture.outputValues = capture.inputValues;
    std::fill(
        capture.outputValues.end() - rows * cols, capture.outputValues.end(), std::numeric_limits<double>::quiet_NaN());
    for (std::int64_t i = 0; i < count; ++i) {
        capture.elements.push_back(10 + i);
    }
    return capture;
}

} // namespace

TEST(Smaller, LeavesTheOneEntryThatDoesIt)
{
    const auto whole = overflowing(1);
    const std::vector<reproduce::SuspectedRun> runs {run("gns-gram"), run("deepspeed-gram")};
    const auto numbers = *reproduce::expectedNumbers(runs, whole, {});
    std::vector<std::string> phases;
    JobContext job;
    job.progress = [&phases](const Progress& update) { phases.push_back(update.phase); };
    const auto smaller = reproduce::smallerCapture(whole, numbers, job);
    ASSERT_TRUE(smaller) << smaller.error().what;
    EXPECT_THAT(smaller->capture.input.shape, ElementsAre(1, 8, 24)) << "wide, and both multiples of 8";
    EXPECT_EQ(smaller->nonZero, 1);
    EXPECT_EQ(*std::max_element(smaller->capture.inputValues.begin(), smaller->capture.inputValues.end()), 1e5);
    EXPECT_EQ(smaller->leading, "deepspeed-gram in fp16");
    EXPECT_FALSE(smaller->capture.output) << "what was dumped was that of the whole";
    EXPECT_LE(smaller->calls, 200);
    EXPECT_THAT(phases, testing::Contains("smallest capture"));
    const auto after = *reproduce::expectedNumbers(runs, smaller->capture, {});
    ASSERT_EQ(after.size(), numbers.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
        EXPECT_EQ(after[i].outcome, numbers[i].outcome) << i;
        EXPECT_EQ(after[i].firstNonFinite, numbers[i].firstNonFinite) << i;
        EXPECT_EQ(after[i].likeDump, numbers[i].likeDump) << i;
    }
}

TEST(Smaller, OfAStackOnlyTheMatrixThatShowsItIsLeft)
{
    const auto whole = overflowing(3);
    const auto numbers = *reproduce::expectedNumbers({run("deepspeed-gram")}, whole, {});
    const auto smaller = reproduce::smallerCapture(whole, numbers, {});
    ASSERT_TRUE(smaller) << smaller.error().what;
    EXPECT_THAT(smaller->capture.elements, ElementsAre(10, 11, 12)) << "damage in a part is not damage in all of one";
    EXPECT_EQ(smaller->capture.shown->notFinite * 3, smaller->capture.shown->of);

    auto last = whole;
    last.outputValues.assign(whole.outputValues.size(), std::numeric_limits<double>::quiet_NaN());
    last.inputValues.assign(last.inputValues.size(), 1e5);
    const std::vector<float> values(last.inputValues.size(), 1e5F);
    const auto bytes = std::as_bytes(std::span(values));
    last.input.bytes.assign(bytes.begin(), bytes.end());
    const auto one =
        reproduce::smallerCapture(last, *reproduce::expectedNumbers({run("deepspeed-gram")}, last, {}), {});
    ASSERT_TRUE(one) << one.error().what;
    EXPECT_THAT(one->capture.elements, ElementsAre(10));
    EXPECT_EQ(one->capture.shape.batch, 1);
}

TEST(Smaller, WhatNoReplayShowsStaysWhole)
{
    const auto whole = overflowing(1);
    const auto none = reproduce::smallerCapture(whole, *reproduce::expectedNumbers({run("gns-gram")}, whole, {}), {});
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().what, HasSubstr("no replay of it ends like the dump"));
    JobContext job;
    const auto numbers = *reproduce::expectedNumbers({run("deepspeed-gram")}, whole, {});
    job.cancel.cancel();
    EXPECT_EQ(reproduce::smallerCapture(whole, numbers, job).error().kind, ErrorKind::cancelled);
}

TEST(Claim, IsOfAllThatMayHaveRunAndOfSoMuchWork)
{
    const auto whole = overflowing(1);
    const auto numbers = *reproduce::expectedNumbers({run("gns-gram"), run("deepspeed-gram")}, whole, {});
    const instruments::Matrices all {DType::float32, whole.input.shape, {}, whole.input.bytes};
    auto harmless = all;
    std::fill(harmless.bytes.end() - sizeof(float), harmless.bytes.end(), std::byte {0});
    auto infinite = all;
    std::fill(infinite.bytes.begin(), infinite.bytes.begin() + 2, std::byte {0x80});
    std::fill(infinite.bytes.begin() + 2, infinite.bytes.begin() + 4, std::byte {0x7f});
    reproduce::Claim claim(numbers, *reproduce::firstLikeDump(numbers), 1e9);
    EXPECT_TRUE(claim.call({all, {}}, {})->output);
    EXPECT_FALSE(claim.call({harmless, {}}, {})->output) << "it stays finite";
    EXPECT_FALSE(claim.call({infinite, {}}, {})->output) << "gns-gram was finite, and would be no more";
    EXPECT_EQ(claim.calls(), 2);
    EXPECT_EQ(claim.least().bytes, all.bytes);
    reproduce::Claim poor(numbers, *reproduce::firstLikeDump(numbers), 1);
    EXPECT_TRUE(poor.call({all, {}}, {})) << "the first is what the claim is of";
    EXPECT_EQ(poor.call({harmless, {}}, {}).error().kind, ErrorKind::refused);
    EXPECT_TRUE(poor.spent());
}

} // namespace nanscope
