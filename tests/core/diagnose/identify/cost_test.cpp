// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/diagnose/identify/cost.h"

namespace nanscope {
namespace {

constexpr std::int64_t gibibyte = std::int64_t {1} << 30;

TEST(JudgingCost, WhatTrainingUsesIsAffordable)
{
    EXPECT_TRUE(diagnose::checkJudgingCost({1, 1024, 1024}, {}, gibibyte));
    EXPECT_TRUE(diagnose::checkJudgingCost({1, 4096, 4096}, {}, 8 * gibibyte));
    EXPECT_TRUE(diagnose::checkJudgingCost({64, 1024, 1024}, {}, gibibyte)) << "a batch is judged matrix by matrix";
}

TEST(JudgingCost, GrowsWithTheProducts)
{
    const auto small = diagnose::judgingCost({1, 512, 512}, {});
    const auto large = diagnose::judgingCost({1, 1024, 1024}, {});
    EXPECT_NEAR(large.operations / small.operations, 8, 0.1);
    EXPECT_EQ(large.bytes, 4 * small.bytes);
    // Every variant has fifteen products or so, ten times.
    EXPECT_GT(small.operations, 9 * 10 * 10 * 2.0 * 512 * 512 * 512);
}

TEST(JudgingCost, RefusalNamesTheCostAndTheLimit)
{
    const auto memory = diagnose::checkJudgingCost({1, 4096, 4096}, {}, gibibyte / 2);
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().kind, ErrorKind::refused);
    EXPECT_THAT(memory.error().what, testing::HasSubstr("4096 × 4096"));
    EXPECT_THAT(memory.error().what, testing::HasSubstr("GiB"));
    EXPECT_FALSE(diagnose::checkJudgingCost({1, 30000, 30000}, {}, 10000 * gibibyte)) << "days, whatever the memory";
}

} // namespace
} // namespace nanscope
