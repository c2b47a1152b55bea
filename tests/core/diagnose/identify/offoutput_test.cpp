// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What an output is that no variant gives as it is.
#include "core/diagnose/identify/offoutput.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/rejudge.h"
#include "core/diagnose/verdict/considered.h"
#include "core/diagnose/verdict/explain.h"
#include "core/model/facts.h"
#include "core/model/verdict.h"
#include "tests/core/diagnose/healthycall.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::int64_t offRows = 32;
constexpr std::int64_t offCols = 48;
constexpr std::size_t offSize = offRows * offCols;

using test::Matrix;

Matrix offWaves(double phase = 0)
{
    return test::waves(offSize, phase);
}

/// In no relation to the waves.
Matrix unrelatedNoise()
{
    Matrix values(offSize);
    std::uint32_t state = 7;
    for (auto& value : values) {
        state = state * 1664525U + 1013904223U;
        value = static_cast<double>(state >> 8U) / 16777216.0 - 0.5;
    }
    return values;
}

Matrix healthy(const Matrix& input, std::optional<int> steps = {})
{
    const auto& variant = *replay::builtInVariant("keller-jordan");
    const auto device = replay::makeEigenDevice(1);
    replay::ReplayOptions options;
    options.precision = variant.precision;
    options.rounding.lowering = variant.lowering;
    options.epsilon = 1e-8;
    options.steps = steps;
    options.keepOutput = true;
    return replay::replay(variant, {1, offRows, offCols}, input, *device, options)->outputs[0].doubles();
}

Matrix times(Matrix values, double factor)
{
    for (auto& value : values) {
        value *= factor;
    }
    return values;
}

CaptureVerdict verdictOn(const Matrix& input, const Matrix& output, std::optional<std::string> named = "keller-jordan",
    const std::vector<std::string>& ran = {})
{
    TemporaryFolder folder;
    const auto path = folder / "x.pt";
    EXPECT_TRUE(tensorfile::writePt(path,
        {{"input", test::floatTensor({input}, offRows, offCols)},
            {"output", test::floatTensor({output}, offRows, offCols)}, {"epsilon", 1e-8}}));
    auto file = tensorfile::openCapture(path);
    EXPECT_TRUE(file && tensorfile::scanCapture(*file));
    file->capture.id = 1;
    file->capture.variant = std::move(named);
    file->capture.nothingElse = true;
    RunData run;
    run.captures = {file->capture};
    const auto diagnosis = diagnose::diagnose(run, {ran});
    EXPECT_TRUE(diagnosis) << (diagnosis ? "" : sentence(diagnosis.error()));
    return diagnosis->captures.front();
}

void expectQuestion(const CaptureVerdict& verdict)
{
    EXPECT_EQ(verdict.blame, Blame::undecided) << verdict.summary;
    EXPECT_EQ(verdict.role, Role::healthy);
    EXPECT_THAT(verdict.question, HasSubstr("?"));
}

TEST(OffOutput, IsTheNamedFunctionTimesAFactor)
{
    const auto v = verdictOn(offWaves(), times(healthy(offWaves()), 0.2 * std::sqrt(48.0)));
    expectQuestion(v);
    EXPECT_EQ(v.facts.off.as, OffAs::multiple);
    EXPECT_THAT(v.facts.off.variants, ElementsAre("keller-jordan"));
    EXPECT_NEAR(v.facts.off.factor, 1.3856, 0.001);
    EXPECT_THAT(v.summary, StartsWith("the output is keller-jordan times 1.39 (0.2·√max(rows, cols))"));
    EXPECT_THAT(v.question, HasSubstr("scale the result"));
}

TEST(OffOutput, TimesAFactorIsFoundWithoutAName)
{
    const auto v = verdictOn(offWaves(), times(healthy(offWaves()), -3), std::nullopt);
    EXPECT_EQ(v.rule, RuleId::finiteOfNoKnownVariant);
    EXPECT_EQ(v.facts.off.as, OffAs::multiple);
    EXPECT_THAT(v.facts.off.variants, testing::Contains("keller-jordan"));
    EXPECT_NEAR(v.facts.off.factor, -3, 0.05);
}

TEST(OffOutput, ADamagedOneIsAFactorAwayWhereItIsFinite)
{
    auto output = times(healthy(offWaves()), 1e5);
    for (std::size_t row = 16; row < 32; ++row) {
        std::fill_n(output.begin() + static_cast<std::ptrdiff_t>(row * offCols), 16, NAN);
    }
    const auto v = verdictOn(offWaves(), output);
    EXPECT_EQ(v.rule, RuleId::nameContradicted) << v.summary;
    EXPECT_EQ(v.blame, Blame::undecided);
    EXPECT_THAT(v.summary, HasSubstr("rows 16–31 × columns 0–15 are NaN; where the output is finite it is "));
    EXPECT_THAT(v.summary, HasSubstr("keller-jordan times 1e+05"));
}

TEST(OffOutput, IsTheNamedFunctionInAnotherNumberOfSteps)
{
    for (const int steps : {3, 6, 10}) {
        const auto v = verdictOn(offWaves(), healthy(offWaves(), steps));
        expectQuestion(v);
        EXPECT_EQ(v.facts.off.as, OffAs::otherSteps) << steps;
        EXPECT_EQ(v.facts.off.steps, steps);
        EXPECT_EQ(v.facts.off.ownSteps, 5);
        EXPECT_EQ(v.facts.off.factor, 1);
        EXPECT_THAT(v.summary, HasSubstr(std::to_string(steps) + " steps in place of 5"));
    }
}

TEST(OffOutput, RoundingsOfMoreStepsAreForgiven)
{
    const auto with = [](double noise) {
        auto output = healthy(offWaves(), 6);
        for (std::size_t i = 0; i < output.size(); ++i) {
            output[i] *= i % 2 == 0 ? 1 + noise : 1 - noise;
        }
        return verdictOn(offWaves(), output).facts.off.as;
    };
    EXPECT_EQ(with(0.036), OffAs::otherSteps);
    EXPECT_EQ(with(0.08), OffAs::unknown);
}

TEST(OffOutput, TheNumberOfStepsIsAnAnswer)
{
    const auto output = healthy(offWaves(), 6);
    const auto asked = verdictOn(offWaves(), output, std::nullopt, {"keller-jordan"});
    EXPECT_THAT(asked.question,
        HasSubstr("is it called for 6 steps? With as many it can be judged in full (--ran keller-jordan@6x says so)"));
    const auto answers = diagnose::answersOf(asked, {});
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].kind, diagnose::Answer::Kind::otherSteps);
    EXPECT_THAT(answers[0].ticks, ElementsAre("keller-jordan@6x"));

    const auto told = verdictOn(offWaves(), output, std::nullopt, {"keller-jordan@6x"});
    EXPECT_EQ(told.rule, RuleId::fits) << told.summary;
    EXPECT_THAT(told.variant.names, ElementsAre("keller-jordan@6x"));
    EXPECT_LT(told.variant.fit.value_or(1), 0.02);
    EXPECT_EQ(verdictOn(offWaves(), output, "keller-jordan@6x").rule, RuleId::fits);
    const auto wrong = verdictOn(offWaves(), healthy(offWaves()), "keller-jordan@6x");
    expectQuestion(wrong);
    EXPECT_EQ(wrong.rule, RuleId::notWhatWasSaid) << "what a sidecar names is compared with its output";
    EXPECT_THAT(wrong.summary, HasSubstr("34 % off, and 0 % from keller-jordan"));
    EXPECT_TRUE(diagnose::answersOf(wrong, {}).empty()) << "the sidecar counts";
    EXPECT_THAT(wrong.question, testing::Not(HasSubstr("--ran")));
}

TEST(OffOutput, AChangedTextStaysOneWithOtherNumbers)
{
    Facts facts;
    facts.identified.how = IdentifiedBy::given;
    for (const auto& [like, said] : {std::pair {"keller-jordan", "keller-jordan@6x"}, {"torch-muon@6x", "torch-muon@0"},
             {"torch-muon@6x", "torch-muon"}}) {
        facts.scene.namedLike = like;
        facts.identified.names = {said};
        EXPECT_TRUE(diagnose::verdict::consider(facts).hasOtherText()) << said;
    }
    facts.identified.names = {"keller-jordan@6x"};
    EXPECT_FALSE(diagnose::verdict::consider(facts).hasOtherText());
}

TEST(OffOutput, StepsAndAFactorAreFoundTogether)
{
    const auto v = verdictOn(offWaves(), times(healthy(offWaves(), 3), 2));
    EXPECT_EQ(v.facts.off.as, OffAs::otherSteps) << v.summary;
    EXPECT_EQ(v.facts.off.steps, 3);
    EXPECT_NEAR(v.facts.off.factor, 2, 0.02);
    EXPECT_THAT(v.summary, HasSubstr("with 3 steps in place of 5, times 2"));
    auto facts = verdictOn(offWaves(), times(healthy(offWaves(), 3), 2), std::nullopt, {"keller-jordan"}).facts;
    EXPECT_FALSE(diagnose::verdict::ranInOtherSteps(diagnose::verdict::consider(facts))) << "the factor is other code";
    facts.off.factor = 1;
    EXPECT_EQ(diagnose::verdict::ranInOtherSteps(diagnose::verdict::consider(facts)), "keller-jordan@3x");
}

TEST(OffOutput, IsTheInput)
{
    const auto v = verdictOn(offWaves(), offWaves());
    expectQuestion(v);
    EXPECT_EQ(v.facts.off.as, OffAs::input);
    EXPECT_THAT(v.summary, HasSubstr("the output is the input, bit for bit"));
}

TEST(OffOutput, IsNotOfThisInput)
{
    const auto v = verdictOn(offWaves(), healthy(unrelatedNoise()));
    expectQuestion(v);
    EXPECT_EQ(v.facts.off.as, OffAs::notOfInput) << v.summary;
    EXPECT_THAT(v.summary, HasSubstr("the output has no direction in common with its input"));
}

TEST(OffOutput, OfAnotherFunctionStaysUnknown)
{
    auto other = healthy(offWaves());
    for (std::size_t i = 0; i < offSize; ++i) {
        other[i] += 0.3 * std::sin(0.7 * static_cast<double>(i));
    }
    const auto v = verdictOn(offWaves(), other);
    EXPECT_EQ(v.facts.off.as, OffAs::unknown) << v.summary;
    EXPECT_THAT(v.summary, HasSubstr("the output is not what keller-jordan gives"));
    EXPECT_THAT(v.summary, Not(HasSubstr("times")));
}

} // namespace
} // namespace nanscope
