// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/diagnose/whatif/detectorreplay.h"
#include "tests/core/diagnose/says.h"
#include "tests/core/diagnose/whatif/guardrun.h"
#include "tests/core/diagnose/whatif/kempnerlog.h"

namespace nanscope {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<diagnose::DetectorReplay> replay(
    const RunData& run, std::int64_t patience, probe::NanAction action = probe::NanAction::warn)
{
    return diagnose::replayDetector(run, {{.action = action, .maxConsecutive = patience}});
}

diagnose::DetectorReplay only(
    const RunData& run, std::int64_t patience, probe::NanAction action = probe::NanAction::warn)
{
    const auto all = replay(run, patience, action);
    EXPECT_THAT(all, SizeIs(1));
    return all.empty() ? diagnose::DetectorReplay {} : all.front();
}

/// Three bad attempts among good ones: 3, 4 and 5.
TEST(DetectorReplay, StopsWherePatienceEnds)
{
    const auto answer = only(threeBad().run(), 2);
    ASSERT_TRUE(answer.stop);
    EXPECT_EQ(answer.stop->step, 4);
    EXPECT_EQ(answer.stop->line.source, "train.log:5");
    EXPECT_EQ(answer.stop->message, "NaN/Inf loss at step 4 (consecutive=2, total=2, last_good_loss=2.2500 at step 2)");
    EXPECT_EQ(answer.total, 2);
    EXPECT_THAT(answer.skipped, ElementsAre(3, 4));
    EXPECT_TRUE(answer.checkable);
    EXPECT_FALSE(answer.stopAtWorst);
    ASSERT_TRUE(answer.lastGood);
    EXPECT_EQ(answer.lastGood->step, 2);
    EXPECT_EQ(answer.lastGood->loss, 2.25);
    EXPECT_TRUE(answer.lastGood->exact);
    EXPECT_EQ(answer.lastGood->line.source, "train.log:3");
}

TEST(DetectorReplay, ARunThatRecoveredAnywayWasAFalseAlarm)
{
    const auto answer = only(threeBad().run(), 3);
    ASSERT_TRUE(answer.stop);
    EXPECT_EQ(answer.stop->step, 5);
    EXPECT_EQ(answer.afterwards.outcome, diagnose::Afterwards::recovered);
    EXPECT_EQ(answer.afterwards.step, 6);
    EXPECT_EQ(answer.afterwards.loss, 2.75);
    EXPECT_EQ(answer.afterwards.finiteSteps, 4);
    EXPECT_EQ(answer.afterwards.stepsLost, 4);
    EXPECT_EQ(answer.afterwards.line.source, "train.log:7");
}

TEST(DetectorReplay, MorePatienceThanTheLongestRowNeverStops)
{
    const auto answer = only(threeBad().run(), 4);
    EXPECT_FALSE(answer.stop);
    EXPECT_EQ(answer.total, 3);
    EXPECT_EQ(answer.afterwards.outcome, diagnose::Afterwards::notStopped);
    ASSERT_THAT(answer.everySetting, SizeIs(4));
    EXPECT_THAT(answer.everySetting,
        ElementsAre(std::optional<std::int64_t>(3), std::optional<std::int64_t>(4), std::optional<std::int64_t>(5),
            std::nullopt));
}

TEST(DetectorReplay, AGoodAttemptBetweenStartsTheRowAnew)
{
    KempnerLog log;
    log.good(0).nan(1, 1, 1).nan(2, 2, 2).good(3).nan(4, 1, 3, "2.5000", 3).good(5);
    const auto answer = only(log.run(), 3);
    EXPECT_FALSE(answer.stop);
    EXPECT_EQ(answer.total, 3);
    ASSERT_THAT(answer.streaks, SizeIs(2));
    EXPECT_EQ(answer.streaks[0].sure, 2);
    EXPECT_EQ(answer.streaks[1].first, 4);
    EXPECT_EQ(answer.streaks[1].sure, 1);
}

TEST(DetectorReplay, FiniteForLessThanItsPatienceIsARelapse)
{
    KempnerLog log;
    log.good(0).nan(1, 1, 1).nan(2, 2, 2).good(3).nan(4, 1, 3, "2.5000", 3).nan(5, 2, 4, "2.5000", 3);
    const auto answer = only(log.run(), 2);
    ASSERT_TRUE(answer.stop);
    EXPECT_EQ(answer.stop->step, 2);
    EXPECT_EQ(answer.afterwards.outcome, diagnose::Afterwards::relapsed);
    EXPECT_EQ(answer.afterwards.finiteSteps, 1);
}

TEST(DetectorReplay, RaiseStopsAtTheFirst)
{
    const auto answer = only(threeBad().run(), 5, probe::NanAction::raise);
    ASSERT_TRUE(answer.stop);
    EXPECT_EQ(answer.stop->step, 3);
    EXPECT_EQ(answer.total, 1);
}

TEST(DetectorReplay, SkipDecidesLikeWarnAndSaysMore)
{
    const auto answer = only(threeBad().run(), 2, probe::NanAction::skip);
    ASSERT_TRUE(answer.stop);
    EXPECT_EQ(answer.stop->step, 4);
    EXPECT_THAT(answer.stop->message, HasSubstr(" \xe2\x80\x94 skipping optimizer step"));
}

// Trap 1: "NaN at step S" is the attempt that would have printed [step S+1].
TEST(DetectorReplay, WarningsCountBeforeTheIncrementMetricsBehindIt)
{
    const auto answer = only(threeBad().run(), 9);
    EXPECT_EQ(answer.offset, 1);
    EXPECT_EQ(answer.firstStep, 0);
    EXPECT_EQ(answer.lastStep, 9);
    EXPECT_THAT(answer.streaks, SizeIs(1));
    EXPECT_EQ(answer.streaks[0].sure, 3) << "no metric line lies between";
    EXPECT_THAT(answer.notes, says("step 3 would have been printed as [step 4]: the loss that the warning in line 4"));
}

TEST(DetectorReplay, ALoopThatPrintsBeforeTheIncrementIsNoticed)
{
    KempnerLog log;
    log.good(-1, 3).good(0, 2.75).good(1, 2.25).nan(2, 1, 1, "2.2500", 2).good(2, 2);
    auto run = log.run();
    const auto answer = only(run, 9);
    EXPECT_EQ(answer.offset, 0);
    EXPECT_THAT(answer.notes, says("numbered as the log prints them"));
}

TEST(DetectorReplay, ANumberingThatNothingShowsIsSaidToBeAssumed)
{
    KempnerLog log;
    log.good(0).elsewhere(1, 1, 1).good(2);
    const auto answer = only(log.run(), 9);
    EXPECT_EQ(answer.offset, 1);
    EXPECT_EQ(answer.lastStep, 2);
    EXPECT_THAT(answer.notes, says("assumed, since no line shows it"));
}

// Trap 2: such an attempt makes no update, but the step goes on.
TEST(DetectorReplay, TheWeightsLagBehindTheSteps)
{
    EXPECT_THAT(only(threeBad().run(), 9).notes, says("made no update at 3 of its steps"));
}

// Traps 3, 4 and 13: the printed loss is rank 0's, the other rank's never appears, and it counts all the same.
TEST(DetectorReplay, AnotherRanksNanCountsAndItsRankStaysUnknown)
{
    KempnerLog log;
    log.good(0).nan(1, 1, 1).elsewhere(2, 2, 2).elsewhere(3, 3, 3).good(4);
    const auto answer = only(log.run(), 3);
    ASSERT_TRUE(answer.stop);
    EXPECT_EQ(answer.stop->step, 3);
    EXPECT_EQ(answer.stop->message, "NaN/Inf detected on another rank at step 3 (consecutive=3, total=3)");
    ASSERT_THAT(answer.streaks, SizeIs(1));
    EXPECT_THAT(answer.streaks[0].ranks, ElementsAre(0));
    EXPECT_TRUE(answer.streaks[0].elsewhere);
    EXPECT_THAT(answer.notes, says("not rank 0, and which one the log does not say"));
    ASSERT_TRUE(answer.lastGood);
    EXPECT_EQ(answer.lastGood->step, 0);
}

TEST(DetectorReplay, LossesOfSeveralRanksAreJoinedStepByStep)
{
    RunData run;
    for (const int rank : {0, 1}) {
        Series series;
        series.name = "loss";
        series.rank = rank;
        series.source = "console.log";
        for (int step = 0; step < 6; ++step) {
            const bool bad = rank == 1 ? step == 2 : step == 3;
            series.points.push_back({step, bad ? std::numeric_limits<double>::quiet_NaN() : 1.0,
                bad ? PointState::nan : PointState::finite, 10 * step + rank});
        }
        series.pointCount = 6;
        run.series.push_back(series);
    }
    const auto answer = only(run, 2);
    ASSERT_TRUE(answer.stop) << "one rank after the other is a row for all of them";
    EXPECT_EQ(answer.stop->step, 3);
    EXPECT_THAT(answer.ranks, ElementsAre(0, 1));
    EXPECT_THAT(answer.streaks[0].ranks, ElementsAre(1, 0));
    EXPECT_FALSE(answer.streaks[0].elsewhere);
    EXPECT_EQ(answer.streaks[0].begin.source, "console.log:21");
    const auto impatient = only(run, 1);
    ASSERT_TRUE(impatient.stop);
    EXPECT_EQ(impatient.stop->message, "NaN/Inf detected on another rank at step 2 (consecutive=1, total=1)")
        << "in the eyes of rank 0";
}

// Trap 6: the guard looks at the loss only.
TEST(DetectorReplay, AFiniteLossBesideABadNormIsLetThroughAndNamed)
{
    KempnerLog log;
    log.good(0).good(1).good(2, 2.5, "nan").nan(3, 1, 1, "2.5000", 2).nan(4, 2, 2, "2.5000", 2);
    const auto answer = only(log.run(), 2);
    ASSERT_THAT(answer.unseen, SizeIs(1));
    EXPECT_EQ(answer.unseen[0].step, 2);
    EXPECT_EQ(answer.unseen[0].line.source, "train.log:3");
    EXPECT_THAT(answer.skipped, ElementsAre(3, 4)) << "the detector does not count it";
    EXPECT_THAT(answer.notes, says("lets its update through, and the next loss is the first that is not finite"));
    EXPECT_EQ(answer.afterwards.outcome, diagnose::Afterwards::unknown) << "the log ends there";
}

TEST(DetectorReplay, AnInfiniteNormIsLetThroughToo)
{
    KempnerLog log;
    log.good(0).good(1, 2.5, "inf").good(2);
    const auto answer = only(log.run(), 2);
    ASSERT_THAT(answer.unseen, SizeIs(1));
    EXPECT_EQ(answer.badSteps, 0);
}

TEST(DetectorReplay, AGradientCheckLeavesThatUpdateOutAndCountsNothing)
{
    KempnerLog log;
    log.good(0).good(1).good(2, 2.5, "nan").nan(3, 1, 1, "2.5000", 2).nan(4, 2, 2, "2.5000", 2).good(5);
    const auto all = diagnose::replayDetector(log.run(), {{.maxConsecutive = 3}, true});
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_THAT(all[0].byGradients, ElementsAre(2));
    EXPECT_THAT(all[0].skipped, ElementsAre(3, 4));
    EXPECT_FALSE(all[0].stop) << "two in a row, whatever the gradients say before";
    ASSERT_TRUE(all[0].first);
    EXPECT_EQ(all[0].first->step, 2);
    EXPECT_EQ(all[0].first->message, "NaN/Inf gradient in <parameter> at step 2");
    EXPECT_THAT(all[0].notes, says("told by the logged norm"));
    const auto raised = diagnose::replayDetector(log.run(), {{.action = probe::NanAction::raise}, true});
    ASSERT_TRUE(raised[0].stop);
    EXPECT_EQ(raised[0].stop->step, 2);
    EXPECT_EQ(raised[0].total, 0);
    const auto unchecked = only(log.run(), 3);
    EXPECT_THAT(unchecked.byGradients, IsEmpty());
    ASSERT_TRUE(unchecked.first);
    EXPECT_EQ(unchecked.first->step, 3);
    EXPECT_EQ(unchecked.first->line.source, "train.log:4");
}

TEST(DetectorReplay, WithoutLoggedNormsAGradientCheckIsNotKnown)
{
    auto run = threeBad().run();
    std::erase_if(run.series, [](const Series& series) { return series.name == "grad_norm"; });
    const auto all = diagnose::replayDetector(run, {{}, true});
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_THAT(all[0].notes, says("no gradient norm is logged"));
    EXPECT_THAT(only(run, 3).notes, Not(says("no gradient norm is logged")));
}

// Traps 7 and 11: the run's own stop, whatever it prints behind it.
TEST(DetectorReplay, WhatLiesBehindTheRunsOwnStopIsNotKnown)
{
    KempnerLog log;
    log.good(0).nan(1, 1, 1).nan(2, 2, 2).stop();
    log.line("INFO", "Training complete: 2 steps, 1,000 tokens");
    const auto same = only(log.run(), 2);
    ASSERT_TRUE(same.stop);
    EXPECT_EQ(same.afterwards.outcome, diagnose::Afterwards::unknown);
    const auto patient = only(log.run(), 10);
    EXPECT_FALSE(patient.stop);
    EXPECT_EQ(patient.openRow, 2) << "no claim that it would never have stopped";
    EXPECT_THAT(patient.notes, says("own detector stopped it behind step 2"));
    EXPECT_THAT(patient.notes, says("saves no checkpoint"));
    EXPECT_THAT(patient.notes, Contains(Field(&EvidenceLine::source, "train.log:4")));
}

TEST(DetectorReplay, ARaiseEndsTheProcessToo)
{
    KempnerLog log;
    log.good(0);
    const auto text = log.text()
        + "[rank 0] Traceback (most recent call last):\n"
          "[rank 0] RuntimeError: NaN/Inf loss at step 1 (consecutive=1, total=1, last_good_loss=2.5000 at step 0)\n";
    const TemporaryFolder folder;
    folder.write("train.log", text);
    const auto run = ingest::readRun(folder.path());
    ASSERT_TRUE(run);
    const auto answer = only(*run, 5);
    EXPECT_EQ(answer.total, 1);
    EXPECT_THAT(answer.notes, says("own detector stopped it"));
}

// Trap 9: a NaN evaluation crashes the formatter; that is no loss and no stop of the detector.
TEST(DetectorReplay, AnEvaluationThatIsNotFiniteIsNoLoss)
{
    KempnerLog log;
    log.good(0).good(1).line("INFO", "[step 2] eval/loss=nan | eval/perplexity=nan");
    const auto text = log.text()
        + "Traceback (most recent call last):\n  File \"logger.py\", line 3\n"
          "ValueError: cannot convert float NaN to integer\n";
    const TemporaryFolder folder;
    folder.write("train.log", text);
    const auto run = ingest::readRun(folder.path());
    ASSERT_TRUE(run);
    const auto answer = only(*run, 1);
    EXPECT_FALSE(answer.stop);
    EXPECT_EQ(answer.badSteps, 0);
    EXPECT_THAT(answer.notes,
        Contains(AllOf(Field(&EvidenceLine::text, HasSubstr("could not print a value")),
            Field(&EvidenceLine::source, "train.log:6"))));
}

// Trap 10: never good is "inf at step 0", and counters start anew with a process.
TEST(DetectorReplay, ARunThatWasNeverGoodHasNoLastGoodLoss)
{
    KempnerLog log;
    log.nan(0, 1, 1, "inf", 0).nan(1, 2, 2, "inf", 0);
    const auto answer = only(log.run(), 2);
    ASSERT_TRUE(answer.stop);
    EXPECT_EQ(answer.stop->message, "NaN/Inf loss at step 1 (consecutive=2, total=2, last_good_loss=inf at step 0)");
    EXPECT_FALSE(answer.lastGood);
}

TEST(DetectorReplay, AResumedProcessCountsFromZero)
{
    KempnerLog log;
    log.good(0).good(1).nan(2, 1, 1, "2.5000", 1).nan(3, 2, 2, "2.5000", 1);
    log.line("INFO", "Resumed from step 2, 1,000 tokens seen");
    log.nan(2, 1, 1, "inf", 0).good(3).good(4);
    const auto answers = replay(log.run(), 3);
    ASSERT_THAT(answers, SizeIs(2));
    EXPECT_FALSE(answers[0].stop) << "a third bad step in another process is no row of three";
    EXPECT_FALSE(answers[1].stop);
    EXPECT_EQ(answers[0].total, 2);
    EXPECT_EQ(answers[1].total, 1);
    EXPECT_EQ(answers[1].process, 1);
    EXPECT_EQ(answers[1].processes, 2);
}

TEST(DetectorReplay, AResumeEndsARowEvenIfCountersDoNotShowIt)
{
    KempnerLog log;
    log.good(0).good(1).line("INFO", "Resumed from step 2, 1,000 tokens seen").good(2).good(3);
    EXPECT_THAT(replay(log.run(), 3), SizeIs(2));
}

TEST(DetectorReplay, TheSameLineByAnotherHandlerCountsOnce)
{
    KempnerLog log;
    log.good(0).nan(1, 1, 1).nan(1, 1, 1).nan(2, 2, 2).nan(2, 2, 2).good(3);
    const auto answer = only(log.run(), 9);
    EXPECT_EQ(answer.total, 2);
    EXPECT_THAT(answer.notes, Not(says("lines are missing")));
}

TEST(DetectorReplay, CountersThatRestartAreAnotherProcessWithoutALineThatSaysSo)
{
    KempnerLog log;
    log.good(0).nan(1, 1, 1).nan(2, 2, 2).nan(3, 1, 1, "inf", 0).good(4);
    EXPECT_THAT(replay(log.run(), 3), SizeIs(2));
    KempnerLog once;
    once.good(0).nan(1, 1, 1).nan(2, 1, 1, "inf", 0).good(3);
    EXPECT_THAT(replay(once.run(), 3), SizeIs(2)) << "the second process counts 1 as well, at another step";
}

// Trap 12: a line every ten steps, and the first.
TEST(DetectorReplay, WarningsAreExactEvenWhereMetricsAreSparse)
{
    KempnerLog log;
    log.good(0).good(9).good(19).nan(26, 1, 1, "2.2500", 25).nan(27, 2, 2, "2.2500", 25).good(29).good(39);
    const auto answer = only(log.run(), 2);
    ASSERT_TRUE(answer.stop);
    EXPECT_EQ(answer.stop->step, 27);
    EXPECT_EQ(answer.interval, 10);
    EXPECT_TRUE(answer.checkable);
    ASSERT_TRUE(answer.lastGood);
    EXPECT_EQ(answer.lastGood->step, 25) << "only the warning knows it";
    EXPECT_EQ(answer.afterwards.outcome, diagnose::Afterwards::recovered);
    EXPECT_EQ(answer.afterwards.step, 28) << "no warning names it";
    EXPECT_FALSE(answer.afterwards.loss);
    EXPECT_THAT(answer.notes, says("a loss every 10 steps and a warning for every step"));
}

TEST(DetectorReplay, AStepThatNoWarningNamesWasFinite)
{
    KempnerLog log;
    log.good(0).good(9).good(19).elsewhere(26, 1, 1).elsewhere(28, 1, 2).good(29).good(39);
    const auto answer = only(log.run(), 2);
    EXPECT_FALSE(answer.stop);
    EXPECT_FALSE(answer.stopAtWorst) << "27 was no row with its neighbours";
    EXPECT_THAT(answer.streaks, SizeIs(2));
}

TEST(DetectorReplay, LinesThatAreMissingAreNoticedByTheCounters)
{
    KempnerLog log;
    log.good(0).nan(1, 1, 1).nan(4, 4, 4).good(5);
    EXPECT_THAT(only(log.run(), 9).notes, says("counts 4 steps that were not finite, the log shows 2"));
    EXPECT_THAT(only(threeBad().run(), 9).notes, Not(says("lines are missing")));
}

TEST(DetectorReplay, CapturesShowWhereALossComesTooLate)
{
    GuardRun summary;
    summary.step(5).dump({.file = "birth.pt"});
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    summary.loss(0, 6, nan).loss(1, 6, nan);
    EXPECT_THAT(only(summary.run(), 1).notes, says("a detector of losses is too late to save the weights"));
    auto elsewhere = summary.run();
    elsewhere.events[0].source = "another.log";
    EXPECT_THAT(only(elsewhere, 1).notes, Not(says("comes too late"))) << "another run in the folder";
    GuardRun other;
    other.step(5).loss(0, 6, nan).loss(1, 6, nan).dump({.file = "after.pt", .badInput = true}).step(7);
    EXPECT_THAT(only(other.run(), 1).notes, Not(says("comes too late")));
}

} // namespace
} // namespace nanscope
