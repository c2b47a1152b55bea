// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// P1 to P7, and what they read of configurations and GPUs.
#include <cmath>

#include <fmt/format.h>

#include "core/diagnose/context/settings.h"
#include "tests/core/diagnose/findings/cardmaker.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MemberResult member(const std::string& precision, int finite, int reproducing)
{
    MemberResult result;
    result.variant = "deepspeed-gram";
    result.precision = precision;
    result.roundings = 8;
    result.finite = finite;
    result.reproducing = reproducing;
    return result;
}

CaptureVerdict birthWith(std::vector<MemberResult> members, Blame blame = Blame::undecided)
{
    auto verdict = verdictOf("dump.pt", Role::birth, blame);
    verdict.members = std::move(members);
    return verdict;
}

TEST(P1, AnFp16ReplayThatEndsLikeTheDumpBesideAFiniteOneSpeaksOfRange)
{
    const auto finding = cardOf({}, "P1", {birthWith({member("fp16", 0, 8), member("bf16", 8, 0)})});
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(finding.reason, HasSubstr("ends like the dump (8 of 8 replays)"));
    EXPECT_EQ(finding.confidence, "low") << "nothing says that the run computes in fp16";
    EXPECT_EQ(finding.step, 5);
    EXPECT_EQ(finding.rank, 3);
    EXPECT_EQ(finding.evidence.front().file, "dump.pt");
}

TEST(P1, WhatTheVerdictOrTheConfigurationSaysRaisesTheConfidence)
{
    const std::vector<MemberResult> members {member("fp16", 0, 8), member("fp32", 8, 0)};
    EXPECT_EQ(cardOf({}, "P1", {birthWith(members, Blame::numerics)}).confidence, "high");
    const auto run = runWith({}, {}, {setting("fp16.enabled", "true")});
    EXPECT_EQ(cardOf(run, "P1", {birthWith(members)}).confidence, "medium");
}

TEST(P1, BadInEveryFormatIsNotARange)
{
    EXPECT_EQ(stateOf({}, "P1", {birthWith({member("fp16", 0, 8), member("bf16", 0, 8)})}), FindingState::clear);
    EXPECT_EQ(stateOf({}, "P1", {birthWith({member("fp16", 0, 8), member("bf16", 7, 0)})}), FindingState::clear)
        << "one rounding of eight is bad in bf16, too";
    EXPECT_EQ(stateOf({}, "P1", {birthWith({member("fp16", 0, 0), member("bf16", 8, 0)})}), FindingState::clear)
        << "bad in fp16, but not like the dump";
}

TEST(P1, TakesABirthThatWasReplayed)
{
    EXPECT_EQ(stateOf({}, "P1"), FindingState::notCheckable);
    EXPECT_EQ(stateOf({}, "P1", {birthWith({})}), FindingState::notCheckable);
}

RunData fp32On(const std::string& gpu, const std::string& tf32)
{
    return runWith({}, {},
        {setting("dtype", "float32", 1), setting("gpu.name", gpu, 2),
            setting("backends.cuda.matmul.allow_tf32", tf32, 3)});
}

TEST(P2, Fp32WithTf32OffOnAmpereIsSlow)
{
    const auto finding = cardOf(fp32On("NVIDIA A100-SXM4-80GB", "False"), "P2");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.severity, "info");
    EXPECT_THAT(finding.reason, HasSubstr("compute capability 8.0"));
    EXPECT_EQ(finding.evidence.front().line, 3);
    EXPECT_EQ(finding.evidence.front().text, "backends.cuda.matmul.allow_tf32 = False");
}

TEST(P2, IsClearWhereTf32IsOnOrCannotBe)
{
    EXPECT_EQ(stateOf(fp32On("NVIDIA A100-SXM4-80GB", "True"), "P2"), FindingState::clear);
    EXPECT_EQ(stateOf(fp32On("Tesla V100-SXM2-16GB", "False"), "P2"), FindingState::clear) << "7.0 has none";
    auto run = fp32On("NVIDIA A100-SXM4-80GB", "False");
    run.settings.push_back(setting("bf16", "True"));
    EXPECT_EQ(stateOf(run, "P2"), FindingState::clear) << "its products are not fp32";
}

TEST(P2, TakesFormatGpuAndSwitch)
{
    auto run = fp32On("NVIDIA A100-SXM4-80GB", "False");
    run.settings[2].name = "backends.cudnn.allow_tf32";
    EXPECT_EQ(stateOf(run, "P2"), FindingState::notCheckable) << "that is the switch for convolutions";
    run = fp32On("a card of tomorrow", "False");
    EXPECT_EQ(stateOf(run, "P2"), FindingState::notCheckable);
    EXPECT_EQ(cardOf({}, "P2").reason, "no configuration is logged");
}

RunData formatOn(const std::string& name, const std::string& value, const std::string& gpu)
{
    return runWith({}, {}, {setting(name, value, 1), setting("gpu.name", gpu, 2)});
}

TEST(P3, Bf16NeedsCapability80)
{
    const auto finding = cardOf(formatOn("mixed_precision", "bf16", "Tesla T4"), "P3");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.reason, "bf16 on a GPU of compute capability 7.5: the hardware for it comes with 8.0");
    EXPECT_EQ(finding.evidence[1].text, "gpu.name = Tesla T4");
    EXPECT_EQ(stateOf(formatOn("bf16", "True", "NVIDIA A100-PCIE-40GB"), "P3"), FindingState::clear);
    EXPECT_EQ(stateOf(formatOn("bf16", "False", "Tesla T4"), "P3"), FindingState::notCheckable);
}

TEST(P3, Fp8NeedsCapability89)
{
    EXPECT_EQ(stateOf(formatOn("fp8", "hybrid", "NVIDIA RTX A6000"), "P3"), FindingState::fired);
    EXPECT_EQ(stateOf(formatOn("fp8", "hybrid", "NVIDIA L4"), "P3"), FindingState::clear);
    EXPECT_EQ(stateOf(formatOn("fp8", "None", "NVIDIA RTX A6000"), "P3"), FindingState::notCheckable);
}

TEST(P3, TheLeastCapableGpuOfARunCounts)
{
    auto run = formatOn("dtype", "bfloat16", "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(stateOf(run, "P3"), FindingState::clear);
    run.settings.push_back(setting("gpu.capability", "7.0"));
    EXPECT_EQ(stateOf(run, "P3"), FindingState::fired);
}

TEST(P3, SaysWhatIsMissing)
{
    EXPECT_EQ(cardOf(runWith({}, {}, {setting("bf16", "True")}), "P3").reason, "no GPU name in the logs");
    EXPECT_EQ(cardOf(formatOn("bf16", "True", "a card of tomorrow"), "P3").reason,
        "the GPU is not in the list of known ones");
    EXPECT_EQ(cardOf(formatOn("seed", "1", "Tesla T4"), "P3").reason, "no number format in the configuration");
    EXPECT_EQ(stateOf(formatOn("fp16", "True", "Tesla T4"), "P3"), FindingState::clear);
}

TEST(Gpus, AreKnownByTheNamesThatDriversGive)
{
    using diagnose::cards::Capability;
    for (const auto& [name, major, minor] : std::vector<std::tuple<std::string, int, int>> {{"NVIDIA GB10", 12, 1},
             {"NVIDIA GeForce RTX 5090", 12, 0}, {"NVIDIA RTX PRO 6000 Blackwell Server Edition", 12, 0},
             {"NVIDIA B200", 10, 0}, {"NVIDIA H200", 9, 0}, {"NVIDIA GH200 480GB", 9, 0}, {"NVIDIA L40S", 8, 9},
             {"NVIDIA RTX 6000 Ada Generation", 8, 9}, {"NVIDIA RTX 5000 Ada Generation", 8, 9},
             {"NVIDIA GeForce RTX 4070 Ti", 8, 9}, {"NVIDIA A10", 8, 6}, {"NVIDIA GeForce RTX 3090", 8, 6},
             {"NVIDIA A30", 8, 0}, {"Quadro RTX 4000", 7, 5}, {"NVIDIA GeForce RTX 2080 Ti", 7, 5},
             {"Tesla V100-PCIE-32GB", 7, 0}, {"Tesla P4", 6, 1}, {"Tesla P100-PCIE-16GB", 6, 0}}) {
        const auto found = diagnose::cards::capabilityOf(name);
        ASSERT_TRUE(found) << name;
        EXPECT_EQ(*found, (Capability {major, minor})) << name;
    }
    EXPECT_FALSE(diagnose::cards::capabilityOf("AMD Instinct MI300X"));
    EXPECT_FALSE(diagnose::cards::capabilityOf("NVIDIA T400")) << "not a T4";
}

TEST(Gpus, CapabilitiesAreReadInEverySpelling)
{
    for (const auto* text : {"8.6", "(8, 6)", "sm_86", "[8,6]"}) {
        const auto gpu = diagnose::cards::leastGpu(runWith({}, {}, {setting("env.gpu.capability", text)}));
        ASSERT_TRUE(gpu) << text;
        EXPECT_EQ(gpu->capability, (diagnose::cards::Capability {8, 6})) << text;
    }
    EXPECT_EQ(diagnose::cards::leastGpu(runWith({}, {}, {setting("gpu.capability", "sm_120")}))->capability,
        (diagnose::cards::Capability {12, 0}));
    EXPECT_FALSE(diagnose::cards::leastGpu(runWith({}, {}, {setting("gpu.capability", "good")})));
}

TEST(Formats, AreReadUnderTheirManyNames)
{
    const auto of = [](const std::string& name, const std::string& value) {
        const RunData run = runWith({}, {}, {setting(name, value)});
        const auto formats = diagnose::cards::formatsOf(run);
        return std::vector<bool> {formats.fp32 != nullptr, formats.bf16 != nullptr, formats.fp16 != nullptr};
    };
    for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>> {
             {"model.dtype", "torch.bfloat16"}, {"trainer.precision", "bf16-mixed"}, {"--bf16", "True"},
             {"bf16.enabled", "true"}, {"training.mixed_precision_param", "'bfloat16'"}}) {
        EXPECT_THAT(of(name, value), ElementsAre(false, true, false)) << name;
    }
    for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>> {
             {"dtype", "float16"}, {"precision", "16-mixed"}, {"params_dtype", "torch.half"}, {"FP16", "1"}}) {
        EXPECT_THAT(of(name, value), ElementsAre(false, false, true)) << name;
    }
    EXPECT_THAT(of("mixed_precision", "no"), ElementsAre(true, false, false));
    EXPECT_THAT(of("fp16", "False"), ElementsAre(false, false, false)) << "which says nothing of what it is instead";
    EXPECT_THAT(of("dtype", "auto"), ElementsAre(false, false, false));
    EXPECT_THAT(of("reduce_dtype", "float32"), ElementsAre(false, false, false));
}

TEST(P4, FiresOnErrorsThatNameFormats)
{
    for (const auto* text : {"RuntimeError: expected scalar type Half but found Float",
             "RuntimeError: mat1 and mat2 must have the same dtype, but got BFloat16 and Float",
             "ValueError: Attempting to unscale FP16 gradients.",
             "Input type (torch.cuda.HalfTensor) and weight type (torch.cuda.FloatTensor) should be the same",
             "FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated."}) {
        const auto finding = cardOf(runWith({}, {eventOf(EventKind::traceback, 12, text, 40)}), "P4");
        EXPECT_EQ(finding.state, FindingState::fired) << text;
        EXPECT_EQ(finding.confidence, "low");
        EXPECT_EQ(finding.step, 12);
        EXPECT_EQ(finding.evidence.front().line, 40);
    }
}

TEST(P4, TakesAConsole)
{
    EXPECT_EQ(stateOf(runWith({}, {eventOf(EventKind::traceback, {}, "RuntimeError: shapes differ")}), "P4"),
        FindingState::clear);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {1, 2})}), "P4"), FindingState::clear) << "train.log is a console";
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {1, 2}, "metrics.csv")}), "P4"), FindingState::notCheckable);
    EXPECT_EQ(stateOf({}, "P4"), FindingState::notCheckable);
}

Event overflow(std::int64_t line, std::optional<std::int64_t> step = {})
{
    return eventOf(EventKind::skippedStep, step,
        "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768", line);
}

/// Steps left out from the first on, one event each.
RunData leftOutFromStart(std::int64_t count)
{
    auto run = runWith({seriesOf("loss", 1, constant(60, 2.5))});
    for (std::int64_t step = 1; step <= count; ++step) {
        run.events.push_back(overflow(10 + step, step));
    }
    return run;
}

TEST(P5, ASearchForTheScaleEndsAfterItsHalvings)
{
    EXPECT_EQ(stateOf(leftOutFromStart(18), "P5"), FindingState::clear) << "65,536 takes 16 halvings, hysteresis 2";
    const auto finding = cardOf(leftOutFromStart(19), "P5");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.step, 1);
    EXPECT_THAT(finding.reason, HasSubstr("the first 19 steps were left out"));
    EXPECT_EQ(finding.evidence.back().line, 29);
}

TEST(P5, AScaleThatStartsHigherMaySearchLonger)
{
    auto run = leftOutFromStart(34);
    say(run.events.front(), "Attempted loss scale: 4294967296, but hysteresis is 2. Reducing hysteresis to 1");
    EXPECT_EQ(stateOf(run, "P5"), FindingState::clear) << "32 halvings, hysteresis 2";
}

RunData capturedWith(std::int64_t zeros, const std::string& dtype)
{
    auto run = runWith({}, {}, {setting("dtype", dtype)});
    auto scan = hundred(1e-7);
    scan.zero = zeros - 10;
    scan.subnormal = 10;
    run.captures = {captureOf("dump.pt", 3, scan)};
    return run;
}

TEST(P5, GradientsThatVanishInFp16WithoutAScale)
{
    const auto finding = cardOf(capturedWith(51, "float16"), "P5");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.confidence, "low");
    EXPECT_EQ(finding.rank, 3);
    EXPECT_THAT(finding.reason, HasSubstr("51 % of a captured input"));
    EXPECT_EQ(stateOf(capturedWith(50, "float16"), "P5"), FindingState::clear);
    EXPECT_EQ(stateOf(capturedWith(90, "bfloat16"), "P5"), FindingState::clear);
    auto scaled = capturedWith(90, "float16");
    scaled.series = {seriesOf("loss_scale", 1, constant(5, 65536))};
    EXPECT_EQ(stateOf(scaled, "P5"), FindingState::clear);
}

TEST(P5, ZeroMatricesArePaddingAndNoSign)
{
    auto run = capturedWith(20, "float16");
    auto padding = hundred(0);
    padding.zero = 100;
    run.captures.front().input.batches.push_back(padding);
    run.captures.front().input.batches.push_back(padding);
    EXPECT_EQ(stateOf(run, "P5"), FindingState::clear);
}

TEST(P5, TakesAFormatAndSomethingToSee)
{
    EXPECT_EQ(stateOf({}, "P5"), FindingState::notCheckable);
    auto run = capturedWith(90, "float16");
    run.settings.clear();
    EXPECT_EQ(stateOf(run, "P5"), FindingState::notCheckable);
    run.captures.front().input.dtype = DType::float16;
    EXPECT_EQ(stateOf(run, "P5"), FindingState::fired) << "the capture itself is fp16";
}

TEST(P6, ALossScaleInABf16Run)
{
    const std::vector<Setting> bf16 {setting("bf16", "True")};
    const auto finding = cardOf(runWith({seriesOf("loss_scale", 1, constant(3, 65536))}, {}, bf16), "P6");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.severity, "info");
    EXPECT_EQ(finding.evidence.back().line, 100);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss_scale", 1, constant(3, 1))}, {}, bf16), "P6"), FindingState::clear);
    EXPECT_EQ(stateOf(runWith({}, {overflow(5)}, bf16), "P6"), FindingState::fired);
    EXPECT_EQ(
        stateOf(runWith({}, {eventOf(EventKind::skippedStep, {}, "OVERFLOW! Rank 0 Skipping step.")}, bf16), "P6"),
        FindingState::notCheckable)
        << "DeepSpeed leaves the scale away where there is none";
    EXPECT_EQ(
        stateOf(runWith({seriesOf("loss_scale", 1, {2})}, {}, {setting("fp16", "True")}), "P6"), FindingState::clear);
    EXPECT_EQ(stateOf(runWith({seriesOf("loss_scale", 1, {2})}), "P6"), FindingState::notCheckable);
}

/// The scale halves every ten steps; the norm follows it by `slope`.
RunData scaledNorms(double slope, int halvings)
{
    std::vector<double> scales;
    std::vector<double> norms;
    for (int step = 0; step < 10 * (halvings + 1); ++step) {
        const int halved = step / 10;
        scales.push_back(65536 / std::pow(2, halved));
        norms.push_back(100 * std::pow(2, -slope * halved));
    }
    return runWith({seriesOf("loss_scale", 1, scales), seriesOf("grad_norm", 1, norms)});
}

TEST(P7, ANormThatFollowsTheScale)
{
    const auto finding = cardOf(scaledNorms(1, 3), "P7");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(finding.reason, HasSubstr("slope 1.00 (r 1.00)"));
    EXPECT_EQ(stateOf(scaledNorms(0.81, 3), "P7"), FindingState::fired);
    EXPECT_EQ(stateOf(scaledNorms(0.79, 3), "P7"), FindingState::clear);
    EXPECT_EQ(stateOf(scaledNorms(1.19, 3), "P7"), FindingState::fired);
    EXPECT_EQ(stateOf(scaledNorms(1.21, 3), "P7"), FindingState::clear);
    EXPECT_EQ(stateOf(scaledNorms(0, 3), "P7"), FindingState::clear);
}

TEST(P7, ATrendOfTheNormAloneIsNoEvidence)
{
    // Falls by eight over the run, as the scale does, but never where the scale moves.
    auto run = scaledNorms(0, 3);
    for (std::size_t i = 0; i < run.series[1].points.size(); ++i) {
        const auto halved = (i + 5) / 10;
        run.series[1].points[i].value = 100 * std::pow(2, -static_cast<double>(halved));
    }
    EXPECT_EQ(stateOf(run, "P7"), FindingState::clear);
}

TEST(P7, TakesThreeChanges)
{
    const auto finding = cardOf(scaledNorms(1, 2), "P7");
    EXPECT_EQ(finding.state, FindingState::notCheckable);
    EXPECT_THAT(finding.reason, HasSubstr("changes 2 times"));
    EXPECT_EQ(cardOf(runWith({seriesOf("loss_scale", 1, {1, 2})}), "P7").reason, "no grad_norm is logged");
    EXPECT_EQ(cardOf({}, "P7").reason, "no loss_scale is logged");
    const auto overflow = eventOf(EventKind::skippedStep, {},
        "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768", 9);
    EXPECT_THAT(cardOf(runWith({}, {overflow}), "P7").reason, HasSubstr("logged in 1 line of overflows only"));
}

/// A halving every ten steps, told by the line of its overflow alone; the norm follows it by `slope`.
RunData overflowingNorms(double slope, int halvings, double told = 65536)
{
    RunData run;
    std::vector<double> norms;
    for (int step = 0; step < 10 * halvings + 5; ++step) {
        const int before = (step + 5) / 10;
        norms.push_back(100 * std::pow(2, -slope * before));
    }
    run.series = {seriesOf("grad_norm", 1, norms)};
    for (std::size_t i = 0; i < norms.size(); ++i) {
        run.series.front().points[i].line = 100 + 10 * static_cast<std::int64_t>(i);
    }
    for (int halved = 0; halved <= halvings; ++halved) {
        run.events.push_back(eventOf(EventKind::skippedStep, {},
            fmt::format("[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {}, reducing to 8",
                static_cast<int>(told / std::pow(2, halved))),
            145 + 100 * halved));
    }
    return run;
}

TEST(P7, LinesOfOverflowsTellAFallingScale)
{
    const auto finding = cardOf(overflowingNorms(1, 4), "P7");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(
        finding.reason, HasSubstr("over 4 changes of the loss scale the gradient norm follows it with slope 1.00"));
    EXPECT_THAT(finding.reason, HasSubstr("by the lines of overflows"));
    EXPECT_EQ(stateOf(overflowingNorms(0, 4), "P7"), FindingState::clear);
    EXPECT_THAT(cardOf(overflowingNorms(1, 2), "P7").reason, HasSubstr("tell of 2 halvings"));
    auto grown = overflowingNorms(1, 4);
    for (auto& event : grown.events) {
        event.facts.attemptedScale = 65536;
    }
    EXPECT_THAT(cardOf(grown, "P7").reason, HasSubstr("tell of 0 halvings")) << "it grew between, who knows when";
}

} // namespace
} // namespace nanscope
