// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "core/diagnose/diagnose.h"
#include "core/model/verdict.h"
#include "core/replay/program/formats.h"
#include "core/replay/variants/variant.h"
#include "core/tensorfile/capture/capturefile.h"
#include "tests/core/diagnose/healthycall.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

constexpr std::int64_t dumpRows = 48;
constexpr std::int64_t dumpCols = 80;

std::vector<double> gaussianDump(unsigned seed, double scale = 1)
{
    return test::gaussian(dumpRows * dumpCols, seed, scale);
}

std::vector<double> dumpOutput(std::string_view variant, const std::vector<double>& input)
{
    return test::healthyOutput(variant, input, dumpRows, dumpCols);
}

tensorfile::TensorToWrite bf16Tensor(const std::string& name, const std::vector<double>& values)
{
    tensorfile::TensorToWrite tensor;
    tensor.name = name;
    tensor.dtype = DType::bfloat16;
    tensor.shape = {1, dumpRows, dumpCols};
    for (const double x : values) {
        const auto value = static_cast<float>(replay::roundTo(Precision::bf16, x));
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        const auto half = static_cast<std::uint16_t>(bits >> 16);
        tensor.bytes.push_back(static_cast<std::byte>(half & 0xffU));
        tensor.bytes.push_back(static_cast<std::byte>(half >> 8));
    }
    return tensor;
}

/// One dump on disk, judged as a run of its own.
class Dump : public testing::Test
{
protected:
    CaptureVerdict judge(const std::vector<double>& input, const std::vector<double>& output,
        const diagnose::DiagnoseOptions& options = {})
    {
        const auto path = m_folder / "dion_nan_capture_rank0_shape1x48x80_pid1_1000.pt";
        EXPECT_TRUE(tensorfile::writePt(path,
            {{"input", bf16Tensor("input", input)}, {"output", bf16Tensor("output", output)},
                {"rank", std::int64_t {0}}, {"shape", Shape {1, dumpRows, dumpCols}},
                {"dtype", std::string("torch.bfloat16")}, {"epsilon", 1e-8}}));
        auto file = tensorfile::openCapture(path);
        EXPECT_TRUE(file) << sentence(file.error());
        EXPECT_TRUE(tensorfile::scanCapture(*file));
        RunData run;
        run.captures.push_back(file->capture);
        run.captures.back().overwritten = m_overwritten;
        const auto diagnosis = diagnose::diagnose(run, options);
        EXPECT_TRUE(diagnosis) << sentence(diagnosis.error());
        return diagnosis->captures.front();
    }

    TemporaryFolder m_folder;
    bool m_overwritten = false;
};

void plantTile(std::vector<double>& output, double value)
{
    for (std::int64_t r = 16; r < 32; ++r) {
        for (std::int64_t c = 32; c < 64; ++c) {
            output[static_cast<std::size_t>(r * dumpCols + c)] = value;
        }
    }
}

TEST_F(Dump, StoppedBeforeItIsJudgedItKeepsWhatNoReplayIsNeededFor)
{
    const auto input = gaussianDump(1);
    auto output = dumpOutput("dion-ns5", input);
    plantTile(output, std::nan(""));
    diagnose::DiagnoseOptions options;
    options.timeLimit = 1e-9;
    const auto verdict = judge(input, output, options);
    EXPECT_EQ(verdict.role, Role::birth);
    EXPECT_EQ(verdict.rule, RuleId::unjudged);
    EXPECT_EQ(verdict.blame, Blame::undecided);
    EXPECT_EQ(verdict.summary, "not judged (the time limit of 1e-09 s)");
}

TEST_F(Dump, WhatIsNotReadIsSaidWhoeverJudgesTheOthers)
{
    m_overwritten = true;
    const auto input = gaussianDump(1);
    auto output = dumpOutput("dion-ns5", input);
    plantTile(output, std::nan(""));
    diagnose::DiagnoseOptions options;
    options.judgedElsewhere = [](const CaptureVerdict&) { return std::optional<CaptureVerdict>(); };
    const auto verdict = judge(input, output);
    EXPECT_EQ(verdict.summary, "could not be judged: its file was written over after its import");
    EXPECT_EQ(judge(input, output, options).summary, verdict.summary);
}

TEST_F(Dump, DamageArrivesBeforeTheReplaysAndTheVerdictAfterThem)
{
    const auto input = gaussianDump(1);
    auto output = dumpOutput("gns-gram", input);
    plantTile(output, NAN);
    std::vector<CaptureVerdict> arrived;
    diagnose::DiagnoseOptions options;
    options.arrived = [&arrived](const CaptureVerdict& verdict) { arrived.push_back(verdict); };
    const auto verdict = judge(input, output, options);
    ASSERT_EQ(arrived.size(), 2);
    EXPECT_EQ(arrived[0].facts.damage.text, "rows 16–31 × columns 32–63 are NaN");
    EXPECT_EQ(arrived[0].summary, "");
    EXPECT_FALSE(arrived[0].facts.replayed);
    EXPECT_EQ(arrived[1].summary, verdict.summary);
    EXPECT_EQ(arrived[1].blame, Blame::implementation);
}

TEST_F(Dump, UnwrittenTileAfterAHealthyIterationIsImplementation)
{
    const auto input = gaussianDump(1);
    auto output = dumpOutput("gns-gram", input);
    plantTile(output, NAN);
    const auto v = judge(input, output);
    EXPECT_EQ(v.role, Role::birth);
    EXPECT_EQ(v.blame, Blame::implementation) << v.summary;
    EXPECT_EQ(v.variant.how, IdentifiedBy::fit);
    EXPECT_NE(std::find(v.variant.names.begin(), v.variant.names.end(), "gns-gram"), v.variant.names.end());
    EXPECT_EQ(v.facts.damage.text, "rows 16–31 × columns 32–63 are NaN");
    EXPECT_FALSE(v.speaksFor.empty());
    EXPECT_FALSE(v.notTestable.empty());
}

TEST_F(Dump, EachVariantIsRecognisedByItsFinitePart)
{
    for (const auto* name : {"keller-jordan", "dion-ns5", "dion-polar-express", "gns-standard"}) {
        const auto input = gaussianDump(2);
        auto output = dumpOutput(name, input);
        plantTile(output, NAN);
        const auto v = judge(input, output);
        ASSERT_FALSE(v.variant.names.empty()) << name;
        EXPECT_NE(std::find(v.variant.names.begin(), v.variant.names.end(), name), v.variant.names.end()) << name;
        for (const auto& other : v.variant.names) {
            EXPECT_EQ(replay::builtInVariant(other)->family, replay::builtInVariant(name)->family)
                << name << " " << other;
        }
    }
}

TEST_F(Dump, OverflowInTheCastIsAQuestionUntilTheVariantIsTold)
{
    auto input = gaussianDump(3);
    input[100] = 80384;
    const std::vector<double> output(dumpRows * dumpCols, NAN);
    const auto open = judge(input, output);
    EXPECT_EQ(open.blame, Blame::undecided) << open.summary;
    EXPECT_NE(open.question.find("65504"), std::string::npos) << open.question;

    const auto numerics = judge(input, output, {{"deepspeed-gram"}});
    EXPECT_EQ(numerics.blame, Blame::numerics) << numerics.summary;
    EXPECT_EQ(judge(input, output, {{"gns-gram"}}).blame, Blame::undecided) << "a name is no word of what else ran";
    diagnose::DiagnoseOptions alone {{"gns-gram"}};
    alone.nothingElse = true;
    const auto kernel = judge(input, output, alone);
    EXPECT_EQ(kernel.blame, Blame::implementation) << kernel.summary;
}

TEST_F(Dump, ZeroInInfOutIsProof)
{
    const std::vector<double> input(dumpRows * dumpCols, 0.0);
    std::vector<double> output(dumpRows * dumpCols, 0.0);
    plantTile(output, INFINITY);
    const auto v = judge(input, output);
    EXPECT_EQ(v.role, Role::padding);
    EXPECT_EQ(v.blame, Blame::implementation) << v.summary;
    EXPECT_EQ(v.kind, "zero in, non-zero out");
}

TEST_F(Dump, CopyOfTheInputMatchesNothing)
{
    const auto input = gaussianDump(4);
    auto output = input;
    output[0] = NAN;
    const auto v = judge(input, output);
    EXPECT_EQ(v.blame, Blame::undecided);
    EXPECT_TRUE(v.variant.matchesNone);
}

TEST_F(Dump, RankOneInputWithAnAllNanOutputStaysUndecided)
{
    std::vector<double> input(dumpRows * dumpCols);
    const auto a = gaussianDump(5);
    for (std::int64_t r = 0; r < dumpRows; ++r) {
        for (std::int64_t c = 0; c < dumpCols; ++c) {
            input[static_cast<std::size_t>(r * dumpCols + c)] =
                replay::roundTo(Precision::bf16, a[static_cast<std::size_t>(r)] * a[static_cast<std::size_t>(100 + c)]);
        }
    }
    const auto v = judge(input, std::vector<double>(dumpRows * dumpCols, NAN));
    EXPECT_EQ(v.blame, Blame::undecided) << v.summary;
}

TEST_F(Dump, ZeroTileInAFiniteOutputIsFiniteCorruption)
{
    const auto input = gaussianDump(6);
    auto output = dumpOutput("dion-ns5", input);
    plantTile(output, 0);
    const auto v = judge(input, output);
    EXPECT_EQ(v.blame, Blame::undecided) << "the code around the function is not known";
    EXPECT_EQ(v.rule, RuleId::offInPlaces);
    EXPECT_EQ(v.role, Role::birth);
    EXPECT_NE(v.question.find("a mask"), std::string::npos);
}

TEST_F(Dump, HealthyControlIsNotAccused)
{
    const auto input = gaussianDump(7);
    const auto v = judge(input, dumpOutput("dion-polar-express", input));
    EXPECT_EQ(v.role, Role::healthy);
    EXPECT_EQ(v.blame, Blame::undecided);
    EXPECT_EQ(v.kind, "healthy") << v.summary;
}

TEST_F(Dump, WhatTheUserSaysIsHeldAgainstTheDump)
{
    const auto input = gaussianDump(8);
    auto output = dumpOutput("gns-gram", input);
    plantTile(output, NAN);
    const auto told = judge(input, output, {{"keller-jordan"}});
    EXPECT_EQ(told.variant.how, IdentifiedBy::given);
    EXPECT_GT(*told.variant.fit, 0.05);
    ASSERT_FALSE(told.speaksAgainst.empty());
    EXPECT_TRUE(std::ranges::any_of(told.speaksAgainst,
        [](const EvidenceLine& line) { return line.text.find("perhaps something else ran") != std::string::npos; }));
    EXPECT_EQ(told.rule, RuleId::nameContradicted) << told.summary;

    const auto right = judge(input, output, {{"gns-gram"}});
    EXPECT_TRUE(right.speaksAgainst.empty());
}

TEST_F(Dump, UnknownVariantGivenByTheUserIsRefused)
{
    RunData run;
    const auto diagnosis = diagnose::diagnose(run, {{"gns-grm"}});
    ASSERT_FALSE(diagnosis);
    EXPECT_EQ(diagnosis.error().kind, ErrorKind::usage);
    EXPECT_FALSE(diagnose::diagnose(run, {{"gns-gram:fp12"}}));
}

} // namespace
} // namespace nanscope
