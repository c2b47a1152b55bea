// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/probe/nonfiniteguard.h"
#include "tests/core/probe/fakeranks.h"

namespace nanscope {
namespace {

using test::FakeRanks;

const Error lost {ErrorKind::internal, "no word of rank 1", {}};

TEST(NonFiniteGuard, LetsFiniteUpdatesThroughAndSaysNothing)
{
    FakeRanks ranks;
    probe::NonFiniteGuard guard(ranks);
    guard.note(true);
    const auto answer = guard.agree(3);
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->skip);
    EXPECT_EQ(answer->message, "");
    EXPECT_EQ(guard.skipped(), 0);
    EXPECT_EQ(ranks.exchanges, 1) << "a rank without a bad output asks all the same";
}

TEST(NonFiniteGuard, OneBadOutputAmongManySkipsOnce)
{
    FakeRanks ranks(1);
    probe::NonFiniteGuard guard(ranks);
    guard.note(false);
    guard.note(true);
    const auto answer = guard.agree(36).value();
    EXPECT_TRUE(answer.skip);
    EXPECT_TRUE(answer.local);
    EXPECT_EQ(answer.message,
        "[nan_guard_fallback] rank 1: non-finite Newton-Schulz output at step 36; skipping update on all ranks");
    EXPECT_FALSE(guard.agree(37)->skip) << "what was noted is forgotten once it was agreed on";
    EXPECT_EQ(guard.skipped(), 1);
}

TEST(NonFiniteGuard, FollowsAnotherRankAndLetsTheFirstSayIt)
{
    for (const int rank : {0, 1}) {
        FakeRanks ranks(rank);
        ranks.otherIsBad = true;
        probe::NonFiniteGuard guard(ranks);
        const auto answer = guard.agree().value();
        EXPECT_TRUE(answer.skip);
        EXPECT_FALSE(answer.local);
        EXPECT_EQ(answer.message,
            rank == 0
                ? "[nan_guard_fallback] non-finite Newton-Schulz output on another rank; skipping update on all ranks"
                : "");
    }
}

TEST(NonFiniteGuard, DecidesNothingWhereTheGroupFails)
{
    FakeRanks ranks;
    ranks.broken = lost;
    probe::NonFiniteGuard guard(ranks);
    guard.note(false);
    const auto answer = guard.agree(1);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().what, lost.what);
    EXPECT_EQ(guard.skipped(), 0);
}

TEST(NonFiniteGuard, NamesBothEndsWhereRanksAreAtDifferentSteps)
{
    FakeRanks ranks;
    ranks.otherStep = 9;
    probe::NonFiniteGuard guard(ranks, {.checkSteps = true});
    const auto answer = guard.agree(7);
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().what, testing::StartsWith("ranks are at different steps, 7 to 9 (rank 0 at 7)"));
    EXPECT_TRUE(guard.agree(9)) << "9 to 9";
    EXPECT_TRUE(probe::NonFiniteGuard(ranks).agree(7)) << "not asked for";
}

TEST(NonFiniteGuard, WorksInATrainingOfOneProcess)
{
    probe::LoneRank alone;
    probe::NonFiniteGuard guard(alone, {.checkSteps = true});
    guard.note(false);
    EXPECT_TRUE(guard.agree(1)->skip);
    EXPECT_FALSE(guard.agree(2)->skip);
}

} // namespace
} // namespace nanscope
