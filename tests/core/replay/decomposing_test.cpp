// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/abandon.h"
#include "core/replay/analysis/decomposing.h"

namespace nanscope {
namespace {

using namespace std::chrono_literals;

TEST(Decomposing, IsToldInPercentOnceItIsLong)
{
    std::vector<Progress> told;
    JobContext job;
    job.progress = [&](const Progress& progress) { told.push_back(progress); };
    const auto tell = replay::decomposing(job, "diagnose", "x.pt");
    tell(0.1);
    EXPECT_TRUE(told.empty()) << "it may be over in no time";
    std::this_thread::sleep_for(1050ms);
    tell(0.301);
    tell(0.309);
    tell(1);
    ASSERT_EQ(told.size(), 2U) << "each number once";
    EXPECT_EQ(told[0].job, "diagnose");
    EXPECT_EQ(told[0].phase, "decomposing");
    EXPECT_EQ(told[0].message, "x.pt");
    EXPECT_EQ(told[0].done, 30);
    EXPECT_EQ(told[0].total, 100);
    EXPECT_EQ(told[1].done, 100);
    tell(0.2);
    EXPECT_EQ(told.size(), 2U) << "another one has begun";
}

TEST(UnlessCancelled, GivesWhatIsMadeAndWaitsForNothingElse)
{
    CancelToken cancel;
    EXPECT_EQ(unlessCancelled([] { return std::string("made"); }, cancel), "made");
    const auto begun = std::chrono::steady_clock::now();
    const std::jthread soon([cancel]() mutable {
        std::this_thread::sleep_for(50ms);
        cancel.cancel();
    });
    EXPECT_FALSE(unlessCancelled(
        [] {
            std::this_thread::sleep_for(5s);
            return 1;
        },
        cancel));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 3s);
    bool ran = false;
    EXPECT_FALSE(unlessCancelled([&ran] { return ran = true; }, cancel));
    EXPECT_FALSE(ran);
}

} // namespace
} // namespace nanscope
