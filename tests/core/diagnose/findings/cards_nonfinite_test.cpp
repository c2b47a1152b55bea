// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P8 to P11.
#include "tests/core/diagnose/findings/cardmaker.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

RunData anomalyOf(const std::string& op)
{
    return runWith({seriesOf("loss", 1, {2, nan})},
        {eventOf(
            EventKind::nanLoss, 2, "RuntimeError: Function '" + op + "' returned nan values in its 0th output.", 70)});
}

TEST(P8, NamesWhatAnOperationDoesAtItsEdge)
{
    const auto finding = cardOf(anomalyOf("SqrtBackward0"), "P8");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.confidence, "medium");
    EXPECT_EQ(finding.step, 2);
    EXPECT_EQ(finding.evidence.front().line, 70);
    EXPECT_THAT(finding.reason, HasSubstr("Sqrt: sqrt of a negative value, or its gradient at 0"));
    EXPECT_THAT(cardOf(anomalyOf("Log2Backward0"), "P8").reason, HasSubstr("logarithm of 0"));
    EXPECT_THAT(cardOf(anomalyOf("LogSoftmaxBackward0"), "P8").reason, HasSubstr("all -Inf"));
}

TEST(P8, WhatPassesNanOnIsOnlyAHint)
{
    EXPECT_EQ(cardOf(anomalyOf("AddmmBackward0"), "P8").confidence, "low");
    const auto unknown = cardOf(anomalyOf("ExpandBackward0"), "P8");
    EXPECT_EQ(unknown.confidence, "low");
    EXPECT_EQ(unknown.reason, "the first operation a checker names is Expand") << "an expand is no exp";
}

TEST(P8, KnowsTheCheckerOfJax)
{
    const auto run =
        runWith({}, {eventOf(EventKind::nanLoss, {}, "FloatingPointError: invalid value (nan) encountered in log")});
    EXPECT_THAT(cardOf(run, "P8").reason, HasSubstr("logarithm"));
}

TEST(P8, NamesWhatAnInstrumentSawFirst)
{
    const auto reason = [](const std::string& line) {
        return cardOf(runWith({}, {eventOf(EventKind::nanLoss, {}, line)}), "P8").reason;
    };
    EXPECT_EQ(
        reason("[hipBLASLt CHECK_NUMERICS] host peek: first NaN observed at sampled matmul call #17, window [1..20]"),
        "hipBLASLt's scanner of products saw the first bad value in matmul call #17");
    EXPECT_EQ(
        reason("#nixnan: error [NaN] detected in instruction HMMA.16816.F32 R0, R4 ; in function ns_step of type f16"),
        "a checker of GPU instructions saw the first bad value in HMMA.16816.F32 R0, R4 in kernel ns_step");
    EXPECT_EQ(reason("first bad value of the forward frames: layers.2.mlp Linear, output"),
        "Hugging Face's overflow tracer saw the first bad value in layers.2.mlp Linear, output");
    EXPECT_EQ(stateOf(runWith({}, {eventOf(EventKind::nanLoss, {}, "found NaN/Inf in local grad norm")}), "P8"),
        FindingState::notCheckable)
        << "it names no place";
}

RunData birthUpTo(double absmax)
{
    RunData run;
    run.captures = {captureOf("dump.pt", 3, hundred(absmax))};
    return run;
}

TEST(P8, AnInputBeyondFp16IsAFact)
{
    const std::vector<CaptureVerdict> birth {verdictOf("dump.pt", Role::birth)};
    const auto finding = cardOf(birthUpTo(65505), "P8", birth);
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.confidence, "low") << "the dump does not say that the run casts to fp16";
    EXPECT_THAT(finding.reason, HasSubstr("reaches 65505"));
    ASSERT_FALSE(finding.advice.empty());
    EXPECT_THAT(finding.advice.front(), HasSubstr("normalise in fp32"));
    for (const auto& advice : finding.advice) {
        EXPECT_THAT(advice, testing::Not(HasSubstr("softmax"))) << "softmax and log have no part in it";
    }
    EXPECT_EQ(finding.rank, 3);
    EXPECT_EQ(stateOf(birthUpTo(65504), "P8", birth), FindingState::clear);
    EXPECT_EQ(cardOf(birthUpTo(80384), "P8", {verdictOf("dump.pt", Role::birth, Blame::numerics)}).confidence, "high");
    EXPECT_EQ(stateOf(birthUpTo(80384), "P8", {verdictOf("dump.pt", Role::downstream)}), FindingState::notCheckable)
        << "of a contaminated input its size says nothing";
}

TEST(P8, InfinitiesWithoutNanSpeakOfOverflow)
{
    auto scan = hundred(10);
    scan.negInf = 4;
    scan.zero = 8;
    RunData run;
    run.captures = {captureOf("dump.pt", 3, scan)};
    const std::vector<CaptureVerdict> upstream {verdictOf("dump.pt", Role::upstream)};
    EXPECT_THAT(cardOf(run, "P8", upstream).reason, HasSubstr("log(0) leaves that"));
    run.captures.front().input.batches.front().posInf = 1;
    EXPECT_THAT(cardOf(run, "P8", upstream).reason, HasSubstr("5 values are infinite and none is NaN: an overflow"));
    run.captures.front().input.batches.front().negInf = 0;
    EXPECT_THAT(cardOf(run, "P8", upstream).reason, HasSubstr("1 value is infinite and none is NaN"));
    run.captures.front().input.batches.front().nan = 1;
    EXPECT_EQ(stateOf(run, "P8", upstream), FindingState::clear) << "NaN spreads: the classes say nothing then";
}

TEST(P8, SaysWhatIsMissing)
{
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {2, nan})}), "P8"), FindingState::notCheckable);
    EXPECT_EQ(stateOf({}, "P8"), FindingState::notCheckable);
    auto run = runWith({seriesOf("loss", 1, {2, 1})});
    EXPECT_EQ(stateOf(run, "P8"), FindingState::clear);
    run.series.front().nan = 1;
    EXPECT_EQ(stateOf(run, "P8"), FindingState::notCheckable) << "an earlier attempt had one";
}

TEST(P9, GivesTheLineOfTheForwardPass)
{
    auto run = anomalyOf("MulBackward0");
    auto warning = eventOf(EventKind::other, {},
        "UserWarning: Error detected in MulBackward0. Traceback of forward call that "
        "caused the error:",
        60);
    auto& raised = run.events.front();
    raised.detail = "  File \"train.py\", line 41, in <module>\n    loss.backward()\nthe forward call:\n"
                    "  File \"train.py\", line 40, in <module>\n    main()\n  File \"model.py\", line 12, in "
                    "forward\n    y = a * b";
    raised.facts = logtext::factsIn(raised.text, raised.detail);
    run.events.insert(run.events.begin(), warning);
    const auto finding = cardOf(run, "P9");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(finding.reason, HasSubstr("File \"model.py\", line 12, in forward"));
    EXPECT_EQ(finding.evidence.back().line, 60);
    EXPECT_THAT(finding.advice.front(), HasSubstr("neither Inf nor a NaN of the forward pass"));
}

TEST(P9, AFrameOfTheBackwardCallIsNotTheForwardLine)
{
    auto run = anomalyOf("MulBackward0");
    run.events.front().detail = "  File \"train.py\", line 41, in <module>\n    loss.backward()";
    run.events.front().facts = logtext::factsIn(run.events.front().text, run.events.front().detail);
    EXPECT_THAT(cardOf(run, "P9").reason, testing::Not(HasSubstr("train.py")));
}

TEST(P9, FiresWithoutAForwardTracebackToo)
{
    EXPECT_EQ(stateOf(anomalyOf("MulBackward0"), "P9"), FindingState::fired);
}

TEST(P9, SaysWhyNothingIsLocated)
{
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {2, 1})}), "P9"), FindingState::clear);
    EXPECT_EQ(stateOf({}, "P9"), FindingState::notCheckable);
    auto run = runWith({seriesOf("loss", 1, {2, nan})});
    EXPECT_EQ(cardOf(run, "P9").reason, "no line of anomaly mode is in the logs");
    run.events = {eventOf(EventKind::diagnosticFailed, {}, "no sharding strategy")};
    EXPECT_EQ(cardOf(run, "P9").reason, "anomaly mode itself failed");
}

Event skip(std::int64_t step)
{
    return eventOf(
        EventKind::skippedStep, step, "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale", step);
}

RunData skippedFrom(std::int64_t first, std::int64_t count)
{
    auto run = runWith({seriesOf("loss", 1, constant(100, 2.5))});
    for (std::int64_t step = first; step < first + count; ++step) {
        run.events.push_back(skip(step));
    }
    return run;
}

TEST(P10, FiveInARowAreACollapse)
{
    const auto finding = cardOf(skippedFrom(40, 5), "P10");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.severity, "error");
    EXPECT_EQ(finding.reason, "5 steps left out in a row, from step 40 to 44");
    EXPECT_EQ(finding.step, 40);
    EXPECT_EQ(stateOf(skippedFrom(40, 4), "P10"), FindingState::clear);
}

TEST(P10, OneSkipPerWindowIsNormal)
{
    auto run = skippedFrom(10, 1);
    for (const std::int64_t step : {20, 30, 40, 50, 60, 70}) {
        run.events.push_back(skip(step));
    }
    EXPECT_EQ(stateOf(run, "P10"), FindingState::clear);
}

TEST(P10, TheSearchForAScaleAtTheStartIsNoCollapse)
{
    EXPECT_EQ(stateOf(skippedFrom(1, 15), "P10"), FindingState::clear);
    auto run = skippedFrom(41, 8);
    run.events.push_back(eventOf(EventKind::resumed, 40, "Resumed from step 40", 200));
    EXPECT_EQ(stateOf(run, "P10"), FindingState::clear) << "nor where training went on";
}

/// One value per step: 65,536, then the given falls from step 11 on, one per step.
RunData fallingScale(int falls)
{
    auto scales = constant(10, 65536);
    for (int i = 1; i <= falls; ++i) {
        scales.push_back(65536.0 / (1 << i));
    }
    return runWith({seriesOf("loss_scale", 1, joined(scales, constant(20, scales.back())))});
}

TEST(P10, AScaleThatFallsFiveTimesInARow)
{
    const auto finding = cardOf(fallingScale(5), "P10");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.reason, "5 falls of the loss scale in a row, from step 11 to 15");
    EXPECT_EQ(finding.evidence.front().line, 110);
    EXPECT_EQ(stateOf(fallingScale(4), "P10"), FindingState::clear);
}

TEST(P10, AScaleDownToOneScalesNothing)
{
    EXPECT_EQ(stateOf(runWith({seriesOf("loss_scale", 1, {4, 4, 2, 2, 1})}), "P10"), FindingState::fired);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss_scale", 1, {4, 4, 2, 2, 2})}), "P10"), FindingState::clear);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss_scale", 1, {1, 1, 1})}), "P10"), FindingState::clear)
        << "that is how bf16 is printed";
}

TEST(P10, DeepSpeedSaysItself)
{
    const auto finding = cardOf(runWith({},
                                    {eventOf(EventKind::optimizerStop, {},
                                        "Exception: Current loss scale already at minimum - cannot decrease scale "
                                        "anymore. Exiting run.",
                                        317)}),
        "P10");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.confidence, "high");
    EXPECT_EQ(finding.evidence.front().line, 317);
}

Event scaleOverflow(std::int64_t line)
{
    return eventOf(EventKind::skippedStep, {},
        "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768", line);
}

TEST(P10, OverflowLinesWithoutAStepAreCountedBetweenTheLinesOfSteps)
{
    // One loss in ten steps; ten overflow lines between two of them: none of these steps was taken.
    auto run = runWith({every(seriesOf("loss", 0, constant(5, 2.5)), 10)});
    for (auto& point : run.series.front().points) {
        point.line = 100 + 20 * (point.step / 10);
    }
    const auto add = [&run](std::int64_t firstLine, int count) {
        for (int i = 0; i < count; ++i) {
            run.events.push_back(scaleOverflow(firstLine + i));
        }
    };
    add(141, 9);
    EXPECT_EQ(stateOf(run, "P10"), FindingState::clear) << "9 of 10: one was taken";
    add(150, 1);
    const auto finding = cardOf(run, "P10");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.reason, "10 steps left out in a row, from step 21 to 30");
}

TEST(P10, OverflowLinesWithoutALossScaleAreOfNoScaler)
{
    auto run = runWith({seriesOf("loss", 1, constant(60, 2.5))}, {}, {setting("bf16", "True")});
    for (std::int64_t step = 20; step < 40; ++step) {
        run.events.push_back(eventOf(EventKind::skippedStep, {}, "OVERFLOW! Rank 0 Skipping step.", 99 + step));
    }
    EXPECT_EQ(cardOf(run, "P10").reason, "the run does not compute in fp16")
        << "DeepSpeed leaves the scale away where nothing is scaled";
    EXPECT_EQ(stateOf(run, "P14"), FindingState::fired) << "they were left out all the same";
}

TEST(P10, LinesOfStepsThatWereWrittenAgainAreNotCountedForOneStep)
{
    auto run = runWith({seriesOf("loss", 1, constant(50, 2.5)), inSegment(seriesOf("loss", 31, constant(50, 2.5)), 1)});
    for (std::int64_t line = 131; line < 150; ++line) {
        run.events.push_back(scaleOverflow(line));
    }
    EXPECT_EQ(stateOf(run, "P10"), FindingState::clear) << "they were before training went back to step 31";
    EXPECT_EQ(stateOf(run, "P5"), FindingState::clear) << "19 of them would be more than a search for the scale";
}

TEST(P10, CountersOfMegatronAndDeepSpeedAreRead)
{
    const auto loss = every(seriesOf("loss", 10, constant(5, 2.5)), 10);
    EXPECT_EQ(stateOf(runWith({loss, every(seriesOf("skipped_iterations", 10, {0, 0, 10, 0, 0}), 10),
                          seriesOf("loss_scale", 10, {8})}),
                  "P10"),
        FindingState::fired);
    EXPECT_EQ(stateOf(runWith({loss, every(seriesOf("skipped_iterations", 10, {0, 0, 9, 0, 0}), 10),
                          seriesOf("loss_scale", 10, {8})}),
                  "P10"),
        FindingState::clear);
    EXPECT_EQ(stateOf(runWith({loss, every(seriesOf("skipped_steps", 10, {2, 2, 12, 12, 12}), 10),
                          seriesOf("loss_scale", 10, {8})}),
                  "P10"),
        FindingState::fired)
        << "DeepSpeed counts from the start of the run";
    EXPECT_EQ(stateOf(runWith({loss, every(seriesOf("skipped_steps", 10, {2, 2, 11, 12, 12}), 10),
                          seriesOf("loss_scale", 10, {8})}),
                  "P10"),
        FindingState::clear);
}

TEST(P10, ACounterThatBeginsAtAResumeIsASearchForAScale)
{
    auto run = runWith({every(seriesOf("loss", 10, constant(8, 2.5)), 10),
        every(seriesOf("skipped_iterations", 10, {0, 0, 0, 0, 10, 0, 0, 0}), 10), seriesOf("loss_scale", 10, {8})});
    EXPECT_EQ(stateOf(run, "P10"), FindingState::fired);
    run.events = {eventOf(EventKind::resumed, 40, "Resumed from step 40", 200)};
    EXPECT_EQ(stateOf(run, "P10"), FindingState::clear) << "steps 41 to 50 are the first after it";
}

TEST(P10, GuardsThatSkipAreNoOverflow)
{
    auto run = skippedFrom(40, 8);
    for (auto& event : run.events) {
        say(event,
            "RuntimeWarning: [NorMuon nan_guard_fallback] non-finite Newton-Schulz output detected; skipping update");
    }
    EXPECT_EQ(stateOf(run, "P10"), FindingState::notCheckable);
}

TEST(P10, TakesALossScale)
{
    EXPECT_EQ(stateOf({}, "P10"), FindingState::notCheckable);
    EXPECT_EQ(stateOf(runWith({}, {}, {setting("bf16", "True")}), "P10"), FindingState::clear);
    EXPECT_EQ(stateOf(runWith({}, {}, {setting("fp16", "True")}), "P10"), FindingState::notCheckable);
}

Series badAt(std::int64_t first, std::int64_t bad, std::int64_t last)
{
    std::vector<double> values;
    for (auto step = first; step <= last; ++step) {
        values.push_back(step >= bad ? nan : 2.5);
    }
    return seriesOf("loss", first, values);
}

TEST(P11, TwoAttemptsThatGoBadAtTheSameStep)
{
    const auto finding = cardOf(runWith({badAt(1, 41, 44), inSegment(badAt(31, 41, 43), 1)}), "P11");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.confidence, "medium");
    EXPECT_EQ(finding.step, 41);
    ASSERT_EQ(finding.evidence.size(), 2U);
    EXPECT_EQ(finding.evidence[0].line, 140);
    EXPECT_EQ(finding.evidence[1].line, 5010);
    EXPECT_THAT(finding.reason, HasSubstr("the batch, or anything else that repeats exactly"));
}

TEST(P11, DifferentStepsAcquitOneBatch)
{
    const auto finding = cardOf(runWith({badAt(1, 41, 44), inSegment(badAt(31, 42, 43), 1)}), "P11");
    EXPECT_EQ(finding.state, FindingState::clear);
    EXPECT_THAT(finding.reason, HasSubstr("(41, 42)"));
}

TEST(P11, OneRunAloneCannotTell)
{
    EXPECT_EQ(
        cardOf(runWith({badAt(1, 41, 44)}), "P11").reason, "one run alone cannot tell (its first bad step is 41)");
    const auto finding = cardOf(runWith({badAt(1, 41, 44), inSegment(badAt(41, 41, 43), 1)}), "P11");
    EXPECT_EQ(finding.state, FindingState::notCheckable) << "the second began with bad weights";
    EXPECT_EQ(stateOf({}, "P11"), FindingState::notCheckable);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {2, 1})}), "P11"), FindingState::clear);
}

TEST(P11, TwoLogsOfOneAttemptAreNotTwoAttempts)
{
    auto copy = badAt(1, 41, 44);
    copy.source = "metrics.csv";
    EXPECT_EQ(stateOf(runWith({badAt(1, 41, 44), copy}), "P11"), FindingState::notCheckable);
}

TEST(P11, TheDetectorCountsAttemptsFromNull)
{
    // KempnerForge prints no line for a step it leaves out; its warning has the number before.
    auto run = runWith({seriesOf("loss", 1, constant(40, 2.5)), inSegment(badAt(31, 41, 43), 1)},
        {eventOf(EventKind::nanLoss, 40, "NaN/Inf loss at step 40 (consecutive=1, total=1)", 140)});
    const auto finding = cardOf(run, "P11");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.step, 41);
}

TEST(P11, LinesEveryTenStepsLowerTheConfidence)
{
    const auto finding = cardOf(runWith({every(badAt(0, 4, 6), 10), inSegment(every(badAt(0, 4, 6), 10), 1)}), "P11");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.confidence, "low");
    EXPECT_THAT(finding.reason, HasSubstr("one line in 10 steps"));
}

} // namespace
} // namespace nanscope
