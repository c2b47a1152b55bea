// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a log hides, and what it cannot show.
#include "core/ingest/ingest.h"
#include "tests/core/diagnose/findings/cardmaker.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

TEST(NanFilter, AZeroLossBesideABadNorm)
{
    const auto run = runWith({seriesOf("loss", 1, {2, 0, 0, 1}), seriesOf("grad_norm", 1, {1, nan, inf, 1})});
    const auto finding = cardOf(run, "log-nan-filter");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.step, 2);
    EXPECT_EQ(finding.evidence.front().line, 101);
    EXPECT_THAT(finding.reason, HasSubstr("2 steps with a loss of exactly 0"));
    EXPECT_THAT(finding.advice.front(), HasSubstr("logging_nan_inf_filter=False"));
}

TEST(NanFilter, NeitherAloneIsASign)
{
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {2, 0}), seriesOf("grad_norm", 1, {1, 1})}), "log-nan-filter"),
        FindingState::clear);
    EXPECT_EQ(
        stateOf(runWith({seriesOf("loss", 1, {2, 0.0001}), seriesOf("grad_norm", 1, {1, nan})}), "log-nan-filter"),
        FindingState::clear);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {2, 0})}), "log-nan-filter"), FindingState::notCheckable);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {2, 1})}), "log-nan-filter"), FindingState::clear);
    EXPECT_EQ(stateOf({}, "log-nan-filter"), FindingState::notCheckable);
}

RunData withoutLossAt(std::size_t place, double norm)
{
    auto run = runWith({seriesOf("loss", 1, {3, 2, 2, 2}), seriesOf("grad_norm", 1, {1, 1, norm, 1})});
    blank(run.series.front(), place);
    return run;
}

TEST(DroppedLoss, AStepWithoutALossBesideABadNorm)
{
    const auto finding = cardOf(withoutLossAt(2, nan), "log-dropped-loss");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.step, 3);
    EXPECT_EQ(finding.evidence[0].text, "loss reported without a value at step 3");
    EXPECT_EQ(stateOf(withoutLossAt(1, nan), "log-dropped-loss"), FindingState::clear) << "another step's norm";
    EXPECT_EQ(stateOf(withoutLossAt(2, 1), "log-dropped-loss"), FindingState::clear);
}

TEST(DroppedLoss, TheCounterOfMegatron)
{
    auto run = runWith({seriesOf("loss", 10, {3, 2}), seriesOf("nan_iterations", 10, {0, 4})});
    const auto finding = cardOf(run, "log-dropped-loss");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(finding.reason, HasSubstr("4 iterations up to step 11"));
    run.series[1] = seriesOf("nan_iterations", 10, {0, 0});
    EXPECT_EQ(stateOf(run, "log-dropped-loss"), FindingState::clear);
}

TEST(DroppedLoss, WithoutANormOnlyASkippedStepExplainsIt)
{
    auto run = withoutLossAt(2, 1);
    run.series.pop_back();
    EXPECT_EQ(stateOf(run, "log-dropped-loss"), FindingState::notCheckable);
    run.series.push_back(seriesOf("skipped_iterations", 1, {0, 0, 1, 0}));
    EXPECT_EQ(stateOf(run, "log-dropped-loss"), FindingState::clear);
    EXPECT_EQ(stateOf({}, "log-dropped-loss"), FindingState::notCheckable);
}

TEST(SmearedNan, OnlyAMovingAverageIsSmeared)
{
    auto run = runWith({seriesOf("loss", 1, {3, 2, nan, nan, nan}), seriesOf("lrm", 1, constant(5, 1))});
    const auto finding = cardOf(run, "log-smeared-nan");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.step, 3);
    EXPECT_THAT(finding.reason, HasSubstr("2 values after it"));
    run.series.pop_back();
    EXPECT_EQ(stateOf(run, "log-smeared-nan"), FindingState::clear);
    run = runWith({seriesOf("loss", 1, {3, nan, 2}), seriesOf("lrm", 1, constant(3, 1))});
    EXPECT_EQ(stateOf(run, "log-smeared-nan"), FindingState::clear);
    run.series.front() = seriesOf("loss", 1, {3, nan, nan});
    run.series.push_back(inSegment(seriesOf("loss", 1, {3, 2, 2}), 1));
    EXPECT_EQ(stateOf(run, "log-smeared-nan"), FindingState::fired) << "the attempt after it is fine";
    EXPECT_EQ(stateOf({}, "log-smeared-nan"), FindingState::notCheckable);
}

TEST(OneRank, CapturesOfRanksWithoutALog)
{
    auto run = runWith({seriesOf("loss", 1, {3, 2})});
    run.captures = {captureOf("a.pt", 0, hundred(1)), captureOf("b.pt", 3, hundred(1))};
    const auto finding = cardOf(run, "log-one-rank");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.reason, "no log line of rank 3");
    EXPECT_EQ(finding.evidence.front().file, "b.pt");
    auto line = eventOf(EventKind::traceback, {}, "RuntimeError");
    line.rank = 3;
    run.events = {line};
    EXPECT_EQ(stateOf(run, "log-one-rank"), FindingState::clear);
}

TEST(OneRank, ALaunchersSummaryIsNoLineOfItsRank)
{
    auto line = eventOf(EventKind::terminated, {}, "  exitcode  : -9 (pid: 1)", 77);
    line.rank = 5;
    const auto finding = cardOf(runWith({seriesOf("loss", 1, {3, 2})}, {line}), "log-one-rank");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.reason, "no log line of rank 5");
    EXPECT_EQ(finding.evidence.front().line, 77);
}

TEST(OneRank, ALineThatSpeaksOfAnotherRank)
{
    auto line =
        eventOf(EventKind::nanLoss, 253, "NaN/Inf detected on another rank at step 253 (consecutive=3, total=7)");
    const auto finding = cardOf(runWith({seriesOf("loss", 1, {3, 2})}, {line}), "log-one-rank");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.step, 253);
    EXPECT_FALSE(finding.rank) << "it is not the rank that prints";
}

TEST(OneRank, TakesNamesOfRanks)
{
    auto run = runWith({seriesOf("loss", 1, {3, 2})});
    EXPECT_EQ(cardOf(run, "log-one-rank").reason, "no rank is named");
    run.captures = {captureOf("a.pt", 0, hundred(1)), captureOf("b.pt", 1, hundred(1))};
    run.series.front().rank.reset();
    EXPECT_EQ(cardOf(run, "log-one-rank").confidence, "low") << "whose lines these are is not said";
    run.captures.pop_back();
    EXPECT_EQ(stateOf(run, "log-one-rank"), FindingState::notCheckable);
    run.series.clear();
    EXPECT_EQ(cardOf(run, "log-one-rank").reason, "no log is there");
}

TEST(Interval, OneLineInTen)
{
    const auto finding = cardOf(runWith({every(seriesOf("loss", 0, {3, 2, 2, nan}), 10)}), "log-interval");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.step, 30);
    EXPECT_THAT(
        finding.reason, HasSubstr("one step in 10 is logged; the first bad step lies after 20 and not after 30"));
    EXPECT_EQ(finding.evidence.size(), 2U);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 0, {3, 2, 2, nan})}), "log-interval"), FindingState::clear);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 0, {3})}), "log-interval"), FindingState::notCheckable);
    EXPECT_EQ(stateOf({}, "log-interval"), FindingState::notCheckable);
}

TEST(OverflowRank, DeepSpeedNamesTheRankThatPrints)
{
    auto line = eventOf(EventKind::skippedStep, {}, "[deepspeed] OVERFLOW! Rank 0 Skipping step.", 5);
    line.copies = 33;
    const auto finding = cardOf(runWith({}, {line}), "log-overflow-rank");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(finding.reason, HasSubstr("33 lines of overflow"));
    EXPECT_FALSE(finding.rank);
    say(line, "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 8");
    EXPECT_EQ(stateOf(runWith({}, {line}), "log-overflow-rank"), FindingState::clear);
    EXPECT_EQ(stateOf({}, "log-overflow-rank"), FindingState::notCheckable);
}

TEST(AnomalyMode, IsNoCleanBill)
{
    EXPECT_EQ(
        stateOf(runWith({}, {eventOf(EventKind::diagnosticFailed, {}, "x")}), "log-anomaly-mode"), FindingState::fired);
    EXPECT_EQ(
        stateOf(runWith({}, {}, {setting("debug.detect_anomaly", "True")}), "log-anomaly-mode"), FindingState::fired);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {1})}, {}, {setting("debug.detect_anomaly", "False")}),
                  "log-anomaly-mode"),
        FindingState::clear);
    EXPECT_EQ(stateOf({}, "log-anomaly-mode"), FindingState::notCheckable);
    const auto finding =
        cardOf(runWith({},
                   {eventOf(EventKind::nanLoss, {},
                       "RuntimeError: Function 'MulBackward0' returned nan values in its 0th output.")}),
            "log-anomaly-mode");
    EXPECT_THAT(finding.advice.front(), HasSubstr("neither Inf nor a NaN of the forward pass"));
}

TEST(AnomalyMode, IsSeenWhereItIsSwitchedOn)
{
    const TemporaryFolder folder;
    folder.write("train.log",
        "torch/autograd/anomaly_mode.py:76: UserWarning: Anomaly Detection has been enabled. This mode will increase "
        "the runtime and should only be enabled for debugging.\nstep:1 loss:2.5\n");
    const auto run = ingest::readRun(folder.path());
    ASSERT_TRUE(run);
    const auto finding = cardOf(*run, "log-anomaly-mode");
    EXPECT_EQ(finding.state, FindingState::fired);
    ASSERT_EQ(finding.evidence.size(), 1U);
    EXPECT_EQ(finding.evidence.front().line, 1);
}

TEST(WarningOnce, IsALowerBound)
{
    auto line = eventOf(EventKind::skippedStep, {}, "x.py:3: RuntimeWarning: skipping update for this step", 5);
    line.copies = 2;
    EXPECT_THAT(cardOf(runWith({}, {line}), "log-warning-once").reason, HasSubstr("2 lines"));
    say(line, "skipping update for this step");
    EXPECT_EQ(stateOf(runWith({}, {line}), "log-warning-once"), FindingState::clear);
    EXPECT_EQ(stateOf({}, "log-warning-once"), FindingState::notCheckable);
}

TEST(LogScanGaps, FiresWhereTheScannerSaysWhatItLeftOut)
{
    const auto line = eventOf(EventKind::other, {},
        "[hipBLASLt CHECK_NUMERICS] handle teardown: matmul calls [3..9] were NOT scanned (scan_every=10)", 5);
    const auto finding = cardOf(runWith({}, {line}), "log-scan-gaps");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.evidence.front().line, 5);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {2, 1})}), "log-scan-gaps"), FindingState::clear);
    EXPECT_EQ(stateOf({}, "log-scan-gaps"), FindingState::notCheckable);
}

TEST(CaptureGaps, FiresWhereTheHelperSaysThatItSawNoCall)
{
    const auto line = eventOf(EventKind::other, {},
        "[nanscope capture] no call was seen in 8 optimizer steps: no function that is watched ran", 5);
    const auto finding = cardOf(runWith({}, {line}), "capture-gaps");
    ASSERT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.evidence.front().line, 5);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {2, 1})}), "capture-gaps"), FindingState::clear);
    EXPECT_EQ(stateOf({}, "capture-gaps"), FindingState::notCheckable);
}

} // namespace
} // namespace nanscope
