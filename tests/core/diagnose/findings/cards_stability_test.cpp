// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P15 to P19.
#include <cmath>

#include "tests/core/diagnose/findings/cardmaker.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

/// From 1 to `last`, in a straight line.
std::vector<double> line(std::size_t count, double last)
{
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) {
        values.push_back(1 + (last - 1) * static_cast<double>(i) / static_cast<double>(count - 1));
    }
    return values;
}

TEST(P15, LogitsThatGrowWithoutAnEnd)
{
    for (const auto* name :
        {"train/z_loss", "z-loss", "moe/router_z_loss", "log_z", "max_logit", "output_logits/max"}) {
        const auto finding = cardOf(runWith({seriesOf(name, 1, line(40, 4))}), "P15");
        EXPECT_EQ(finding.state, FindingState::fired) << name;
        EXPECT_EQ(finding.step, 40) << name;
        EXPECT_EQ(finding.evidence.size(), 2U) << name;
    }
}

TEST(P15, TwiceTheFirstQuarterIsTheLeast)
{
    // Medians of the quarters of a line from 1 to L lie at 1/8 and 7/8 of it, about.
    EXPECT_EQ(stateOf(runWith({seriesOf("z_loss", 1, line(400, 2.65))}), "P15"), FindingState::fired);
    EXPECT_EQ(stateOf(runWith({seriesOf("z_loss", 1, line(400, 2.55))}), "P15"), FindingState::clear);
}

TEST(P15, APlateauIsNoGrowth)
{
    EXPECT_EQ(
        stateOf(runWith({seriesOf("z_loss", 1, joined(line(30, 10), constant(30, 10)))}), "P15"), FindingState::clear);
    EXPECT_EQ(stateOf(runWith({seriesOf("z_loss", 1, joined(line(30, 10), line(30, 1)))}), "P15"), FindingState::clear);
}

TEST(P15, ALogitBeyondFp16)
{
    const auto with = [](double last, const std::string& format) {
        return runWith({seriesOf("max_logit", 1, joined(constant(50, 10), {last}))}, {}, {setting("dtype", format)});
    };
    EXPECT_EQ(stateOf(with(65505, "float16"), "P15"), FindingState::fired);
    EXPECT_EQ(stateOf(with(65504, "float16"), "P15"), FindingState::clear);
    EXPECT_EQ(stateOf(with(65505, "bfloat16"), "P15"), FindingState::clear);
}

TEST(P15, SaysThatNothingIsLogged)
{
    EXPECT_EQ(cardOf(runWith({seriesOf("loss", 1, line(50, 4))}), "P15").reason,
        "not logged: output logits, log Z or z-loss");
    EXPECT_EQ(stateOf(runWith({seriesOf("z_loss", 1, line(39, 4))}), "P15"), FindingState::notCheckable)
        << "too few to speak of quarters";
    auto unread = runWith({seriesOf("z_loss", 1, line(50, 4))});
    unread.series.front().points.clear();
    EXPECT_EQ(cardOf(unread, "P15").reason, "the points of z_loss were not read here");
    EXPECT_EQ(stateOf(runWith({seriesOf("max_attention_logit", 1, line(50, 4))}), "P15"), FindingState::notCheckable)
        << "that is P16's";
}

TEST(P16, AttentionLogitsThatGrow)
{
    const auto finding = cardOf(runWith({seriesOf("max_attention_logit", 1, line(40, 4))}), "P16");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(finding.reason, HasSubstr("has not settled"));
    EXPECT_EQ(stateOf(runWith({seriesOf("attn/logit_max", 1, constant(40, 4))}), "P16"), FindingState::clear);
    EXPECT_EQ(
        cardOf(runWith({seriesOf("z_loss", 1, line(40, 4))}), "P16").reason, "not logged: the largest attention logit");
}

Series lossBadAt(std::int64_t bad, int segment)
{
    return inSegment(seriesOf("loss", 1, joined(constant(static_cast<std::size_t>(bad - 1), 5), constant(3, nan))),
        segment, 1000 * (segment + 1));
}

Series rateOf(double rate, int segment)
{
    return inSegment(seriesOf("lr", 1, constant(20, rate)), segment, 1000 * (segment + 1));
}

TEST(P17, EveryRateGoesBadEarly)
{
    const auto finding =
        cardOf(runWith({lossBadAt(400, 0), rateOf(3e-4, 0), lossBadAt(499, 1), rateOf(1e-4, 1)}), "P17");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.confidence, "low");
    EXPECT_THAT(finding.reason, HasSubstr("0.0003 at step 400, 0.0001 at step 499"));
    EXPECT_EQ(finding.evidence.size(), 2U);
    EXPECT_EQ(stateOf(runWith({lossBadAt(400, 0), rateOf(3e-4, 0), lossBadAt(500, 1), rateOf(1e-4, 1)}), "P17"),
        FindingState::clear)
        << "step 500 is not before 500";
}

TEST(P17, TakesTwoRatesFromTheStart)
{
    EXPECT_EQ(stateOf(runWith({lossBadAt(400, 0), rateOf(3e-4, 0)}), "P17"), FindingState::notCheckable);
    EXPECT_EQ(stateOf(runWith({lossBadAt(400, 0), rateOf(3e-4, 0), lossBadAt(400, 1), rateOf(3e-4, 1)}), "P17"),
        FindingState::notCheckable)
        << "the same rate twice";
    auto resumed = lossBadAt(400, 1);
    for (auto& point : resumed.points) {
        point.step += 50;
    }
    EXPECT_EQ(stateOf(runWith({lossBadAt(400, 0), rateOf(3e-4, 0), resumed, rateOf(1e-4, 1)}), "P17"),
        FindingState::notCheckable)
        << "one that went on from a checkpoint is no start";
}

TEST(P18, FiftyTimesTheMean)
{
    const auto with = [](double last) { return runWith({seriesOf("grad_norm", 1, joined(constant(10, 2), {last}))}); };
    const auto finding = cardOf(with(101), "P18");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.step, 11);
    EXPECT_EQ(finding.evidence.front().line, 110);
    EXPECT_THAT(finding.reason, HasSubstr("101 at step 11"));
    EXPECT_EQ(stateOf(with(100), "P18"), FindingState::clear);
}

TEST(P18, AnInfiniteNormIsNotAFactor)
{
    EXPECT_EQ(stateOf(runWith({seriesOf("grad_norm", 1, joined(constant(12, 2), {inf, nan, 2}))}), "P18"),
        FindingState::clear);
}

TEST(P18, AHundredThatAreNextToNothing)
{
    const auto with = [](double value, std::size_t count) {
        return runWith({seriesOf("grad_norm", 1, joined(constant(10, 2), constant(count, value)))});
    };
    const auto finding = cardOf(with(1.9e-7, 100), "P18");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.step, 11);
    EXPECT_EQ(stateOf(with(1.9e-7, 99), "P18"), FindingState::clear);
    EXPECT_EQ(stateOf(with(2.1e-7, 100), "P18"), FindingState::clear);
    EXPECT_EQ(stateOf(with(0, 100), "P18"), FindingState::clear) << "0 may be 0.000 as printed";
}

TEST(P18, TakesElevenNorms)
{
    EXPECT_EQ(stateOf(runWith({seriesOf("grad_norm", 1, constant(10, 2))}), "P18"), FindingState::notCheckable);
    EXPECT_EQ(stateOf(runWith({seriesOf("grad_norm", 1, constant(11, 0))}), "P18"), FindingState::notCheckable)
        << "Megatron prints 0.000 where it did not measure";
    EXPECT_EQ(cardOf({}, "P18").reason, "no grad_norm is logged");
}

TEST(P19, TheFirstStepAtWhichTwoAttemptsDiffer)
{
    const auto run = runWith({seriesOf("loss", 1, {5, 4, 3, 2}), inSegment(seriesOf("loss", 2, {4, 3.03, 2}), 1)});
    const auto finding = cardOf(run, "P19");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.severity, "info");
    EXPECT_EQ(finding.step, 3);
    EXPECT_THAT(finding.reason, HasSubstr("their losses first differ at step 3 of 3 in common"));
    EXPECT_EQ(finding.evidence[0].line, 102);
    EXPECT_EQ(finding.evidence[1].line, 5001);
}

TEST(P19, EqualAsPrintedIsNoProof)
{
    const auto finding =
        cardOf(runWith({seriesOf("loss", 1, {5, 4, nan}), inSegment(seriesOf("loss", 2, {4, nan}), 1)}), "P19");
    EXPECT_EQ(finding.state, FindingState::clear);
    EXPECT_THAT(finding.reason, HasSubstr("no proof of equal bits"));
}

TEST(P19, RunsThatDifferFromTheirFirstStepWereNotRepeated)
{
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {5, 4}), inSegment(seriesOf("loss", 1, {5.04, 4}), 1)}), "P19"),
        FindingState::notCheckable)
        << "a sweep in one log";
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {5, 4}), inSegment(seriesOf("loss", 1, {5, 4.05}), 1)}), "P19"),
        FindingState::notCheckable)
        << "more than 1 % apart";
}

TEST(P19, ReadsTheKnobs)
{
    const auto knobs = [](const std::string& deterministic) {
        return runWith({}, {}, {setting("seed", "1337", 1), setting("torch.deterministic", deterministic, 2)});
    };
    EXPECT_EQ(stateOf(knobs("True"), "P19"), FindingState::clear);
    const auto off = cardOf(knobs("False"), "P19");
    EXPECT_EQ(off.state, FindingState::fired);
    EXPECT_EQ(off.reason, "seed = 1337; torch.deterministic = False");
    EXPECT_EQ(off.evidence.size(), 2U);
    auto run = knobs("True");
    run.settings.push_back(setting("cudnn.benchmark", "True"));
    EXPECT_EQ(stateOf(run, "P19"), FindingState::fired);
    EXPECT_EQ(cardOf(runWith({}, {}, {setting("seed", "1337")}), "P19").reason,
        "seed = 1337; deterministic kernels not in the configuration");
    EXPECT_EQ(cardOf({}, "P19").reason, "no configuration is logged");
}

} // namespace
} // namespace nanscope
