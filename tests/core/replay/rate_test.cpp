// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/replay/analysis/rate.h"

namespace nanscope {
namespace {

TEST(Rate, IsThatOfTheDevice)
{
    const auto rate = replay::measuredRate(*replay::makeEigenDevice(1));
    ASSERT_TRUE(rate) << sentence(rate.error());
    EXPECT_GT(*rate, 1e7);
    EXPECT_LT(*rate, 1e14) << "no CPU does";
}

TEST(Rate, IsNotWaitedForOnceCancelled)
{
    CancelToken cancel;
    cancel.cancel();
    const auto rate = replay::measuredRate(*replay::makeEigenDevice(1), cancel);
    ASSERT_FALSE(rate);
    EXPECT_EQ(rate.error().kind, ErrorKind::cancelled);
}

TEST(Rate, IsSaidInWordsOfOneSize)
{
    EXPECT_EQ(replay::operationsText(2e10, true), "20 GFLOP/s");
    EXPECT_EQ(replay::operationsText(4.12e12), "4.12 TFLOP");
    EXPECT_EQ(replay::aboutSeconds(0.4), "under a second");
    EXPECT_EQ(replay::aboutSeconds(61), "about 61 seconds");
    EXPECT_EQ(replay::aboutSeconds(290), "about 5 minutes");
}

} // namespace
} // namespace nanscope
