// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "core/probe/nandetector.h"
#include "tests/core/probe/fakeranks.h"

namespace nanscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

TEST(NanDetector, StartsWithNoGoodLossAtAll)
{
    const probe::NanDetector detector;
    EXPECT_EQ(detector.state().consecutive, 0);
    EXPECT_EQ(detector.state().total, 0);
    EXPECT_EQ(detector.state().lastGoodLoss, inf);
    EXPECT_EQ(detector.state().lastGoodStep, 0);
    EXPECT_THAT(detector.state().nanSteps, IsEmpty());
    EXPECT_EQ(detector.options().maxConsecutive, 5);
    EXPECT_EQ(detector.options().maxHistory, 100U);
    EXPECT_FALSE(detector.shouldRollback());
}

TEST(NanDetector, AFiniteLossIsRememberedAndSaysNothing)
{
    probe::NanDetector detector;
    const auto check = detector.checkLoss(6.4535, 36);
    EXPECT_TRUE(check.good);
    EXPECT_FALSE(check.raise);
    EXPECT_EQ(check.message, "");
    EXPECT_EQ(detector.state().lastGoodLoss, 6.4535);
    EXPECT_EQ(detector.state().lastGoodStep, 36);
}

TEST(NanDetector, NanAndBothInfinitiesCountAlike)
{
    probe::NanDetector detector;
    for (const double bad : {nan, inf, -inf}) {
        EXPECT_FALSE(detector.checkLoss(bad, 1).good);
    }
    EXPECT_EQ(detector.state().total, 3);
}

TEST(NanDetector, SpeaksTheFormatThatToolsRead)
{
    probe::NanDetector detector;
    detector.checkLoss(6.45349, 36);
    EXPECT_EQ(detector.checkLoss(nan, 37).message,
        "NaN/Inf loss at step 37 (consecutive=1, total=1, last_good_loss=6.4535 at step 36)");
    EXPECT_EQ(detector.checkLoss(6.5, 38, true).message,
        "NaN/Inf detected on another rank at step 38 (consecutive=2, total=2)");
}

TEST(NanDetector, ARunThatWasNeverGoodSaysInfAtStepZero)
{
    probe::NanDetector detector;
    EXPECT_EQ(detector.checkLoss(nan, 0).message,
        "NaN/Inf loss at step 0 (consecutive=1, total=1, last_good_loss=inf at step 0)");
}

TEST(NanDetector, SkipAddsItsWordsToBothMessages)
{
    probe::NanDetector detector({.action = probe::NanAction::skip});
    EXPECT_EQ(detector.checkLoss(1, 7, true).message,
        "NaN/Inf detected on another rank at step 7 (consecutive=1, total=1) \xe2\x80\x94 skipping optimizer step");
    const auto check = detector.checkLoss(nan, 8);
    EXPECT_EQ(check.message,
        "NaN/Inf loss at step 8 (consecutive=2, total=2, last_good_loss=inf at step 0) \xe2\x80\x94 skipping optimizer "
        "step");
    EXPECT_FALSE(check.raise);
}

TEST(NanDetector, RaiseSaysSoAndHasCountedBefore)
{
    probe::NanDetector detector({.action = probe::NanAction::raise, .maxConsecutive = 1});
    const auto check = detector.checkLoss(nan, 3);
    EXPECT_FALSE(check.good);
    EXPECT_TRUE(check.raise);
    EXPECT_EQ(check.message, "NaN/Inf loss at step 3 (consecutive=1, total=1, last_good_loss=inf at step 0)");
    EXPECT_EQ(detector.state().total, 1);
    EXPECT_TRUE(detector.shouldRollback());
}

TEST(NanDetector, AnotherRanksNanCountsAndLeavesTheLastGoodStep)
{
    probe::NanDetector detector;
    detector.checkLoss(2, 10);
    detector.checkLoss(2.5, 11, true);
    EXPECT_EQ(detector.state().consecutive, 1);
    EXPECT_EQ(detector.state().total, 1);
    EXPECT_EQ(detector.state().lastGoodLoss, 2);
    EXPECT_EQ(detector.state().lastGoodStep, 10);
    EXPECT_THAT(detector.state().nanSteps, ElementsAre(11));
}

TEST(NanDetector, AGoodStepEndsTheRowButNotTheTotal)
{
    probe::NanDetector detector({.maxConsecutive = 2});
    detector.checkLoss(nan, 1);
    EXPECT_FALSE(detector.shouldRollback());
    detector.checkLoss(nan, 2);
    EXPECT_TRUE(detector.shouldRollback());
    detector.checkLoss(1, 3);
    EXPECT_FALSE(detector.shouldRollback());
    EXPECT_EQ(detector.state().consecutive, 0);
    EXPECT_EQ(detector.state().total, 2);
}

TEST(NanDetector, HistoryKeepsTheFirstStepsNotTheLast)
{
    probe::NanDetector detector;
    for (int step = 0; step < 150; ++step) {
        detector.checkLoss(nan, step);
    }
    EXPECT_THAT(detector.state().nanSteps, SizeIs(100));
    EXPECT_EQ(detector.state().nanSteps.back(), 99);
    EXPECT_EQ(detector.state().total, 150);
}

TEST(NanDetector, ResetForgetsEverything)
{
    probe::NanDetector detector;
    detector.checkLoss(2, 10);
    detector.checkLoss(nan, 11);
    detector.reset();
    EXPECT_EQ(detector.state().total, 0);
    EXPECT_EQ(detector.state().lastGoodLoss, inf);
    EXPECT_THAT(detector.state().nanSteps, IsEmpty());
}

TEST(NanDetector, TheFirstBadGradientIsNamedAndCountsNothing)
{
    const probe::NanDetector detector;
    const probe::GradientState gradients[] = {{"embed.weight", true}, {"blocks.3.mlp.fc2", false}, {"head", false}};
    const auto check = detector.checkGradients(gradients, 12);
    EXPECT_FALSE(check.good);
    EXPECT_EQ(check.message, "NaN/Inf gradient in blocks.3.mlp.fc2 at step 12");
    EXPECT_EQ(detector.state().total, 0);
    EXPECT_TRUE(detector.checkGradients(std::span(gradients, 1), 12).good);
}

TEST(NanDetector, GradientsMayBeAskedForOneByOne)
{
    const probe::NanDetector detector({.action = probe::NanAction::raise});
    int asked = 0;
    const auto next = [&]() -> std::optional<probe::GradientState> { return probe::GradientState {"w", ++asked < 3}; };
    const auto check = detector.checkGradients(next, 4);
    EXPECT_TRUE(check.raise);
    EXPECT_EQ(asked, 3) << "nothing is asked for behind the first bad one";
    EXPECT_TRUE(detector.checkGradients([] { return std::optional<probe::GradientState>(); }, 4).good);
}

TEST(NanDetector, CountsAnotherRanksNanLikeItsOwn)
{
    test::FakeRanks ranks;
    probe::NanDetector detector({.maxConsecutive = 2});
    EXPECT_TRUE(detector.checkLoss(ranks, 2.5, 1)->good);
    ranks.otherIsBad = true;
    const auto check = detector.checkLoss(ranks, 2.5, 2);
    ASSERT_TRUE(check);
    EXPECT_FALSE(check->good);
    EXPECT_EQ(check->message, "NaN/Inf detected on another rank at step 2 (consecutive=1, total=1)");
    EXPECT_EQ(detector.checkLoss(ranks, nan, 3)->message,
        "NaN/Inf loss at step 3 (consecutive=2, total=2, last_good_loss=2.5000 at step 1)")
        << "its own NaN comes first";
    EXPECT_TRUE(detector.shouldRollback());
}

TEST(NanDetector, CountsNothingWhereTheGroupFails)
{
    test::FakeRanks ranks;
    ranks.broken = Error {ErrorKind::internal, "no word of rank 1", {}};
    probe::NanDetector detector;
    ASSERT_FALSE(detector.checkLoss(ranks, nan, 1));
    EXPECT_EQ(detector.checkLoss(ranks, nan, 1).error().what, "no word of rank 1");
    EXPECT_EQ(detector.state().total, 0);
}

TEST(NanDetector, AgreesOnGradientsAndNamesItsOwn)
{
    test::FakeRanks ranks;
    const probe::NanDetector detector({.action = probe::NanAction::raise});
    const probe::GradientState finite[] = {{"embed.weight", true}};
    const probe::GradientState bad[] = {{"embed.weight", true}, {"head", false}};
    EXPECT_TRUE(detector.checkGradients(ranks, finite, 4)->good);
    EXPECT_EQ(detector.checkGradients(ranks, bad, 4)->message, "NaN/Inf gradient in head at step 4");
    ranks.otherIsBad = true;
    const auto check = detector.checkGradients(ranks, finite, 5);
    EXPECT_EQ(check->message, "NaN/Inf detected on another rank at step 5");
    EXPECT_TRUE(check->raise);
    EXPECT_EQ(ranks.exchanges, 3);
}

TEST(NanDetector, GoesOnFromACheckpoint)
{
    probe::NanDetector before({.maxConsecutive = 2});
    before.checkLoss(2, 10);
    before.checkLoss(nan, 11);
    probe::NanDetector after({.maxConsecutive = 2});
    after.restore(before.state());
    after.checkLoss(nan, 12);
    EXPECT_TRUE(after.shouldRollback());
    EXPECT_EQ(after.state().lastGoodStep, 10);
    EXPECT_THAT(after.state().nanSteps, ElementsAre(11, 12));
}

TEST(NanFlag, IsSummedOverTheRanks)
{
    EXPECT_FALSE(probe::anyRankFlagged(probe::nanFlag(true) + probe::nanFlag(true)));
    EXPECT_TRUE(probe::anyRankFlagged(probe::nanFlag(true) + probe::nanFlag(false)));
    EXPECT_TRUE(probe::anyRankFlagged(probe::nanFlag(false) * 512));
    EXPECT_TRUE(probe::anyRankFlagged(std::nanf(""))) << "a broken exchange is no all-clear";
}

TEST(NanAction, HasItsThreeNames)
{
    for (const auto action : {probe::NanAction::warn, probe::NanAction::skip, probe::NanAction::raise}) {
        EXPECT_EQ(probe::parseNanAction(probe::name(action)), action);
    }
    EXPECT_FALSE(probe::parseNanAction("ignore"));
}

} // namespace
} // namespace nanscope
