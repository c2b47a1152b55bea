// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Every variant against its independent twin in torch (tests/reference), on every spectrum and shape.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/replay/engine/outcome.h"
#include "core/replay/variants/variant.h"
#include "tests/core/replay/replayvectors.h"

namespace nanscope {
namespace {

const std::vector<std::string> spectra {"wide_12x20_gaussian", "wide_12x20_log3", "wide_12x20_log7", "wide_12x20_rank1",
    "wide_12x20_half", "wide_12x20_linspace"};
const std::vector<std::string> recordedShapes {"tall_20x12_gaussian", "tall_20x12_linspace", "square_18x18_rank16",
    "batch_3x12x8_mixed", "padded_12x20", "row_1x16", "column_16x1"};

std::vector<std::string> allInputs()
{
    auto all = spectra;
    all.insert(all.end(), recordedShapes.begin(), recordedShapes.end());
    return all;
}

Vectors loadPublished(const std::string& name)
{
    return loadVectors("variants/" + name);
}

std::vector<double> outputOf(const Vectors& v, const replay::Variant& variant, Precision precision)
{
    replay::Rounding rounding;
    rounding.lowering = variant.lowering;
    return joined(replayOn(v, variant, precision, rounding));
}

const replay::Variant& named(std::string_view name)
{
    return *replay::builtInVariant(name);
}

bool gramForm(const replay::Variant& variant)
{
    return variant.form == replay::Form::gram || variant.form == replay::Form::gramFromLeft;
}

double slopeOf(const replay::Variant& variant)
{
    double slope = 1;
    for (const auto& step : variant.steps) {
        slope *= step[0];
    }
    return slope;
}

TEST(Published, EveryNameOfTheDesignIsThere)
{
    std::set<std::string> names;
    for (const auto& variant : replay::variants()) {
        names.insert(variant.name);
    }
    for (const auto* name :
        {"keller-jordan", "torch-muon", "dion-ns5", "dion-polar-express", "modded-nanogpt", "nanochat", "gns-standard",
            "gns-gram", "deepspeed-gram", "turbo-muon", "cans", "emerging-simple", "emerging-quintic",
            "emerging-polar-express", "emerging-cans", "emerging-aol", "emerging-hybrid", "emerging-cubic5"}) {
        EXPECT_TRUE(names.contains(name)) << name;
    }
}

TEST(Published, Fp64IsThatOfTorchOnEverySpectrumAndShape)
{
    for (const auto& name : allInputs()) {
        const auto v = loadPublished(name);
        for (const auto& variant : replay::variants()) {
            const auto expected = v.read(keyOf(variant, Precision::fp64));
            EXPECT_LT(replay::relativeDistance(outputOf(v, variant, Precision::fp64), expected), 1e-9)
                << name << " " << variant.name;
        }
    }
}

TEST(Published, TheirOwnFormatIsThatOfTorchCloserThanRoundingDrifts)
{
    // On degenerate spectra 16 bits hold outcomes, not digits.
    for (const auto& name : {"wide_12x20_gaussian", "wide_12x20_linspace", "tall_20x12_gaussian", "tall_20x12_linspace",
             "batch_3x12x8_mixed", "padded_12x20"}) {
        const auto v = loadPublished(name);
        for (const auto& variant : replay::variants()) {
            if (!variant.published) {
                continue;
            }
            const auto expected = v.read(keyOf(variant, variant.precision));
            const auto exact = v.read(keyOf(variant, Precision::fp64));
            const auto got = outputOf(v, variant, variant.precision);
            const double rounding = replay::relativeDistance(expected, exact);
            const double bound = variant.precision == Precision::fp32
                ? 3 * epsilonOf(Precision::fp32) * slopeOf(variant)
                : (gramForm(variant) ? 2.0 : 0.7) * rounding;
            EXPECT_LT(replay::relativeDistance(got, expected), bound) << name << " " << variant.name << " " << rounding;
        }
    }
}

TEST(Published, SetsOfEmergingOptimizersRunInBf16OnRequest)
{
    const auto v = loadPublished("wide_12x20_gaussian");
    for (const auto* name : {"emerging-quintic", "emerging-cubic5", "emerging-polar-express"}) {
        const auto expected = v.read(keyOf(named(name), Precision::bf16));
        const auto exact = v.read(keyOf(named(name), Precision::fp64));
        const double rounding = replay::relativeDistance(expected, exact);
        EXPECT_GT(rounding, 1e-3) << name;
        EXPECT_LT(replay::relativeDistance(outputOf(v, named(name), Precision::bf16), expected), 0.7 * rounding)
            << name;
    }
}

TEST(Published, EveryRoundingOfTheEnvelopeIsTheSameMathematics)
{
    for (const auto& name : {"tall_20x12_gaussian", "wide_12x20_linspace"}) {
        const auto v = loadPublished(name);
        for (const auto& variant : replay::variants()) {
            const auto expected = v.read(keyOf(variant, Precision::fp64));
            for (int bits = 0; bits < 8; ++bits) {
                replay::Rounding rounding;
                rounding.lowering = (bits & 1) != 0 ? Lowering::fused : Lowering::eager;
                rounding.fuseElementwise = (bits & 2) != 0;
                rounding.otherSide = (bits & 4) != 0;
                EXPECT_LT(
                    replay::relativeDistance(joined(replayOn(v, variant, Precision::fp64, rounding)), expected), 1e-9)
                    << name << " " << variant.name << " " << bits;
            }
        }
    }
}

TEST(Published, AZeroMatrixIsZeroUnlessNothingIsAddedToItsNorm)
{
    const auto v = loadPublished("zero_2x8x12");
    for (const auto& variant : replay::variants()) {
        const auto expected = v.read(keyOf(variant, variant.precision));
        const auto zero = std::vector(expected.begin(), expected.begin() + 96);
        const auto got = outputOf(v, variant, variant.precision);
        for (std::size_t i = 0; i < zero.size(); ++i) {
            EXPECT_EQ(std::isnan(got[i]), std::isnan(zero[i])) << variant.name;
            EXPECT_EQ(std::isnan(zero[i]), variant.name == "emerging-double-norm") << variant.name;
        }
    }
}

TEST(Published, CyclesAndExactSchedulesGoOnAsTheirSourcesDo)
{
    const auto& aol = named("emerging-aol");
    const auto cycled = replay::stepsOf(aol, 6, std::nullopt);
    ASSERT_EQ(cycled.size(), 6U);
    EXPECT_EQ(cycled[4], aol.steps[0]);
    EXPECT_EQ(cycled[5], aol.steps[1]);
    const auto& express = named("emerging-polar-express");
    EXPECT_EQ(replay::stepsOf(express, 10, std::nullopt)[9], express.steps.back());

    replay::CompileOptions options;
    options.steps = 6;
    const auto refused = replay::compileProgram(named("emerging-cubic5"), {1, 8, 12}, options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    EXPECT_THAT(refused.error().what, testing::HasSubstr("exactly 5 steps"));
    options.steps = 5;
    EXPECT_TRUE(replay::compileProgram(named("emerging-cubic5"), {1, 8, 12}, options));
}

std::vector<OpName> opNames(std::string_view variant, Lowering lowering, const MatrixShape& shape = {1, 8, 12})
{
    replay::CompileOptions options;
    options.precision = named(variant).precision;
    options.rounding.lowering = lowering;
    std::vector<OpName> names;
    for (const auto& op : replay::opsOf(*replay::compileProgram(named(variant), shape, options))) {
        if (op.iteration <= 1) {
            names.push_back(op.op);
        }
    }
    return names;
}

TEST(Published, TheFirstOpsAreThoseOfTheSource)
{
    using enum OpName;
    EXPECT_THAT(opNames("nanochat", Lowering::eager),
        testing::ElementsAre(input, cast, equalize, norm, normalize, gram, polynomial, update));
    EXPECT_THAT(opNames("turbo-muon", Lowering::fused),
        testing::ElementsAre(input, cast, gram, aolScale, gram, polynomial, update));
    EXPECT_THAT(
        opNames("emerging-cubic5", Lowering::fused), testing::ElementsAre(input, norm, normalize, cast, gram, update));
    EXPECT_THAT(opNames("deepspeed-gram-8533-bf16", Lowering::eager),
        testing::ElementsAre(input, norm, normalize, cast, gram, z, q, r));
}

TEST(Published, TheCubicSetFormsNoSquareOfTheGram)
{
    for (const auto lowering : {Lowering::eager, Lowering::fused}) {
        replay::CompileOptions options;
        options.rounding.lowering = lowering;
        const auto program = *replay::compileProgram(named("emerging-cubic5"), {1, 8, 12}, options);
        EXPECT_EQ(program.gemmFlops(), 5 * 2 * 2.0 * 8 * 8 * 12);
    }
}

TEST(Published, TurboMuonUsesItsScaledGramForTheFirstStep)
{
    const auto v = loadPublished("wide_12x20_gaussian");
    const auto replayed = replayOn(v, named("turbo-muon"), Precision::fp64, {});
    // By Gershgorin no singular value enters above 1, whatever the norm of the whole is.
    const auto all = replay::gauges(replayed, 0);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_NEAR(*all[0].spectralLimit, 1.1043, 1e-4);
    replay::ReplayOptions options;
    options.precision = Precision::fp64;
    options.epsilon = v.epsilon;
    options.spectralNorms = true;
    const auto device = replay::makeEigenDevice(1);
    const auto measured = replay::replay(named("turbo-muon"), v.shape, v.input, *device, options);
    ASSERT_TRUE(measured);
    EXPECT_LE(measured->spectralNorms[0][0], 1 + 1e-12);
    EXPECT_GT(measured->spectralNorms[0][0], 0.3);
    EXPECT_LE(measured->spectralNorms[0][0], *all[0].spectralBound * (1 + 1e-9));
}

TEST(Published, TheNormInFp64DoesNotUnderflowWhereFp32Does)
{
    auto v = loadPublished("wide_12x20_gaussian");
    for (auto& x : v.input) {
        x *= 1e-25;
    }
    const auto outcome = [&](const char* variant) {
        return replay::judgeOutcomes(replayOn(v, named(variant), Precision::fp32, {})).front();
    };
    EXPECT_EQ(outcome("emerging-double-norm"), Outcome::finite);
    EXPECT_NE(outcome("emerging-quintic"), Outcome::finite);
}

TEST(Published, ARescaledOutputIsJudgedByWhatItWasBefore)
{
    // Rank 1: the one direction is stretched to sqrt(12) by the rescale, and nothing is wrong with it.
    const auto v = loadPublished("wide_12x20_rank1");
    auto rescaled = named("dion-polar-express");
    rescaled.name = "rescaled";
    rescaled.rescaleOutput = true;
    const auto replayed = replayOn(v, rescaled, Precision::fp32, {});
    EXPECT_NEAR(replayed.ops.back().batches[0].sumSquares, 12, 1e-4);
    EXPECT_EQ(replay::judgeOutcomes(replayed).front(), Outcome::finite);
    // The sum of its coefficients is 0: a direction that the schedule loses stays lost.
    rescaled.steps = {{0.01, 0, 0}};
    const auto lost = replayOn(v, rescaled, Precision::fp32, {});
    EXPECT_EQ(replay::judgeOutcomes(lost, {0.8, 1.2}).front(), Outcome::degenerate);
}

TEST(Published, DirectionsThatRowScalingTurnsAreNotJudged)
{
    const auto v = loadPublished("wide_12x20_log3");
    for (const auto* name : {"nanochat", "turbo-muon"}) {
        const auto replayed = replayOn(v, named(name), Precision::fp64, {});
        EXPECT_EQ(replay::judgeOutcomes(replayed).front(), Outcome::finite) << name;
    }
}

TEST(Published, SymmetricKernelsAreThoseOfTheSource)
{
    EXPECT_TRUE(named("gns-gram").symmetricKernels);
    EXPECT_TRUE(named("flash-muon").symmetricKernels);
    EXPECT_FALSE(named("keller-jordan").symmetricKernels);
    EXPECT_FALSE(named("deepspeed-gram-8533").symmetricKernels);
}

TEST(Published, AFlippedSignIsNoSmallOutput)
{
    const auto range = replay::outputRange(named("emerging-aol").steps);
    EXPECT_GE(range[0], 0);
    EXPECT_NEAR(range[1], 1.0844, 1e-3);
}

} // namespace
} // namespace nanscope
