// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P12 to P14, and the rules of spikes.
#include <cmath>

#include "core/diagnose/findings/spikerules.h"
#include "core/probe/nandetector.h"
#include "tests/core/diagnose/findings/cardmaker.h"

namespace nanscope {
namespace {

using diagnose::cards::findSpikeRule;
using testing::HasSubstr;

/// `count` values of 1, then the given ones, then ten of 1.
RunData spiking(std::size_t count, const std::vector<double>& then, const std::string& name = "loss")
{
    return runWith({seriesOf(name, 1, joined(joined(constant(count, 1), then), constant(10, 1)))});
}

Finding byRule(const RunData& run, const std::string& rule)
{
    return cardOf(run, "P12", {}, {{}, rule});
}

TEST(P12, LlmFoundryTakesFiveInARowAtTwiceTheMean)
{
    const auto finding = cardOf(spiking(100, constant(5, 2.2)), "P12");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.step, 101);
    EXPECT_EQ(finding.rank, 0);
    EXPECT_EQ(finding.evidence.front().line, 200);
    EXPECT_THAT(finding.reason, HasSubstr("the loss is 2.2 at step 101, limit 2; back below at step 106"));
    EXPECT_THAT(finding.threshold, HasSubstr("llm-foundry")) << "it is the default rule";
    EXPECT_EQ(stateOf(spiking(100, constant(4, 2.2)), "P12"), FindingState::clear);
    EXPECT_EQ(stateOf(spiking(100, constant(5, 1.99)), "P12"), FindingState::clear);
    EXPECT_EQ(stateOf(spiking(100, {2.2, 2.2, 1, 2.2, 2.2, 2.2}), "P12"), FindingState::clear);
}

TEST(P12, LlmFoundryTakesAFullWindow)
{
    const auto finding = cardOf(spiking(84, constant(5, 2.2)), "P12");
    EXPECT_EQ(finding.state, FindingState::notCheckable);
    EXPECT_EQ(finding.reason, "99 finite values of loss are logged, the llm-foundry rule needs 105");
}

TEST(P12, MegatronTakesTenTimesTheLargestOfTheFirstHundred)
{
    auto values = constant(100, 1);
    values[3] = 2;
    const auto with = [&](double last) { return runWith({seriesOf("loss", 1, joined(values, {last}))}); };
    EXPECT_EQ(byRule(with(20), "megatron").state, FindingState::fired);
    EXPECT_EQ(byRule(with(19.9), "megatron").state, FindingState::clear);
    EXPECT_THAT(byRule(with(20), "megatron").reason, HasSubstr("the log ends in it"));
    EXPECT_EQ(byRule(runWith({seriesOf("loss", 1, values)}), "megatron").state, FindingState::notCheckable);
}

TEST(P12, OlmoTakesSixDeviations)
{
    // Half 1, half 3: mean 2, deviation 1.008 of 64 values.
    std::vector<double> values;
    for (int i = 0; i < 64; ++i) {
        values.push_back(i % 2 == 0 ? 1 : 3);
    }
    const auto with = [&](double last) { return runWith({seriesOf("loss", 1, joined(values, {last}))}); };
    EXPECT_EQ(byRule(with(8.06), "olmo").state, FindingState::fired);
    EXPECT_EQ(byRule(with(8.04), "olmo").state, FindingState::clear);
    EXPECT_EQ(byRule(runWith({seriesOf("loss", 1, constant(200, 1))}), "olmo").state, FindingState::clear)
        << "a loss that does not move is no outlier of itself";
}

TEST(P12, LightningTakesTheMeanOfTenAndTwiceItOnTop)
{
    EXPECT_EQ(byRule(spiking(10, {3}), "lightning").state, FindingState::fired);
    EXPECT_EQ(byRule(spiking(10, {2.99}), "lightning").state, FindingState::clear);
}

TEST(P12, EntrenarTakesThreeTimesAMovingAverage)
{
    EXPECT_EQ(byRule(spiking(10, {3}), "entrenar").state, FindingState::fired);
    EXPECT_EQ(byRule(spiking(10, {2.99}), "entrenar").state, FindingState::clear);
}

TEST(P12, ZclipLooksAtTheGradientNorm)
{
    std::vector<double> norms;
    for (int i = 0; i < 25; ++i) {
        norms.push_back(i % 2 == 0 ? 1 : 3);
    }
    const auto with = [&](double last) { return runWith({seriesOf("grad_norm", 1, joined(norms, {last}))}); };
    // Mean 1.96, deviation 1.0198 of 25 values.
    EXPECT_EQ(byRule(with(4.52), "zclip").state, FindingState::fired);
    EXPECT_EQ(byRule(with(4.50), "zclip").state, FindingState::clear);
    EXPECT_THAT(byRule(with(4.52), "zclip").reason, HasSubstr("the gradient norm is 4.52"));
    EXPECT_EQ(byRule(spiking(50, constant(5, 9)), "zclip").reason, "no grad_norm is logged");
}

TEST(P12, OneHugeValueIsForgotten)
{
    // A running sum would keep its rounding and set a limit of nonsense.
    const auto run = spiking(150, joined({1e30}, constant(300, 1)));
    EXPECT_EQ(stateOf(run, "P12"), FindingState::clear);
}

TEST(P12, NonFiniteValuesAreAnotherMatter)
{
    EXPECT_EQ(stateOf(spiking(120, joined({nan, inf}, constant(5, 1))), "P12"), FindingState::clear);
}

TEST(P12, AFactorSaysNothingOfNegativeLosses)
{
    EXPECT_EQ(stateOf(spiking(120, {-1}), "P12"), FindingState::notCheckable);
    EXPECT_EQ(stateOf(spiking(120, {}, "other"), "P12"), FindingState::notCheckable);
}

TEST(P12, SaysWhereTheLearningRateStood)
{
    auto run = spiking(100, constant(5, 2.2));
    std::vector<double> rates;
    for (int i = 1; i <= 115; ++i) {
        rates.push_back(std::min(i, 110) * 1e-5);
    }
    run.series.push_back(seriesOf("lr", 1, rates));
    EXPECT_THAT(cardOf(run, "P12").reason, HasSubstr("while the learning rate still rose (to 0.0011 at step 110)"));
    run.series.back() = seriesOf("lr", 1, constant(115, 1e-3));
    EXPECT_THAT(cardOf(run, "P12").reason, testing::Not(HasSubstr("learning rate")));
    run.settings = {setting("lr_scheduler.warmup_steps", "200")};
    EXPECT_THAT(cardOf(run, "P12").reason, HasSubstr("within the warmup (lr_scheduler.warmup_steps = 200)"));
    run.settings = {setting("lr_scheduler.warmup_steps", "100")};
    EXPECT_THAT(cardOf(run, "P12").reason, testing::Not(HasSubstr("warmup")));
}

TEST(P12, AGradientNormThatRoseFirstIsEvidence)
{
    auto run = spiking(100, constant(5, 2.2));
    auto norms = constant(115, 1);
    norms[92] = 30;
    run.series.push_back(seriesOf("grad_norm", 1, norms));
    const auto finding = cardOf(run, "P12");
    ASSERT_EQ(finding.evidence.size(), 2U);
    EXPECT_EQ(finding.evidence[1].text, "grad_norm is 30 at step 93, 8 steps before and 30 times the mean before it");
}

TEST(P12, BelievesTheTrainersOwnMonitor)
{
    const auto run = runWith({seriesOf("loss", 1, constant(20, 1))},
        {eventOf(EventKind::lossSpike, {}, "Loss spike detected for 5 steps. Try lowering the learning rate.", 9)});
    const auto finding = cardOf(run, "P12");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.evidence.front().line, 9);
}

TEST(SpikeRules, AreFoundByName)
{
    EXPECT_EQ((*findSpikeRule("olmo"))->factor, 6);
    EXPECT_EQ(diagnose::cards::defaultSpikeRule().name, "llm-foundry");
    const auto unknown = findSpikeRule("olmoe");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
    EXPECT_THAT(unknown.error().what, HasSubstr("the nearest are olmo, "));
}

RunData clippedAt(double norm, std::size_t over, const std::string& name = "optim.max_norm")
{
    return runWith({seriesOf("grad_norm", 1, joined(constant(200 - over, 0.1), constant(over, norm)))}, {},
        {setting(name, "1.0")});
}

TEST(P13, NearlyAllOfTheLastTwoHundred)
{
    const auto finding = cardOf(clippedAt(2.5, 198), "P13");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.severity, "info");
    EXPECT_EQ(finding.reason, "198 of the last 200 logged gradient norms reach optim.max_norm = 1.0");
    EXPECT_EQ(stateOf(clippedAt(2.5, 197), "P13"), FindingState::clear);
}

TEST(P13, ANormLoggedAfterClippingLiesAtTheLimit)
{
    EXPECT_EQ(stateOf(clippedAt(1.0, 200), "P13"), FindingState::fired);
    EXPECT_EQ(stateOf(clippedAt(0.99, 200), "P13"), FindingState::clear);
}

TEST(P13, TakesALimitAndTwoHundredNorms)
{
    for (const auto* name : {"clip_grad", "train.clip_grad_norm", "gradient_clipping", "MAX_GRAD_NORM", "grad-clip"}) {
        EXPECT_EQ(stateOf(clippedAt(2.5, 200, name), "P13"), FindingState::fired) << name;
    }
    EXPECT_EQ(stateOf(clippedAt(2.5, 200, "weight_norm"), "P13"), FindingState::notCheckable);
    auto run = clippedAt(2.5, 200);
    run.settings.front().value = "0.0";
    EXPECT_EQ(stateOf(run, "P13"), FindingState::notCheckable) << "0 turns it off";
    run = clippedAt(2.5, 199);
    run.series.front().points.pop_back();
    EXPECT_EQ(cardOf(run, "P13").reason, "199 finite gradient norms are logged, the rule needs 200");
    run.series.clear();
    EXPECT_EQ(cardOf(run, "P13").reason, "no grad_norm is logged");
}

Event guarded(std::int64_t step)
{
    return eventOf(EventKind::skippedStep, step, "skipping step: non-finite gradient", step);
}

/// A loss of steps 1 to 100, and these left out.
RunData leavingOut(const std::vector<std::int64_t>& steps)
{
    auto run = runWith({seriesOf("loss", 1, constant(100, 2.5))});
    for (const auto step : steps) {
        run.events.push_back(guarded(step));
    }
    return run;
}

TEST(P14, AColumnThatCountsFromTheStart)
{
    const auto run = [](const std::vector<double>& column) {
        return runWith({seriesOf("loss", 1, constant(column.size(), 2)), seriesOf("skipped_steps", 1, column)});
    };
    const auto counter = joined(joined(constant(30, 0), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), constant(20, 10));
    EXPECT_EQ(cardOf(run(counter), "P14").reason, "10 steps were left out in a row, from step 31 to 40");
    EXPECT_EQ(stateOf(run(joined(counter, constant(20, 0))), "P14"), FindingState::fired)
        << "it falls once, where training began anew";
}

TEST(P14, AColumnThatSaysOfEachRowWhetherItWasSkipped)
{
    std::vector<double> flags;
    for (int i = 0; i < 40; ++i) {
        flags.push_back(i >= 20 && i % 3 != 2 ? 1 : 0);
    }
    const auto run = runWith({seriesOf("loss", 1, constant(40, 2)), seriesOf("skipped_steps", 1, flags)});
    EXPECT_THAT(cardOf(run, "P14").reason, HasSubstr("0 steps left out up to step 20, 13 after it"));
}

TEST(P12, TheLeadIsTheRiseAndNotTheNoiseBefore)
{
    auto run = spiking(100, constant(5, 2.2));
    auto norms = constant(115, 1);
    norms[82] = 2.1;
    std::fill(norms.begin() + 92, norms.begin() + 100, 30);
    run.series.push_back(seriesOf("grad_norm", 1, norms));
    EXPECT_THAT(cardOf(run, "P12").evidence[1].text, HasSubstr("grad_norm is 30 at step 93, 8 steps before"));
    std::fill(norms.begin() + 92, norms.begin() + 100, 1);
    norms[82] = 1.9;
    run.series.back() = seriesOf("grad_norm", 1, norms);
    EXPECT_EQ(cardOf(run, "P12").evidence.size(), 1U) << "1.9 times the mean is no rise";
}

TEST(P14, TenInARow)
{
    EXPECT_EQ(cardOf(leavingOut({31, 32, 33, 34, 35, 36, 37, 38, 39, 40}), "P14").reason,
        "10 steps were left out in a row, from step 31 to 40");
    EXPECT_EQ(stateOf(leavingOut({31, 32, 33, 34, 35, 36, 37, 38, 39}), "P14"), FindingState::clear);
}

TEST(P14, FiveInTheSecondHalfAndTwiceTheFirst)
{
    const auto finding = cardOf(leavingOut({10, 20, 60, 70, 80, 90, 95}), "P14");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.reason, "2 steps left out up to step 50, 5 after it");
    EXPECT_EQ(finding.evidence.front().line, 95);
    EXPECT_EQ(stateOf(leavingOut({10, 20, 30, 60, 65, 70, 80, 90, 95}), "P14"), FindingState::fired) << "6 are twice 3";
    EXPECT_EQ(stateOf(leavingOut({10, 20, 60, 70, 80, 90}), "P14"), FindingState::clear) << "4 are too few";
    EXPECT_EQ(stateOf(leavingOut({10, 20, 30, 60, 70, 80, 90, 95}), "P14"), FindingState::clear) << "5 are not twice 3";
}

TEST(P14, TheSearchForAScaleIsNotARate)
{
    EXPECT_EQ(stateOf(leavingOut({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), "P14"), FindingState::clear);
    auto run = leavingOut({1, 2, 3, 4, 5, 60, 70, 80, 90, 95});
    EXPECT_EQ(cardOf(run, "P14").reason, "0 steps left out up to step 50, 5 after it");
}

TEST(P14, APythonWarningIsShownOnce)
{
    auto run = runWith({seriesOf("loss", 1, constant(100, 2.5))});
    run.events = {eventOf(EventKind::skippedStep, {},
        "/venv/dion/normuon.py:318: RuntimeWarning: [NorMuon nan_guard_fallback] non-finite Newton-Schulz output "
        "detected; "
        "skipping update for this step on all ranks (shape=(2, 160, 96)).",
        150)};
    const auto finding = cardOf(run, "P14");
    EXPECT_EQ(finding.state, FindingState::notCheckable);
    EXPECT_EQ(finding.reason, "at least 1 skipped step: Python prints the same warning once");
}

TEST(P14, TheDetectorsAttemptsWereLeftOut)
{
    auto run = runWith({seriesOf("loss", 1, constant(100, 2.5))});
    for (std::int64_t step = 40; step < 50; ++step) {
        const NanMessage said {step, false, step - 39, step - 39, 2.5, 39};
        run.events.push_back(eventOf(EventKind::nanLoss, step, probe::textOf(said, probe::NanAction::skip), step));
    }
    EXPECT_EQ(cardOf(run, "P14").reason, "10 steps were left out in a row, from step 41 to 50");
}

TEST(P14, SaysWhatIsMissing)
{
    EXPECT_EQ(cardOf(runWith({seriesOf("loss", 1, {2, 1})}), "P14").reason, "skipped steps are not logged");
    EXPECT_EQ(
        cardOf(runWith({}, {eventOf(EventKind::skippedStep, {}, "OVERFLOW! Rank 0 Skipping step.")}), "P14").reason,
        "1 skipped step without a step beside them");
}

} // namespace
} // namespace nanscope
