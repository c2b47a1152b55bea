// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "core/diagnose/rollback.h"
#include "tests/core/diagnose/runmaker.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

CheckpointStatus statusOf(const Rollback& rollback, std::int64_t step)
{
    for (const auto& advice : rollback.checkpoints) {
        if (advice.step == step) {
            return advice.status;
        }
    }
    ADD_FAILURE() << "no checkpoint " << step;
    return CheckpointStatus::missing;
}

CaptureVerdict birthAfter(std::int64_t step, Blame blame)
{
    CaptureVerdict verdict;
    verdict.role = Role::birth;
    verdict.capture = "dump.pt";
    verdict.step = std::pair(step, step + 1);
    verdict.blame = blame;
    return verdict;
}

/// Loss and norm of steps 1 to `good`, then `bad` of NaN.
RunData runOf(std::size_t good, std::size_t bad)
{
    RunData run;
    run.series = {seriesOf("loss", 1, joined(constant(good, 2.5), constant(bad, nan))),
        seriesOf("grad_norm", 1, joined(constant(good, 1.0), constant(bad, nan)))};
    return run;
}

TEST(Trouble, AHealthyRunHasNone)
{
    RunData run;
    run.series = {seriesOf("loss", 1, {3, 2, nan, 2, 1})};
    run.checkpoints = {saved(2)};
    EXPECT_TRUE(troubleOf(run, {}).none()) << "one NaN that a number follows was survived";
    EXPECT_FALSE(adviseRollback(run, {}));
}

TEST(Trouble, StepsThatBeginWithOnePrintTheLossOfTheWeightsBefore)
{
    const auto trouble = troubleOf(runOf(20, 5), {});
    ASSERT_TRUE(trouble.poisonedFrom);
    EXPECT_EQ(trouble.poisonedFrom->weights, 20) << "step 21 used W(20)";
    EXPECT_EQ(trouble.poisonedFrom->line.source, "train.log:120");
    ASSERT_FALSE(trouble.proofs.empty());
    EXPECT_EQ(trouble.proofs.back().weights, 19);
}

TEST(Trouble, StepsThatBeginWithNullPrintTheLossOfTheirOwnWeights)
{
    RunData run;
    run.series = {seriesOf("loss", 0, joined(constant(20, 2.5), constant(5, nan)))};
    const auto trouble = troubleOf(run, {});
    EXPECT_EQ(trouble.poisonedFrom->weights, 20) << "step 20 used W(20)";
    EXPECT_EQ(trouble.proofs.back().weights, 19);
}

TEST(Trouble, AFiniteLossBesideABadNormPoisonsWhatIsWrittenNext)
{
    RunData run;
    run.series = {seriesOf("loss", 1, joined(constant(21, 2.5), constant(5, nan))),
        seriesOf("grad_norm", 1, joined(constant(20, 1.0), joined({inf}, constant(5, nan))))};
    const auto trouble = troubleOf(run, {});
    EXPECT_EQ(trouble.poisonedFrom->weights, 21) << "the update of step 21 gave W(21)";
    EXPECT_EQ(trouble.poisonedFrom->line.text, "grad_norm is Inf at step 21");
    EXPECT_EQ(trouble.proofs.back().weights, 19) << "step 21 has a loss, and a norm that says no";
}

TEST(Trouble, OneLastNanMayBeItsBatch)
{
    RunData run;
    run.series = {seriesOf("loss", 1, joined(constant(20, 2.5), {nan}))};
    const auto trouble = troubleOf(run, {});
    EXPECT_FALSE(trouble.poisonedFrom);
    ASSERT_TRUE(trouble.doubtFrom);
    EXPECT_EQ(trouble.doubtFrom->weights, 20);
    run.checkpoints = {found(20), found(10)};
    const auto rollback = *adviseRollback(run, {});
    EXPECT_EQ(statusOf(rollback, 20), CheckpointStatus::suspect);
    EXPECT_EQ(rollback.recommended, 10);
}

TEST(Trouble, TheDetectorCountsAttemptsFromNull)
{
    RunData run;
    run.series = {seriesOf("loss", 1, constant(30, 2.5))};
    const std::string tail = ", total=1, last_good_loss=6.4535 at step 36)";
    run.events = {eventOf(EventKind::nanLoss, 37, "NaN/Inf loss at step 37 (consecutive=1" + tail, 200),
        eventOf(EventKind::nanLoss, 38, "NaN/Inf loss at step 38 (consecutive=2" + tail, 201)};
    const auto trouble = troubleOf(run, {});
    EXPECT_EQ(trouble.poisonedFrom->weights, 37);
    EXPECT_EQ(trouble.poisonedFrom->line.source, "train.log:200");
    EXPECT_EQ(trouble.proofs.back().weights, 36) << "the detector saw more than the log printed";
}

TEST(Trouble, AnAttemptThatWasFollowedByANumberWasSurvived)
{
    RunData run;
    run.series = {seriesOf("loss", 1, constant(50, 2.5))};
    run.events = {eventOf(EventKind::nanLoss, 37, "NaN/Inf loss at step 37 (consecutive=1, total=1)", 200)};
    EXPECT_TRUE(troubleOf(run, {}).none());
}

TEST(Trouble, AClimbBeginsWhereTheLossIsTwiceItsMean)
{
    RunData run;
    run.series = {seriesOf("loss", 1, joined(constant(50, 2.0), {3.9, 4.1, 8.0, 9.0, nan, nan}))};
    const auto trouble = troubleOf(run, {});
    ASSERT_TRUE(trouble.climbingFrom);
    EXPECT_EQ(trouble.climbingFrom->weights, 51) << "3.9 is below twice 2.0 and 4.1 is above twice the mean";
    EXPECT_EQ(trouble.climbingFrom->line.source, "train.log:151");
    run.series = {seriesOf("loss", 1, joined(constant(50, 2.0), {8.0, 2.0, nan, nan}))};
    EXPECT_FALSE(troubleOf(run, {}).climbingFrom) << "it had come down again";
}

TEST(Trouble, IsToldInOnePhrase)
{
    const auto text = [](const RunData& run) { return troubleText(run, troubleOf(run, {})); };
    EXPECT_EQ(text(runOf(20, 5)), "loss is NaN at step 21, and no number after it");
    EXPECT_EQ(text(runOf(20, 0)), "every logged loss is finite");
    EXPECT_EQ(text({}), "no loss in the logs");
    RunData run;
    run.series = {seriesOf("loss", 1, {3, nan, 2, nan})};
    EXPECT_EQ(text(run), "loss is NaN at step 4, where the log ends");
    run.series = {seriesOf("loss", 1, {3, nan, 2, inf, 1})};
    EXPECT_EQ(text(run), "2 of 5 logged losses are not finite, and the run went on");
    run.series = {seriesOf("loss", 1, {3, 2})};
    run.events = {eventOf(EventKind::nanLoss, 2, "NaN/Inf loss at step 2 (consecutive=1, total=1)"),
        eventOf(EventKind::nanLoss, 3, "NaN/Inf loss at step 3 (consecutive=2, total=2)")};
    EXPECT_EQ(text(run), "NaN/Inf loss at step 2, and no number after it");
}

TEST(Rollback, TheNewestThatGaveAFiniteLossLongBefore)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(500), saved(800), saved(1000)};
    const auto rollback = adviseRollback(run, {});
    ASSERT_TRUE(rollback);
    EXPECT_EQ(statusOf(*rollback, 1000), CheckpointStatus::poisoned);
    EXPECT_EQ(statusOf(*rollback, 800), CheckpointStatus::safe);
    EXPECT_EQ(statusOf(*rollback, 500), CheckpointStatus::safe);
    EXPECT_EQ(rollback->recommended, 800);
    EXPECT_EQ(rollback->checkpoints[1].proof.at(0).source, "train.log:900") << "step 801 used W(800)";
    EXPECT_THAT(rollback->reason, HasSubstr("200 steps before the fault"));
    EXPECT_THAT(rollback->tonight, HasSubstr("resume from step 800 (200 steps again)"));
    EXPECT_EQ(rollback->checkpoints.front().proof.front().source, "train.log:1100") << "the first NaN loss";
}

TEST(Rollback, TheNewestIsDoubtedWhenItWasWrittenJustBefore)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(500), saved(950)};
    const auto rollback = *adviseRollback(run, {});
    EXPECT_EQ(statusOf(rollback, 950), CheckpointStatus::suspect);
    EXPECT_EQ(rollback.recommended, 500);
    const auto kernel = *adviseRollback(run, {birthAfter(1000, Blame::implementation)});
    EXPECT_EQ(statusOf(kernel, 950), CheckpointStatus::safe) << "a kernel's fault is not in the weights before it";
    EXPECT_EQ(kernel.recommended, 950);
    const auto numbers = *adviseRollback(run, {birthAfter(1000, Blame::numerics)});
    EXPECT_EQ(numbers.recommended, 500);
}

TEST(Rollback, TheOnlyOneIsNotDoubtedAway)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(950)};
    EXPECT_EQ(adviseRollback(run, {})->recommended, 950);
}

TEST(Rollback, WhatWasDeletedOrTornIsMissing)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(400), saved(500), found(600, "it has no .metadata: saving was not finished"), saved(700)};
    run.checkpoints.push_back({700, CheckpointFact::removed, "out/step_700", "", "train.log", 900});
    const auto rollback = *adviseRollback(run, {});
    EXPECT_EQ(statusOf(rollback, 700), CheckpointStatus::missing);
    EXPECT_EQ(statusOf(rollback, 600), CheckpointStatus::missing);
    EXPECT_EQ(rollback.recommended, 500);
    EXPECT_THAT(rollback.tonight, HasSubstr("copy it away first"));
    run.checkpoints.push_back(saved(700));
    EXPECT_EQ(adviseRollback(run, {})->recommended, 700) << "it was written again";
}

TEST(Rollback, OneThatLiesThereIsThereWhateverALogSays)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {found(700), {700, CheckpointFact::removed, "elsewhere/step_700", "", "train.log", 900}};
    EXPECT_EQ(adviseRollback(run, {})->recommended, 700);
}

TEST(Rollback, BetweenTheLastLineAndTheFaultNothingIsKnown)
{
    RunData run;
    run.series = {seriesOf("loss", 1, constant(1000, 2.5))};
    run.events = {
        eventOf(EventKind::nanLoss, 1200, "NaN/Inf detected on another rank at step 1200 (consecutive=1, t", 9),
        eventOf(EventKind::nanLoss, 1201, "NaN/Inf detected on another rank at step 1201 (consecutive=2, t", 10)};
    run.checkpoints = {found(1100)};
    const auto rollback = *adviseRollback(run, {});
    EXPECT_EQ(statusOf(rollback, 1100), CheckpointStatus::unverified);
    EXPECT_EQ(rollback.recommended, 1100);
    EXPECT_THAT(rollback.reason, HasSubstr("nothing better is left"));
}

TEST(Rollback, AStepThatWasBrokenOffIsHalfDone)
{
    RunData run;
    run.series = {seriesOf("loss", 0, constant(1000, 2.5))};
    run.events = {eventOf(EventKind::traceback, {}, "RuntimeError: [dion NaN capture] non-finite", 2000)};
    run.checkpoints = {found(1000), found(500)};
    const auto rollback = *adviseRollback(run, {birthAfter(999, Blame::implementation)});
    EXPECT_EQ(statusOf(rollback, 1000), CheckpointStatus::suspect);
    EXPECT_THAT(rollback.checkpoints.front().reason, HasSubstr("half-stepped"));
    EXPECT_EQ(rollback.recommended, 500);
}

TEST(Rollback, NothingLeftIsSaid)
{
    auto run = runOf(1000, 5);
    auto rollback = *adviseRollback(run, {});
    EXPECT_FALSE(rollback.recommended);
    EXPECT_THAT(rollback.reason, HasSubstr("no checkpoint was found"));
    EXPECT_THAT(rollback.tonight, HasSubstr("written before update 1000, none is known here"));
    run.checkpoints = {saved(1003)};
    rollback = *adviseRollback(run, {});
    EXPECT_FALSE(rollback.recommended) << "a poisoned one is never recommended";
    EXPECT_THAT(rollback.reason, HasSubstr("none of the known checkpoints"));
    EXPECT_THAT(rollback.tonight, HasSubstr("start anew"));
}

TEST(Rollback, CostIsToldInHoursWhereStepsHaveATime)
{
    auto run = runOf(1000, 5);
    run.series.push_back(seriesOf("step_time_s", 1, constant(1000, 36.0)));
    run.checkpoints = {saved(800)};
    EXPECT_THAT(adviseRollback(run, {})->tonight, HasSubstr("200 steps again, about 2.0 h"));
}

TEST(Rollback, SettingsFollowTheVerdict)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(800)};
    const auto tonight = [&](Blame blame) { return adviseRollback(run, {birthAfter(1000, blame)})->tonight; };
    EXPECT_THAT(tonight(Blame::implementation), HasSubstr("use_triton=False"));
    EXPECT_THAT(tonight(Blame::numerics), HasSubstr("bf16"));
    EXPECT_THAT(tonight(Blame::upstream), HasSubstr("check gradients"));
    EXPECT_THAT(tonight(Blame::undecided), HasSubstr("a guard"));
    EXPECT_THAT(adviseRollback(run, {})->tonight, HasSubstr("to learn the cause"));
}

TEST(Traces, TheLastWriterWins)
{
    RunData run;
    auto again = seriesOf("loss", 3, {30, 40});
    again.segment = 1;
    run.series = {seriesOf("loss", 1, {1, 2, 3, 4, 5}), again};
    const auto trace = traceOf(run, "loss");
    std::vector<double> values;
    for (const auto& point : trace.points) {
        values.push_back(point.value);
    }
    EXPECT_THAT(values, ElementsAre(1, 2, 30, 40)) << "step 5 was not done again";
}

} // namespace
} // namespace nanscope
