// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <gtest/gtest.h>

#include "core/diagnose/identify/cost.h"

namespace nanscope {
namespace {

using Seconds = std::chrono::duration<double>;

/// Waits for as long as a test may take; what it waits for takes milliseconds.
bool comesTrue(const auto& condition)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return condition();
}

TEST(JudgingTime, GoesOnWithoutALimitUntilTheJobIsCancelled)
{
    JobContext job;
    const diagnose::JudgingTime time(job, {});
    EXPECT_FALSE(time.stopped());
    job.cancel.cancel();
    EXPECT_EQ(time.stopped(), "cancelled");
    EXPECT_TRUE(time.job().cancel.cancelled());
}

TEST(JudgingTime, ALimitEndsTheJudgingAndNotTheJob)
{
    const JobContext job;
    const diagnose::JudgingTime time(job, Seconds(0.01));
    EXPECT_TRUE(comesTrue([&] { return time.job().cancel.cancelled(); }));
    EXPECT_EQ(time.stopped(), "the time limit of 0.01 s");
    EXPECT_FALSE(job.cancel.cancelled());
}

TEST(JudgingTime, ALimitBeyondTheClockIsNone)
{
    EXPECT_FALSE(diagnose::JudgingTime({}, Seconds(1e300)).stopped());
}

TEST(JudgingTime, ACancelledJobEndsTheJudgingBeforeItsLimit)
{
    JobContext job;
    const diagnose::JudgingTime time(job, Seconds(3600));
    EXPECT_FALSE(time.stopped());
    job.cancel.cancel();
    EXPECT_TRUE(comesTrue([&] { return time.job().cancel.cancelled(); }));
    EXPECT_EQ(time.stopped(), "cancelled");
}

} // namespace
} // namespace nanscope
