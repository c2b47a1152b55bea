// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What logs alone tell, in the clauses of a headline.
#include "core/diagnose/recovery/runstory.h"

#include "tests/core/diagnose/findings/cardmaker.h"

namespace nanscope {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string text(const RunData& run)
{
    return diagnose::failureText(run, diagnose::failureTimelineOf(run, {}));
}

std::vector<EvidenceLine> storyRows(const RunData& run)
{
    return diagnose::logStories(run, diagnose::failureTimelineOf(run, {}));
}

Event raised(const std::string& words, std::int64_t line, const std::string& source = "train.log")
{
    auto event = eventOf(EventKind::traceback, {}, words, line);
    event.rank.reset();
    event.detail = "  File \"train.py\", line 3, in <module>\n    main()";
    event.source = source;
    return event;
}

Event fellBack(std::int64_t line, const std::string& source = "train.log")
{
    auto event = eventOf(EventKind::skippedStep, {},
        "a.py:3: RuntimeWarning: [NorMuon nan_guard_fallback] skipping update (shape=(4, 512, 64))", line);
    event.source = source;
    return event;
}

TEST(RunStory, NamesStepAndPlaceOfTheFirstLossThatIsNotFinite)
{
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, joined(constant(20, 2.5), constant(5, nan)))})),
        "loss is NaN at step 21 (train.log:120), and no number after it");
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, nan, 2, nan})})),
        "loss is NaN at step 4 (train.log:103), where the log ends");
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, nan, 2, inf, 1})})),
        "loss is NaN at step 2 (train.log:101), the first of 2 of 5 logged losses that are not finite, and the run "
        "went on");
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, -inf, 2})})),
        "loss is -Inf at step 2 (train.log:101), the only one of 3 logged losses that is not finite, and the run went "
        "on");
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, 2})})), "every logged loss is finite");
    EXPECT_EQ(text({}), "no loss in the logs");
}

TEST(RunStory, ADetectorCountsAttempts)
{
    const auto run = runWith({seriesOf("loss", 1, {3, 2})},
        {eventOf(EventKind::nanLoss, 2, "NaN/Inf loss at step 2 (consecutive=1, total=1)", 102),
            eventOf(EventKind::nanLoss, 3, "NaN/Inf loss at step 3 (consecutive=2, total=2)", 103)});
    EXPECT_EQ(text(run), "loss is not finite in attempt 2 (train.log:102), and no number after it");
}

TEST(RunStory, LooksAtEverySeriesThatIsLogged)
{
    const auto loss = joined(constant(20, 2.5), constant(5, nan));
    EXPECT_EQ(
        text(runWith({seriesOf("loss", 1, loss), seriesOf("grad_norm", 1, joined(constant(17, 1), constant(8, inf)))})),
        "grad_norm is Inf at step 18 (train.log:117), then loss is NaN at step 21 (train.log:120), and no number after "
        "it");
    EXPECT_EQ(
        text(runWith({seriesOf("loss", 1, loss), seriesOf("grad_norm", 1, joined(constant(20, 1), constant(5, nan)))})),
        "loss is NaN at step 21 (train.log:120), and no number after it")
        << "on the same line";
    EXPECT_EQ(
        text(runWith({seriesOf("loss", 1, loss), seriesOf("grad_norm", 1, joined(constant(19, 1), constant(6, nan)))})),
        "grad_norm is not finite at step 20 (train.log:119), then loss is NaN at step 21 (train.log:120), and no "
        "number "
        "after it")
        << "that step's own update spoilt the weights";
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, 2, 1}), seriesOf("val_loss", 2, {nan})})),
        "every logged loss is finite; val_loss is NaN at step 2 (train.log:100), the only one that is logged");
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, 2, 1}), seriesOf("grad_norm", 1, {1, nan, nan})})),
        "every logged loss is finite; grad_norm is NaN at step 2 (train.log:101), the first of 2 of 3 values that are "
        "not finite");
}

TEST(RunStory, ASeriesThatIsNotMeasuredAtEveryStepIsNoSign)
{
    const auto loss = seriesOf("loss", 1, {3, 2, 1, 1});
    EXPECT_EQ(text(runWith({loss, seriesOf("domain_7", 1, {nan, 2, nan, 2})})), "every logged loss is finite");
    EXPECT_EQ(text(runWith({loss, seriesOf("warmup_score", 1, {nan, nan, 2, 2})})), "every logged loss is finite");
    EXPECT_EQ(text(runWith({loss, seriesOf("never", 1, {nan, nan, nan, nan})})), "every logged loss is finite");
    EXPECT_EQ(text(runWith({loss, seriesOf("step_time_s", 1, {1, 1, nan, nan})})), "every logged loss is finite");
    EXPECT_THAT(text(runWith({loss, seriesOf("update_norm", 1, {1, 1, nan, nan})})),
        HasSubstr("update_norm is NaN at step 3 (train.log:102), the first of 2 of 4"));
}

TEST(RunStory, ARunThatDiedNeverWentOn)
{
    auto run = runWith({seriesOf("loss", 1, {3, nan, 2, 1})}, {raised("RuntimeError: CUDA error", 110)});
    EXPECT_EQ(text(run),
        "loss is NaN at step 2 (train.log:101), the only one of 4 logged losses that is not finite; died after step 4: "
        "RuntimeError: CUDA error (train.log:110)");
    run.events.front().line = 102;
    EXPECT_THAT(text(run), HasSubstr("and the run went on")) << "metrics follow the exception";
    EXPECT_THAT(text(run), Not(HasSubstr("died")));
}

TEST(RunStory, AnExceptionThatSaysNanIsHowItEnded)
{
    auto anomaly = raised("RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.", 110);
    anomaly.kind = EventKind::nanLoss;
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, 2})}, {anomaly})),
        "every logged loss is finite; died after step 2: RuntimeError: Function 'SqrtBackward0' returned nan values in "
        "its 0th output. (train.log:110)");
}

TEST(RunStory, AWarningAloneEndsNothingAndProvesNothing)
{
    const auto warning = eventOf(EventKind::nanLoss, {}, "found NaN/Inf in local grad norm", 110);
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, 2})}, {warning})),
        "a value that is not finite is reported (train.log:110)")
        << "nothing follows: whether the run went on is not known";
    auto before = warning;
    before.line = 100;
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, 2})}, {before})),
        "a value that is not finite is reported (train.log:100), and the run went on");
}

/// Steps 1 to 37 and 41 to 50, with the line of a detector between them.
RunData withDetector(const std::string& said, std::int64_t step)
{
    auto loss = seriesOf("loss", 1, joined(constant(36, 7), joined({6.4535}, constant(13, 6))));
    loss.points.erase(loss.points.begin() + 37, loss.points.begin() + 40);
    const auto text = fmt::format("NaN/Inf loss at step {} (consecutive=1, total=1, {})", step, said);
    return runWith({loss}, {eventOf(EventKind::nanLoss, step, text, 138)});
}

TEST(RunStory, ADetectorsStepIsCountedLikeThoseOfItsLog)
{
    const auto before = withDetector("last_good_loss=6.4535 at step 36", 37);
    EXPECT_EQ(text(before),
        "a value that is not finite is reported at step 38 (attempt 37, train.log:138), and the run went on");
    EXPECT_THAT(cardOf(before, "P11").reason, HasSubstr("its first bad step is 38"));
    const auto same = withDetector("last_good_loss=6.4535 at step 37", 38);
    EXPECT_EQ(text(same), "a value that is not finite is reported at step 38 (train.log:138), and the run went on");
    EXPECT_THAT(cardOf(same, "P11").reason, HasSubstr("its first bad step is 38"));
}

TEST(RunStory, AnUpdateThatWasLeftOutIsNoRunThatWentOn)
{
    EXPECT_THAT(text(withDetector("last_good_loss=6.4535 at step 36) - skipping optimizer step (", 37)),
        HasSubstr("is reported at step 38 (attempt 37, train.log:138), and its update was skipped"));
    auto skipped = eventOf(EventKind::skippedStep, {}, "found NaN gradients, skipping optimizer step", 105);
    auto run = runWith({seriesOf("loss", 1, {3, 2, 2})}, {skipped});
    EXPECT_EQ(text(run), "a guard skipped 1 update (train.log:105); every logged loss is finite");
    say(run.events.front(), "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 8, reducing to 4");
    EXPECT_EQ(text(run), "every logged loss is finite") << "a scaler is no guard";
}

TEST(RunStory, WhatASignalEndedDied)
{
    auto killed =
        eventOf(EventKind::infrastructure, {}, "slurmstepd: error: Detected 1 oom_kill event in StepId=5", 110);
    killed.rank.reset();
    EXPECT_THAT(text(runWith({seriesOf("loss", 1, {3, 2})}, {killed})),
        HasSubstr("died after step 2: slurmstepd: error: Detected 1 oom_kill event"));
    auto watchdog = eventOf(EventKind::collective, {},
        "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, NumelIn=1", 109);
    const auto aborted = eventOf(EventKind::terminated, {}, "Aborted (core dumped)", 110);
    EXPECT_THAT(text(runWith({seriesOf("loss", 1, {3, 2})}, {aborted, watchdog})), HasSubstr("hung after step 2"))
        << "the watchdog ended what hung";
}

TEST(RunStory, ATrainerThatGivesUpStopped)
{
    const auto stop = eventOf(EventKind::optimizerStop, {}, "Too many consecutive NaNs - stopping", 110);
    const auto complete = eventOf(EventKind::other, {}, "Training complete: 30 steps", 111);
    EXPECT_THAT(text(runWith({seriesOf("loss", 1, {3, 2})}, {stop, complete})),
        HasSubstr("stopped after step 2 on rank 0: Too many consecutive NaNs - stopping (train.log:110)"))
        << "KempnerForge says so then, too";
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, 2})}, {raised("ValueError: x", 110), complete})),
        "every logged loss is finite")
        << "an exception that was caught";
}

TEST(RunStory, AnAttemptThatALaterOneContinuedDidNotEndTheRun)
{
    auto run = runWith({seriesOf("loss", 1, {3, 2}, "slurm-9.out"), seriesOf("loss", 3, {2, 1}, "slurm-10.out")},
        {raised("ValueError: x", 110, "slurm-9.out")});
    EXPECT_EQ(text(run), "every logged loss is finite");
    run.events.front().source = "slurm-10.out";
    EXPECT_THAT(text(run), HasSubstr("died after step 4: ValueError: x (slurm-10.out:110)"));
}

TEST(RunStory, AnExceptionInALogWithoutMetricsHasNoOrder)
{
    const auto run = runWith({seriesOf("loss", 1, {3, 2})}, {raised("ValueError: x", 3, "stderr.log")});
    EXPECT_EQ(text(run), "every logged loss is finite; an exception is logged: ValueError: x (stderr.log:3)");
}

TEST(RunStory, TheExceptionOfOneRankIsTheCauseAndWatchdogsFollow)
{
    auto cause = raised("ValueError: loss is not finite", 110);
    cause.rank = 3;
    auto watchdog = eventOf(EventKind::collective, {},
        "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, NumelIn=1", 109);
    auto run = runWith({seriesOf("loss", 1, {3, 2})}, {watchdog});
    EXPECT_EQ(text(run),
        "every logged loss is finite; hung after step 2: rank 0 waits in collective 8 (ALLREDUCE) (train.log:109)");
    run.events.push_back(cause);
    EXPECT_THAT(text(run), HasSubstr("died after step 2 on rank 3: ValueError: loss is not finite (train.log:110)"));
}

TEST(RunStory, AGuardThatSkippedIsTheMainThing)
{
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, 2, 2})}, {fellBack(110)})),
        "a guard skipped at least 1 update (train.log:110); every logged loss is finite")
        << "no loss follows";
    auto run = runWith({seriesOf("loss", 1, {3, 2, 2})}, {fellBack(105)});
    run.series.front().points.back().line = 109;
    EXPECT_EQ(text(run),
        "a guard skipped at least 1 update between the lines of steps 2 and 3 (train.log:105); every logged loss is "
        "finite");
    run.events.push_back(fellBack(1, "stderr.log"));
    run.events.back().rank = run.events.front().rank;
    EXPECT_THAT(text(run), HasSubstr("at least 1 update")) << "one line under a tee counts once";
    run.events.back() = fellBack(106);
    run.events.back().rank = 1;
    EXPECT_THAT(text(run), HasSubstr("at least 1 update")) << "every rank says the same of one update";
    run.events.back().rank = run.events.front().rank;
    EXPECT_THAT(text(run), HasSubstr("at least 2 updates, the first between"));
}

TEST(RunStory, DumpsThatAreElsewhereAreInTheHeadline)
{
    auto dump = eventOf(EventKind::captureDumped, {}, "[dion NaN capture] output on rank 0, dumped to /x/a.pt", 101);
    dump.capture = "a.pt";
    EXPECT_EQ(text(runWith({seriesOf("loss", 1, {3, 2, 2})}, {dump})),
        "every logged loss is finite; 1 dump on 1 rank that the logs name is not here (train.log:101)");
}

TEST(RunStory, TheHeadlineIsNotPutTogetherOfSeveralLogs)
{
    auto run = runWith({seriesOf("loss", 1, {3, 2}, "alpha.log"), seriesOf("loss", 1, {3, nan, 2}, "beta.log"),
                           seriesOf("loss", 1, {5, 4}, "gamma.log")},
        {raised("ValueError: x", 110, "gamma.log")});
    EXPECT_EQ(text(run),
        "loss is NaN at step 2 (beta.log:101), the only one of 3 logged losses that is not finite, and the run went "
        "on; "
        "2 other logs have a row each");
    run.series.push_back(seriesOf("loss", 1, {3, 2}, "delta.log"));
    run.events.push_back(raised("ValueError: x", 110, "delta.log"));
    EXPECT_THAT(text(run), Not(HasSubstr("ValueError"))) << "a copy of another log is none of this one";
    run.events.clear();
    run.series[1] = seriesOf("loss", 1, {3, 2}, "beta.log");
    EXPECT_EQ(text(run), "every logged loss is finite");
}

TEST(RunStory, LogsOfSeveralRunsHaveARowEach)
{
    const auto run = runWith({seriesOf("loss", 1, joined(constant(20, 2.5), constant(5, nan)), "alpha.log"),
                                 seriesOf("loss", 1, {3, 2}, "beta.log")},
        {raised("ValueError: x", 110, "beta.log")});
    EXPECT_EQ(
        text(run), "loss is NaN at step 21 (alpha.log:120), and no number after it; 1 other log has a row of its own")
        << "the exception is another log's";
    const auto all = storyRows(run);
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_EQ(all[0].source, "alpha.log");
    EXPECT_EQ(all[0].text, "loss is NaN at step 21 (alpha.log:120), and no number after it");
    EXPECT_EQ(all[1].source, "beta.log");
    EXPECT_EQ(all[1].text, "every logged loss is finite; died after step 2: ValueError: x (beta.log:110)");
    EXPECT_THAT(storyRows(runWith({seriesOf("loss", 1, {3, 2})})), IsEmpty()) << "one log is the headline";
    EXPECT_THAT(
        storyRows(runWith({seriesOf("loss", 1, {3, 2}, "slurm-9.out"), seriesOf("loss", 3, {2}, "slurm-10.out")})),
        IsEmpty())
        << "attempts of one run";
}

TEST(RunStory, ALogWhoseStepsHaveNoLossHasARowToo)
{
    auto skipped = seriesOf("loss", 1, {0, 0, 0}, "beta.log");
    for (auto& point : skipped.points) {
        point.state = PointState::reported;
    }
    skipped.missing = 3;
    skipped.pointCount = 0;
    const auto all = storyRows(runWith({seriesOf("loss", 1, {3, 2}, "alpha.log"), skipped}));
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_EQ(all[1].source, "beta.log");
    EXPECT_EQ(all[1].text, "3 steps logged without a loss");
}

TEST(RunStory, ADumpThatCannotBeReadIsSaidFirst)
{
    auto dumped = eventOf(EventKind::captureDumped, 2,
        "[dion NaN capture] non-finite Newton-Schulz output on rank 0, shape (4, 4); dumped to /run/a.pt", 103);
    dumped.capture = "a.pt";
    auto run = runWith({seriesOf("loss", 1, {3, 2, 2})}, {dumped});
    run.rejected = {{"captures/a.pt", "The zip directory at the end is missing, so the file is cut off"}};
    EXPECT_EQ(text(run),
        "a non-finite output was dumped (train.log:103), and its file could not be read: The zip directory at the end "
        "is missing, so the file is cut off; every logged loss is finite");
    Capture read;
    read.file = "a.pt";
    run.captures = {read};
    EXPECT_EQ(text(run), "every logged loss is finite") << "another copy of it was read";
}

} // namespace
} // namespace nanscope
