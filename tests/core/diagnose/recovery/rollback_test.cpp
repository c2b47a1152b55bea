// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gmock/gmock.h>

#include "core/diagnose/recovery/rollback.h"
#include "core/diagnose/recovery/runstory.h"
#include "core/diagnose/recovery/trace.h"
#include "core/diagnose/verdict/decide.h"
#include "core/ingest/ingest.h"
#include "tests/core/diagnose/madefacts.h"
#include "tests/core/diagnose/runmaker.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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

/// The newest weights that are proven before the trouble, or -1.
std::int64_t lastProof(const diagnose::FailureTimeline& timeline)
{
    std::int64_t last = -1;
    for (auto proof = timeline.failed->proofOf(0); proof; proof = timeline.failed->proofOf(last + 1)) {
        last = proof->weights;
    }
    return last;
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

TEST(FailureTimeline, AHealthyRunHasNone)
{
    RunData run;
    run.series = {seriesOf("loss", 1, {3, 2, nan, 2, 1})};
    run.checkpoints = {saved(2)};
    EXPECT_TRUE(diagnose::failureTimelineOf(run, {}).none()) << "one NaN that a number follows was survived";
    EXPECT_FALSE(diagnose::adviseRollback(run, {}));
}

TEST(RollbackAdvice, WhereNothingStayedBadTheCauseIsStillToBeMended)
{
    RunData run;
    const std::vector<CaptureVerdict> births {birthAfter(2, Blame::numerics)};
    EXPECT_THAT(diagnose::goOnTonight(run, births),
        HasSubstr("first check that the newest checkpoint is finite (run nanscope inspect on it)"));
    run.checkpoints = {saved(200), found(100), found(300)};
    EXPECT_THAT(diagnose::goOnTonight(run, births), HasSubstr("the newest checkpoint, out/step_300, is finite"))
        << "that of 200 is named by a log alone";
    run.checkpoints.clear();
    run.series = {seriesOf("loss", 1, {3, 2, nan, 2})};
    ASSERT_FALSE(diagnose::adviseRollback(run, births)) << "one finite step behind the NaN ends the trouble";
    const auto text = diagnose::goOnTonight(run, births);
    EXPECT_THAT(text, StartsWith("iterate in bf16"));
    EXPECT_THAT(text, HasSubstr("go on from where the run is"));
    EXPECT_EQ(diagnose::goOnTonight(run, {}), "") << "no capture, no cause";
    run.series.push_back(seriesOf("loss", 1, {3, nan}));
    EXPECT_THAT(diagnose::goOnTonight(run, births), HasSubstr("first check that")) << "one of them ends with NaN";
}

TEST(FailureTimeline, StepsThatBeginWithOnePrintTheLossOfTheWeightsBefore)
{
    const auto run = runOf(20, 5);
    const auto timeline = diagnose::failureTimelineOf(run, {});
    ASSERT_TRUE(timeline.failed->poisonedFrom);
    EXPECT_EQ(timeline.failed->poisonedFrom->weights, 20) << "step 21 used W(20)";
    EXPECT_EQ(timeline.failed->poisonedFrom->line.source, "train.log:120");
    EXPECT_EQ(lastProof(timeline), 19);
}

TEST(FailureTimeline, StepsThatBeginWithNullPrintTheLossOfTheirOwnWeights)
{
    RunData run;
    run.series = {seriesOf("loss", 0, joined(constant(20, 2.5), constant(5, nan)))};
    const auto timeline = diagnose::failureTimelineOf(run, {});
    EXPECT_EQ(timeline.failed->poisonedFrom->weights, 20) << "step 20 used W(20)";
    EXPECT_EQ(lastProof(timeline), 19);
}

TEST(FailureTimeline, AResumedLogCountsAsItsTrainerDoes)
{
    auto run = runOf(20, 5);
    for (auto& series : run.series) {
        series.firstStep += 5000;
        for (auto& point : series.points) {
            point.step += 5000;
        }
    }
    EXPECT_EQ(diagnose::failureTimelineOf(run, {}).failed->poisonedFrom->weights, 5020)
        << "nothing says that it counts from 0";
    run.settings = {{"log.step_base", "0", {}, "train.log", 1}};
    EXPECT_EQ(diagnose::failureTimelineOf(run, {}).failed->poisonedFrom->weights, 5021);
    run.settings = {{"log.step_base", "0", {}, "other.log", 1}};
    EXPECT_EQ(diagnose::failureTimelineOf(run, {}).failed->poisonedFrom->weights, 5020) << "of another log";
}

TEST(FailureTimeline, TheStepBehindALoadTellsHowALogCounts)
{
    const auto weightsOf = [](std::int64_t loaded) {
        auto run = runOf(20, 5);
        for (auto& series : run.series) {
            for (auto& point : series.points) {
                point.step += 5000;
            }
        }
        run.checkpoints = {{loaded, CheckpointFact::loaded, "out/step_5001", "", "train.log", 99}};
        return diagnose::failureTimelineOf(run, {}).failed->poisonedFrom->weights;
    };
    EXPECT_EQ(weightsOf(5001), 5021) << "W(5001) was loaded, and step 5001 is the first loss";
    EXPECT_EQ(weightsOf(5000), 5020);
    EXPECT_EQ(weightsOf(5010), 5020) << "step 5010 comes, but not first";
}

TEST(FailureTimeline, ALogOfNanoGptThatBeginsInMidRun)
{
    const TemporaryFolder folder;
    std::string text;
    for (int step = 5000; step < 5040; ++step) {
        text += "iter " + std::to_string(step) + ": loss " + (step < 5030 ? "2.5000" : "nan")
            + ", time 250.00ms, mfu 8.92%\n";
    }
    folder.write("train.log", text);
    const auto run = ingest::readRun(folder.path());
    ASSERT_TRUE(run);
    const auto timeline = diagnose::failureTimelineOf(*run, {});
    ASSERT_FALSE(timeline.none());
    EXPECT_EQ(timeline.failed->poisonedFrom->weights, 5030) << "iter 5030 prints the loss of checkpoint 5030";
    EXPECT_EQ(lastProof(timeline), 5029);
}

TEST(FailureTimeline, AFiniteLossBesideABadNormPoisonsWhatIsWrittenNext)
{
    RunData run;
    run.series = {seriesOf("loss", 1, joined(constant(21, 2.5), constant(5, nan))),
        seriesOf("grad_norm", 1, joined(constant(20, 1.0), joined({inf}, constant(5, nan))))};
    const auto timeline = diagnose::failureTimelineOf(run, {});
    EXPECT_EQ(timeline.failed->poisonedFrom->weights, 21) << "the update of step 21 gave W(21)";
    EXPECT_EQ(timeline.failed->poisonedFrom->line.text, "grad_norm is not finite at step 21");
    EXPECT_EQ(lastProof(timeline), 19) << "step 21 has a loss, and a norm that says no";
}

TEST(FailureTimeline, OneLastNanMayBeItsBatch)
{
    RunData run;
    run.series = {seriesOf("loss", 1, joined(constant(20, 2.5), {nan}))};
    const auto timeline = diagnose::failureTimelineOf(run, {});
    EXPECT_FALSE(timeline.failed->poisonedFrom);
    ASSERT_TRUE(timeline.failed->doubtFrom);
    EXPECT_EQ(timeline.failed->doubtFrom->weights, 20);
    run.checkpoints = {found(20), found(10)};
    const auto rollback = *diagnose::adviseRollback(run, {});
    EXPECT_EQ(statusOf(rollback, 20), CheckpointStatus::suspect);
    EXPECT_EQ(rollback.recommended, 10);
}

TEST(FailureTimeline, TheDetectorCountsAttemptsFromNull)
{
    RunData run;
    run.series = {seriesOf("loss", 1, constant(30, 2.5))};
    const std::string tail = ", last_good_loss=6.4535 at step 36)";
    run.events = {eventOf(EventKind::nanLoss, 37, "NaN/Inf loss at step 37 (consecutive=1, total=1" + tail, 200),
        eventOf(EventKind::nanLoss, 38, "NaN/Inf loss at step 38 (consecutive=2, total=2" + tail, 201)};
    const auto timeline = diagnose::failureTimelineOf(run, {});
    ASSERT_FALSE(timeline.none());
    ASSERT_TRUE(timeline.failed->poisonedFrom);
    EXPECT_EQ(timeline.failed->poisonedFrom->weights, 37);
    EXPECT_EQ(timeline.failed->poisonedFrom->line.source, "train.log:200");
    EXPECT_EQ(lastProof(timeline), 36) << "the detector saw more than the log printed";
}

TEST(FailureTimeline, AttemptsThatOthersFollowedWereSurvived)
{
    // A line every hundred steps; the second warning says itself that step 1039 was finite.
    RunData run;
    run.series = {seriesOf("loss", 1, constant(1000, 2.5))};
    run.events = {eventOf(EventKind::nanLoss, 1020,
                      "NaN/Inf loss at step 1020 (consecutive=1, total=1, last_good_loss=2.0000 at step 1019)", 2000),
        eventOf(EventKind::nanLoss, 1040,
            "NaN/Inf loss at step 1040 (consecutive=1, total=2, last_good_loss=2.0000 at step 1039)", 2001)};
    ASSERT_FALSE(diagnose::failureTimelineOf(run, {}).none());
    EXPECT_FALSE(diagnose::failureTimelineOf(run, {}).failed->poisonedFrom) << "one attempt alone";
    run.checkpoints = {{1050, CheckpointFact::saved, "out/step_1050", "", "train.log", 2002}};
    EXPECT_TRUE(diagnose::failureTimelineOf(run, {}).none()) << "what failed saves nothing";
}

TEST(FailureTimeline, AnAttemptThatWasFollowedByANumberWasSurvived)
{
    RunData run;
    run.series = {seriesOf("loss", 1, constant(50, 2.5))};
    run.events = {eventOf(EventKind::nanLoss, 37, "NaN/Inf loss at step 37 (consecutive=1, total=1)", 136)};
    EXPECT_TRUE(diagnose::failureTimelineOf(run, {}).none());
}

TEST(FailureTimeline, AClimbBeginsWhereTheLossIsTwiceItsMean)
{
    RunData run;
    run.series = {seriesOf("loss", 1, joined(constant(50, 2.0), {3.9, 4.1, 8.0, 9.0, nan, nan}))};
    const auto timeline = diagnose::failureTimelineOf(run, {});
    ASSERT_TRUE(timeline.failed->climbingFrom);
    EXPECT_EQ(timeline.failed->climbingFrom->weights, 51) << "3.9 is below twice 2.0 and 4.1 is above twice the mean";
    EXPECT_EQ(timeline.failed->climbingFrom->line.source, "train.log:151");
    run.series = {seriesOf("loss", 1, joined(constant(50, 2.0), {8.0, 2.0, nan, nan}))};
    EXPECT_FALSE(diagnose::failureTimelineOf(run, {}).failed->climbingFrom) << "it had come down again";
}

TEST(Rollback, ADamagedInputBesideAClimbIsNoFaultOfItsBatch)
{
    RunData run;
    run.series = {seriesOf("loss", 1, joined(constant(50, 2.0), {3.9, 4.1, 8.0, 9.0, nan, nan}))};
    const auto tonight = [&run] { return diagnose::adviseRollback(run, {birthAfter(54, Blame::upstream)})->tonight; };
    EXPECT_THAT(tonight(), HasSubstr("take a lower learning rate"));
    run.series = {seriesOf("loss", 1, joined(constant(54, 2.0), {nan, nan}))};
    EXPECT_THAT(tonight(), HasSubstr("check gradients before the optimizer"));
}

TEST(Rollback, WeightsThatWereBadBeforeTheStepAreThoseOfTheCheckpointBefore)
{
    auto upstream = birthAfter(60, Blame::upstream);
    upstream.role = Role::upstream;
    upstream.step = std::pair(60, 60);
    auto run = runOf(50, 0);
    run.checkpoints = {saved(40), saved(59)};
    const auto first = [&] { return diagnose::failureTimelineOf(run, {upstream}).failed->first(); };
    EXPECT_EQ(first(), 60) << "the update of step 60 wrote the first bad weights";
    EXPECT_THAT(diagnose::adviseRollback(run, {upstream})->tonight, HasSubstr("check gradients"));
    upstream.facts.scene.parameters = ParameterState {1, 0, 1, 1, "w", ParameterCoverage {1, 1, false, true}};
    upstream.facts.scene.parameters->momentaBefore = 1;
    EXPECT_THAT(diagnose::adviseRollback(run, {upstream})->tonight, StartsWith("check what the optimizer keeps"));
    upstream.facts.scene.weightsBefore = WeightsBefore {1, 1, "w", false};
    EXPECT_EQ(first(), 59) << "it read them";
    const auto advice = *diagnose::adviseRollback(run, {upstream});
    EXPECT_THAT(advice.tonight, StartsWith("check the weights right after each step"));
    EXPECT_EQ(advice.recommended, 40);
}

TEST(Rollback, CapturesThatAreThereAreNotAskedFor)
{
    RunData run;
    run.series = {seriesOf("loss", 1, joined(constant(54, 2.0), {nan, nan}))};
    const auto tonight = [&run] { return diagnose::adviseRollback(run, {})->tonight; };
    EXPECT_THAT(tonight(), HasSubstr("turn on captures"));
    run.events = {eventOf(EventKind::captureDumped, 54, "dumped", 160)};
    run.events.back().capture = "dion_nan_capture_rank0_shape8x8_pid1_5.pt";
    EXPECT_THAT(tonight(), HasSubstr("fetch the dumps that the log names"));
    run.captures.emplace_back().file = "other.pt";
    EXPECT_THAT(tonight(), testing::StartsWith("turn on a guard that skips non-finite updates on all ranks; "));
}

/// Steps of one log: the same series in as many segments as there were starts.
RunData startedAgain(const std::vector<std::pair<std::int64_t, std::vector<double>>>& starts, bool sameLog)
{
    RunData run;
    std::int64_t line = 100;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const auto source = sameLog ? std::string("train.log") : "slurm-" + std::to_string(i + 9) + ".out";
        auto series = seriesOf("loss", starts[i].first, starts[i].second, source);
        series.segment = sameLog ? static_cast<int>(i) : 0;
        for (auto& point : series.points) {
            point.line = sameLog ? line++ : point.line;
        }
        run.series.push_back(series);
    }
    return run;
}

TEST(FailureTimeline, AResumeThatRanCleanEndsIt)
{
    for (const bool sameLog : {true, false}) {
        const auto run =
            startedAgain({{1, joined(constant(900, 2.0), constant(5, nan))}, {801, constant(500, 2.0)}}, sameLog);
        EXPECT_TRUE(diagnose::failureTimelineOf(run, {}).none()) << sameLog;
        EXPECT_THAT(diagnose::failureText(run, diagnose::failureTimelineOf(run, {})),
            HasSubstr("the first of 5 of 1,405 logged losses that are not finite, and the run went on"));
    }
}

TEST(FailureTimeline, AShortLogThatEndsInNanIsNotOutvotedByALongOne)
{
    for (const bool sameLog : {true, false}) {
        auto run =
            startedAgain({{1, constant(1000, 2.0)}, {1001, joined(constant(100, 2.0), constant(10, nan))}}, sameLog);
        const auto timeline = diagnose::failureTimelineOf(run, {});
        ASSERT_FALSE(timeline.none()) << sameLog;
        EXPECT_EQ(timeline.failed->first(), 1100);
        run.checkpoints = {found(1000), found(900)};
        EXPECT_EQ(diagnose::adviseRollback(run, {})->recommended, 1000);
    }
}

TEST(FailureTimeline, AnotherRankCountsToo)
{
    RunData run;
    run.series = {seriesOf("loss", 1, constant(100, 2.0))};
    auto rank1 = seriesOf("loss", 1, joined(constant(50, 2.0), constant(50, nan)));
    rank1.rank = 1;
    run.series.push_back(rank1);
    const auto timeline = diagnose::failureTimelineOf(run, {});
    ASSERT_FALSE(timeline.none());
    EXPECT_EQ(timeline.failed->first(), 50);
    EXPECT_THAT(diagnose::failureText(run, timeline), HasSubstr("not finite on rank 1 at step 51"));
}

TEST(FailureTimeline, OfManyRanksTheFirstIsNamedAndTheOthersAreCounted)
{
    RunData run;
    for (int rank = 0; rank < 64; ++rank) {
        const std::size_t good = rank == 37 || rank == 40 ? 50 : rank == 0 ? 60 : 52;
        auto series = seriesOf("loss", 1, joined(constant(good, 2.0), constant(100 - good, nan)));
        series.rank = rank;
        run.series.push_back(series);
    }
    const auto timeline = diagnose::failureTimelineOf(run, {});
    EXPECT_THAT(diagnose::failureText(run, timeline),
        HasSubstr("loss is not finite on rank 37 and on 1 more at step 51 (train.log:150)"));
}

TEST(FailureTimeline, ABadNormThatFiniteLossesFollowPoisonsNothing)
{
    RunData run;
    run.series = {seriesOf("loss", 1, constant(300, 2.0)),
        seriesOf("grad_norm", 1, joined(constant(50, 1.0), joined({inf, inf}, constant(248, 1.0))))};
    EXPECT_TRUE(diagnose::failureTimelineOf(run, {}).none());
    run.series[1] = seriesOf("grad_norm", 1, joined(constant(299, 1.0), {inf}));
    const auto last = diagnose::failureTimelineOf(run, {});
    ASSERT_FALSE(last.none());
    EXPECT_FALSE(last.failed->poisonedFrom) << "a loss scaler may have left that update out";
    EXPECT_EQ(last.failed->doubtFrom->weights, 300);
}

TEST(FailureTimeline, ALossThatVanishesIsNotFinite)
{
    RunData run;
    auto loss = seriesOf("loss", 1, joined(constant(100, 2.0), constant(50, nan)));
    for (auto& point : loss.points) {
        point.state = point.step > 100 ? PointState::reported : point.state;
    }
    loss.missing = 50;
    loss.pointCount = 100;
    run.series = {loss, seriesOf("grad_norm", 1, joined(constant(100, 1.0), constant(50, nan)))};
    const auto timeline = diagnose::failureTimelineOf(run, {});
    ASSERT_FALSE(timeline.none());
    ASSERT_TRUE(timeline.failed->poisonedFrom);
    EXPECT_THAT(timeline.failed->poisonedFrom->line.text, HasSubstr("loss is missing beside"));
    run.series.pop_back();
    ASSERT_FALSE(diagnose::failureTimelineOf(run, {}).none());
    EXPECT_TRUE(diagnose::failureTimelineOf(run, {}).failed->doubtFrom) << "no loss, and nothing that says why";
}

TEST(FailureTimeline, ANewLevelIsNoClimb)
{
    RunData run;
    run.series = {seriesOf("loss", 1, joined(constant(1000, 2.0), constant(3, nan))),
        seriesOf("grad_norm", 1, joined(constant(20, 0.1), constant(980, 0.25)))};
    EXPECT_FALSE(diagnose::failureTimelineOf(run, {}).failed->climbingFrom);
}

TEST(FailureTimeline, RowsAreNoSteps)
{
    auto run = runOf(60, 5);
    run.series[0].stepInferred = true;
    run.checkpoints = {found(50), found(500)};
    const auto rollback = *diagnose::adviseRollback(run, {});
    EXPECT_EQ(statusOf(rollback, 500), CheckpointStatus::unverified);
    EXPECT_THAT(rollback.checkpoints[0].reason, HasSubstr("counts rows"));
    EXPECT_THAT(diagnose::failureText(run, diagnose::failureTimelineOf(run, {})), HasSubstr("row 61"));
}

TEST(FailureTimeline, ABirthThatWasSurvivedIsOver)
{
    auto run = startedAgain({{0, constant(6, 2.0)}, {4, constant(400, 2.0)}}, true);
    auto dump = eventOf(EventKind::captureDumped, {}, "dumped", 105);
    dump.capture = "dump.pt";
    run.events = {dump, eventOf(EventKind::traceback, {}, "RuntimeError: [dion NaN capture] x", 105)};
    run.checkpoints = {found(4)};
    EXPECT_TRUE(diagnose::failureTimelineOf(run, {birthAfter(5, Blame::implementation)}).none()) << "the resume ran on";
    run = startedAgain({{0, constant(400, 2.0)}}, true);
    run.events = {dump};
    EXPECT_TRUE(diagnose::failureTimelineOf(run, {birthAfter(5, Blame::implementation)}).none())
        << "a guard left it out";
}

TEST(Rollback, ACheckpointBelongsToTheAttemptThatWroteIt)
{
    // The first attempt goes bad at 601 and saves 950; the second goes by it from 501 on and saves nothing.
    auto run = startedAgain(
        {{1, joined(constant(600, 2.0), constant(400, nan))}, {501, joined(constant(600, 2.0), constant(5, nan))}},
        true);
    run.checkpoints = {{950, CheckpointFact::saved, "out/step_950", "", "train.log", 1060}, found(500)};
    const auto rollback = *diagnose::adviseRollback(run, {});
    EXPECT_EQ(statusOf(rollback, 950), CheckpointStatus::poisoned);
    EXPECT_EQ(rollback.recommended, 500);
    run.checkpoints = {found(950), found(500)};
    EXPECT_EQ(statusOf(*diagnose::adviseRollback(run, {}), 950), CheckpointStatus::unverified)
        << "nobody says who wrote it";
}

TEST(Rollback, NothingBehindTheFaultIsRecommended)
{
    RunData run;
    run.series = {seriesOf("loss", 1, joined(constant(99, 2.0), {nan}))};
    run.checkpoints = {found(100), found(101)};
    const auto rollback = *diagnose::adviseRollback(run, {});
    EXPECT_FALSE(rollback.recommended);
    EXPECT_EQ(statusOf(rollback, 101), CheckpointStatus::suspect);
}

TEST(Rollback, ARemovalOutlivesWhatAnotherRankSaid)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {{200, CheckpointFact::removed, "ck/step_200", "", "rank0.log", 9},
        {200, CheckpointFact::saved, "ck/step_200", "", "rank1.log", 5}, saved(100)};
    EXPECT_EQ(diagnose::adviseRollback(run, {})->recommended, 100);
}

TEST(Rollback, TheNewestThatGaveAFiniteLossLongBefore)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(500), saved(800), saved(1000)};
    const auto rollback = diagnose::adviseRollback(run, {});
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

TEST(Rollback, AFiniteLossProvesLessWhereACaptureIsWrongAndFinite)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(500)};
    auto odd = birthAfter(1000, Blame::undecided);
    EXPECT_THAT(diagnose::adviseRollback(run, {odd})->reason, Not(HasSubstr("no proof")));
    odd.rule = RuleId::offInPlaces;
    EXPECT_THAT(diagnose::adviseRollback(run, {odd})->reason,
        HasSubstr("unless your code did that, a finite loss is no proof"));
    odd.rule = RuleId::finiteCorruption;
    EXPECT_THAT(diagnose::adviseRollback(run, {odd})->reason, HasSubstr("a capture shows finite corruption"));
}

TEST(Rollback, TheNewestIsDoubtedWhenItWasWrittenJustBefore)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(500), saved(950)};
    const auto rollback = *diagnose::adviseRollback(run, {});
    EXPECT_EQ(statusOf(rollback, 950), CheckpointStatus::suspect);
    EXPECT_EQ(rollback.recommended, 500);
    const auto kernel = *diagnose::adviseRollback(run, {birthAfter(1000, Blame::implementation)});
    EXPECT_EQ(statusOf(kernel, 950), CheckpointStatus::safe) << "a kernel's fault is not in the weights before it";
    EXPECT_EQ(kernel.recommended, 950);
    const auto numbers = *diagnose::adviseRollback(run, {birthAfter(1000, Blame::numerics)});
    EXPECT_EQ(numbers.recommended, 500);
}

TEST(Rollback, FollowsAVerdictThatIsWeighedAgain)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(500), saved(950)};
    auto birth = birthAfter(1000, Blame::undecided);
    test::MadeFacts made;
    made.member("gns-gram");
    made.facts.damageOnZeros = true;
    birth.facts = made.facts;
    Diagnosis diagnosis;
    diagnosis.captures = {diagnose::withObservations(birth, {})};
    ASSERT_EQ(diagnosis.captures.front().blame, Blame::undecided);
    diagnose::adviseAgain(diagnosis, run);
    EXPECT_FALSE(diagnosis.rollback) << "nobody asked yet";
    diagnosis.rollback = diagnose::adviseRollback(run, diagnosis.captures);
    EXPECT_EQ(diagnosis.rollback->recommended, 500);
    auto swapped = diagnose::withObservations(diagnosis, {std::nullopt, {{"swap-gpus", Seen::moves, {}, 2}}});
    ASSERT_EQ(swapped.captures.front().blame, Blame::machine);
    EXPECT_EQ(swapped.rollback->recommended, 500) << "until it is asked again";
    diagnose::adviseAgain(swapped, run);
    EXPECT_EQ(swapped.rollback->recommended, 950);
    EXPECT_EQ(statusOf(*swapped.rollback, 950), CheckpointStatus::safe);
    EXPECT_THAT(swapped.rollback->tonight, HasSubstr("the bad GPU out; resume from step 950"));
}

TEST(Rollback, TheOnlyOneIsNotDoubtedAway)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(950)};
    EXPECT_EQ(diagnose::adviseRollback(run, {})->recommended, 950);
}

TEST(Rollback, WhatATornOneLacksIsSaidBesideWhatWasReadOfIt)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(500), found(600, "it has no .metadata: saving was not finished")};
    run.checkpoints.back().contents = CheckpointContents {};
    run.checkpoints.back().contents->damaged = 1;
    run.checkpoints.back().contents->first = "optim.exp_avg: its checksum does not match";
    const auto rollback = *diagnose::adviseRollback(run, {});
    const auto torn = std::ranges::find(rollback.checkpoints, 600, &CheckpointAdvice::step);
    ASSERT_NE(torn, rollback.checkpoints.end());
    EXPECT_EQ(torn->status, CheckpointStatus::missing);
    EXPECT_EQ(torn->reason, "it has no .metadata: saving was not finished");
    ASSERT_EQ(torn->proof.size(), 1U);
    EXPECT_EQ(torn->proof.front().text, "optim.exp_avg: its checksum does not match");
}

TEST(Rollback, WhatWasDeletedOrTornIsMissing)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(400), saved(500), found(600, "it has no .metadata: saving was not finished"), saved(700)};
    run.checkpoints.push_back({700, CheckpointFact::removed, "out/step_700", "", "train.log", 900});
    const auto rollback = *diagnose::adviseRollback(run, {});
    EXPECT_EQ(statusOf(rollback, 700), CheckpointStatus::missing);
    EXPECT_EQ(statusOf(rollback, 600), CheckpointStatus::missing);
    EXPECT_EQ(rollback.recommended, 500);
    EXPECT_THAT(rollback.tonight, HasSubstr("copy it away first"));
    run.checkpoints.push_back(saved(700));
    EXPECT_EQ(diagnose::adviseRollback(run, {})->recommended, 700) << "it was written again";
}

TEST(Rollback, OneThatLiesThereIsThereWhateverALogSays)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {found(700), {700, CheckpointFact::removed, "elsewhere/step_700", "", "train.log", 900}};
    EXPECT_EQ(diagnose::adviseRollback(run, {})->recommended, 700);
}

TEST(Rollback, BetweenTheLastLineAndTheFaultNothingIsKnown)
{
    RunData run;
    run.series = {seriesOf("loss", 1, constant(1000, 2.5))};
    run.events = {eventOf(EventKind::nanLoss, 1200,
                      "NaN/Inf detected on another rank at step 1200 (consecutive=1, total=1)", 5000),
        eventOf(
            EventKind::nanLoss, 1201, "NaN/Inf detected on another rank at step 1201 (consecutive=2, total=2)", 5001)};
    run.checkpoints = {found(1100)};
    const auto rollback = *diagnose::adviseRollback(run, {});
    EXPECT_EQ(statusOf(rollback, 1100), CheckpointStatus::unverified);
    EXPECT_EQ(rollback.recommended, 1100);
    EXPECT_THAT(rollback.reason, HasSubstr("nothing better is left"));
}

TEST(Rollback, ACheckpointOfTheLastGoodStepMayHoldTheUpdateBehindItsLoss)
{
    // Step 5 prints the loss of W(5), and a checkpoint that is written after its update holds W(6).
    RunData run;
    run.series = {seriesOf("loss", 0, joined(constant(6, 2.0), constant(3, nan)))};
    run.checkpoints = {saved(6), saved(5), saved(4)};
    const auto rollback = *diagnose::adviseRollback(run, {birthAfter(5, Blame::implementation)});
    EXPECT_EQ(statusOf(rollback, 6), CheckpointStatus::poisoned);
    EXPECT_EQ(statusOf(rollback, 5), CheckpointStatus::unverified);
    EXPECT_THAT(rollback.checkpoints.at(1).reason, HasSubstr("verify"));
    EXPECT_EQ(statusOf(rollback, 4), CheckpointStatus::safe) << "the loss of step 5 is that of W(5)";
    EXPECT_EQ(rollback.recommended, 4);
    const auto logAlone = *diagnose::adviseRollback(run, {});
    EXPECT_EQ(statusOf(logAlone, 5), CheckpointStatus::unverified);
    EXPECT_THAT(logAlone.checkpoints.at(1).reason,
        HasSubstr("the last finite loss is that of step 5, and whether the checkpoint was written before the update"));
    EXPECT_EQ(logAlone.checkpoints.at(1).proof.at(0).source, "train.log:105");
    run.checkpoints.clear();
    EXPECT_THAT(diagnose::adviseRollback(run, {})->tonight, HasSubstr("of step 4 or earlier"));
}

TEST(Rollback, AResumeShowsThatCheckpointsAreWrittenBeforeTheUpdateOfTheirStep)
{
    RunData run;
    run.series = {seriesOf("loss", 300, joined(constant(600, 2.0), constant(3, nan)))};
    run.checkpoints = {{300, CheckpointFact::loaded, "out/step_300", "", "train.log", 99}, found(899)};
    EXPECT_EQ(
        statusOf(*diagnose::adviseRollback(run, {birthAfter(899, Blame::implementation)}), 899), CheckpointStatus::safe)
        << "step 300 came first behind the weights of step 300";
}

TEST(Rollback, AStepThatWasBrokenOffIsHalfDone)
{
    RunData run;
    run.series = {seriesOf("loss", 0, constant(1000, 2.5))};
    run.events = {eventOf(EventKind::traceback, {}, "RuntimeError: [dion NaN capture] non-finite", 2000)};
    run.checkpoints = {found(1000), found(500)};
    const auto rollback = *diagnose::adviseRollback(run, {birthAfter(999, Blame::implementation)});
    EXPECT_EQ(statusOf(rollback, 1000), CheckpointStatus::suspect);
    EXPECT_THAT(rollback.checkpoints.front().reason, HasSubstr("half-stepped"));
    EXPECT_EQ(rollback.recommended, 500);
}

TEST(Rollback, NothingLeftIsSaid)
{
    auto run = runOf(1000, 5);
    auto rollback = *diagnose::adviseRollback(run, {});
    EXPECT_FALSE(rollback.recommended);
    EXPECT_THAT(rollback.reason, HasSubstr("no checkpoint was found"));
    EXPECT_THAT(rollback.tonight, HasSubstr("of step 999 or earlier (none was found in this run)"));
    run.checkpoints = {saved(1003)};
    rollback = *diagnose::adviseRollback(run, {});
    EXPECT_FALSE(rollback.recommended) << "a poisoned one is never recommended";
    EXPECT_THAT(rollback.reason, HasSubstr("none of the known checkpoints"));
    EXPECT_THAT(rollback.tonight, HasSubstr("start anew"));
}

TEST(Rollback, BeforeTheFirstUpdateThereIsNothingToGoBackTo)
{
    RunData run;
    run.series = {seriesOf("loss", 0, std::vector<double>(5, std::nan("")))};
    const auto rollback = diagnose::adviseRollback(run, {});
    ASSERT_TRUE(rollback);
    EXPECT_THAT(rollback->tonight, HasSubstr("look at the weights it began with and at its first batch"));
    EXPECT_THAT(rollback->tonight, Not(HasSubstr("resume")));
}

TEST(Rollback, CostIsToldInHoursWhereStepsHaveATime)
{
    auto run = runOf(1000, 5);
    run.series.push_back(seriesOf("step_time_s", 1, constant(1000, 36.0)));
    run.checkpoints = {saved(800)};
    EXPECT_THAT(diagnose::adviseRollback(run, {})->tonight, HasSubstr("200 steps again, about 2.0 h"));
}

TEST(Rollback, SettingsFollowTheVerdict)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(800)};
    const auto tonight = [&](Blame blame) { return diagnose::adviseRollback(run, {birthAfter(1000, blame)})->tonight; };
    EXPECT_THAT(tonight(Blame::implementation), HasSubstr("use_triton=False"));
    auto tried = birthAfter(1000, Blame::implementation);
    tried.facts.tried = {{"kernels-off", Seen::stays}};
    EXPECT_THAT(diagnose::adviseRollback(run, {tried})->tonight, testing::Not(HasSubstr("use_triton=False")));
    auto onCpu = birthAfter(1000, Blame::undecided);
    onCpu.facts.scene.onCpu = true;
    EXPECT_THAT(diagnose::adviseRollback(run, {onCpu})->tonight, testing::StartsWith("take the norm in fp32"));
    EXPECT_THAT(tonight(Blame::numerics), HasSubstr("bf16"));
    auto inBf16 = birthAfter(1000, Blame::numerics);
    auto& iterating = inBf16.members.emplace_back();
    iterating.variant = "keller-jordan";
    iterating.precision = "bf16";
    EXPECT_THAT(diagnose::adviseRollback(run, {inBf16})->tonight, StartsWith("take a variant that stays inside"));
    onCpu.members = inBf16.members;
    EXPECT_THAT(diagnose::adviseRollback(run, {onCpu})->tonight, StartsWith("turn on a guard"));
    auto& casting = onCpu.members.emplace_back();
    casting.variant = "gns-standard";
    casting.precision = "fp16";
    casting.castsFirst = true;
    EXPECT_THAT(diagnose::adviseRollback(run, {onCpu})->tonight, StartsWith("take the norm in fp32, iterate in bf16"));
    auto zero = birthAfter(1000, Blame::numerics);
    zero.role = Role::padding;
    zero.facts.inputZero = true;
    EXPECT_THAT(diagnose::adviseRollback(run, {zero})->tonight, StartsWith("add an epsilon to the norm"));
    zero.blame = Blame::undecided;
    EXPECT_THAT(diagnose::adviseRollback(run, {zero})->tonight, StartsWith("turn on a guard")) << "it may be padding";
    EXPECT_THAT(tonight(Blame::upstream), HasSubstr("check gradients"));
    EXPECT_THAT(tonight(Blame::undecided), HasSubstr("a guard"));
    EXPECT_THAT(diagnose::adviseRollback(run, {})->tonight, HasSubstr("turn on captures to find the cause"));
    run.events.emplace_back().facts.phrases = {Phrase::callsNotSeen};
    EXPECT_THAT(diagnose::adviseRollback(run, {})->tonight, HasSubstr("it was on and did not see them all"));
}

TEST(Rollback, NoGuardAgainstBadValuesIsAdvisedWhereTheOutputIsFinite)
{
    auto zero = birthAfter(1000, Blame::undecided);
    zero.facts.outputFinite = true;
    zero.facts.scene.onCpu = true;
    const auto text = diagnose::goOnTonight({}, {zero});
    EXPECT_THAT(text, Not(HasSubstr("skips non-finite")));
    EXPECT_THAT(text, HasSubstr("turn on a guard that also asks for the norm of an update"));
    zero.facts.outputFinite = false;
    EXPECT_THAT(diagnose::goOnTonight({}, {zero}), HasSubstr("turn on a guard that skips non-finite updates"));
}

TEST(Rollback, AStateDictWithoutAStepIsToldFromNoCheckpoint)
{
    auto run = runOf(1000, 5);
    EXPECT_THAT(diagnose::adviseRollback(run, {})->reason,
        HasSubstr("a file of weights counts as one where its name (step_15.pt) or a number beside its tensors (step, "
                  "iteration) says the step"));
}

TEST(Rollback, TonightMendsEveryCauseThatIsKnown)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(800)};
    const auto tonight = [&](const std::vector<Blame>& blames) {
        std::vector<CaptureVerdict> verdicts;
        for (const auto blame : blames) {
            verdicts.push_back(birthAfter(1000, blame));
        }
        return diagnose::adviseRollback(run, verdicts)->tonight;
    };
    EXPECT_THAT(tonight({Blame::implementation, Blame::numerics, Blame::implementation}),
        StartsWith("set use_triton=False and use_gram_newton_schulz=False (no custom kernels); also iterate in bf16, "
                   "with a variant that stays inside its limits; resume"));
    EXPECT_THAT(tonight({Blame::implementation, Blame::undecided}), Not(HasSubstr("also")));
    EXPECT_THAT(tonight({Blame::undecided, Blame::numerics}), Not(HasSubstr("also"))) << "that covers it";
}

TEST(Rollback, AKernelBesideNumbersDoesNotSpareTheNewestCheckpoint)
{
    auto run = runOf(1000, 5);
    run.checkpoints = {saved(800), saved(950)};
    std::vector<CaptureVerdict> verdicts {birthAfter(1000, Blame::implementation)};
    EXPECT_EQ(diagnose::adviseRollback(run, verdicts)->recommended, 950);
    verdicts.push_back(birthAfter(1000, Blame::numerics));
    EXPECT_EQ(diagnose::adviseRollback(run, verdicts)->recommended, 800);
}

TEST(Traces, EventFilesOfOneFolderAreOneRunWhateverTheirHosts)
{
    RunData run;
    const std::string first = "tb/events.out.tfevents.100.node-b.7.0";
    const std::string second = "tb/events.out.tfevents.900.node-a.1.0";
    run.series = {seriesOf("loss", 3, {30, 40}, second), seriesOf("loss", 1, {1, 2, 3, 4, 5}, first),
        seriesOf("loss", 1, {7, 7, 7, 7, 7}, "other/events.out.tfevents.50.node-c.1.0")};
    run.series[2].rank = 1;
    const auto trace = diagnose::traceOf(run, "loss", 0);
    ASSERT_EQ(trace.points.size(), 4U);
    EXPECT_EQ(trace.points[1].value, 2);
    EXPECT_EQ(trace.points[2].value, 30) << "the later writer wins";
    EXPECT_EQ(trace.points[3].value, 40) << "and what the earlier one wrote behind it is void";
    EXPECT_EQ(diagnose::sourceOf(trace, trace.points[1]), first);
    EXPECT_EQ(diagnose::sourceOf(trace, trace.points[2]), second);
    auto begun = eventOf(EventKind::resumed, 2, "a writer began", 1);
    begun.source = second;
    run.events = {begun};
    EXPECT_EQ(diagnose::traceOf(run, "loss", 0).points.size(), 3U) << "it voided step 2, too";
}

TEST(Traces, TheLastWriterWins)
{
    RunData run;
    auto again = seriesOf("loss", 3, {30, 40});
    again.segment = 1;
    run.series = {seriesOf("loss", 1, {1, 2, 3, 4, 5}), again};
    const auto trace = diagnose::traceOf(run, "loss");
    std::vector<double> values;
    for (const auto& point : trace.points) {
        values.push_back(point.value);
    }
    EXPECT_THAT(values, ElementsAre(1, 2, 30, 40)) << "step 5 was not done again";
}

} // namespace
} // namespace nanscope
