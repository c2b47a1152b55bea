// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gmock/gmock.h>

#include "core/probe/nandetector.h"

namespace nanscope {
namespace {

TEST(NanMessage, ALocalLineIsReadWhole)
{
    const auto said = probe::parseNanMessage(
        "[rank 0] WARNING  NaN/Inf loss at step 37 (consecutive=3, total=7, last_good_loss=6.4535 at step 34)");
    ASSERT_TRUE(said);
    EXPECT_EQ(said->step, 37);
    EXPECT_FALSE(said->otherRank);
    EXPECT_EQ(said->consecutive, 3);
    EXPECT_EQ(said->total, 7);
    EXPECT_EQ(said->lastGoodLoss, 6.4535);
    EXPECT_EQ(said->lastGoodStep, 34);
}

TEST(NanMessage, TheRemoteFormHasNoLastGoodLoss)
{
    const auto said = probe::parseNanMessage("NaN/Inf detected on another rank at step 253 (consecutive=3, total=7)");
    ASSERT_TRUE(said);
    EXPECT_TRUE(said->otherRank);
    EXPECT_EQ(said->step, 253);
    EXPECT_FALSE(said->lastGoodLoss);
    EXPECT_FALSE(said->lastGoodStep);
}

TEST(NanMessage, NeverGoodIsInfAtStepZero)
{
    const auto said =
        probe::parseNanMessage("NaN/Inf loss at step 0 (consecutive=1, total=1, last_good_loss=inf at step 0)");
    ASSERT_TRUE(said);
    EXPECT_TRUE(std::isinf(said->lastGoodLoss.value_or(0)));
    EXPECT_EQ(said->lastGoodStep, 0);
}

TEST(NanMessage, WhatIsWrittenIsReadBack)
{
    for (const auto action : {probe::NanAction::warn, probe::NanAction::skip, probe::NanAction::raise}) {
        for (const bool other : {false, true}) {
            const NanMessage wanted {12, other, 2, 5, -0.25, 10};
            const auto read = probe::parseNanMessage("RuntimeError: " + probe::textOf(wanted, action));
            ASSERT_TRUE(read) << probe::textOf(wanted, action);
            EXPECT_EQ(read->step, 12);
            EXPECT_EQ(read->otherRank, other);
            EXPECT_EQ(read->consecutive, 2);
            EXPECT_EQ(read->total, 5);
            EXPECT_EQ(read->lastGoodLoss, other ? std::nullopt : std::optional(-0.25));
        }
    }
}

TEST(NanMessage, OtherLinesAreNone)
{
    for (const auto* line : {"", "NaN/Inf gradient in w at step 3", "NaN/Inf loss at step 3",
             "NaN/Inf loss at step 99999999999999999999 (consecutive=1, total=1)",
             "NaN/Inf loss at step 3 (consecutive=1, total=1", "Too many consecutive NaNs"}) {
        EXPECT_FALSE(probe::parseNanMessage(line)) << line;
    }
}

} // namespace
} // namespace nanscope
