// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/cliff.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/diagnose/identify/envelope.h"
#include "core/replay/variants/variant.h"
#include "core/rpc/answers.h"
#include "core/rpc/requests.h"
#include "framecapture.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

const replay::Variant& variantOf(const char* name)
{
    return *replay::builtInVariant(name);
}

class Cliffs : public testing::Test
{
protected:
    replay::CliffRequest request(
        const char* variant, Precision precision, const Shape& shape, const std::vector<double>& input)
    {
        replay::CliffRequest request;
        request.capture = writeFrameCapture(m_folder / "capture.pt", shape, input);
        request.cell.variant = variant;
        request.cell.precision = precision;
        request.cell.lowering = variantOf(variant).lowering;
        return request;
    }

    static replay::ReplayedCliff replayed(const replay::CliffRequest& request)
    {
        auto cliff = replay::replayCliff(request, replay::makeCoreDevice);
        EXPECT_TRUE(cliff) << (cliff ? "" : sentence(cliff.error()));
        return cliff.value_or(replay::ReplayedCliff {0, 0, 0, 0, {}, {{{}, {}, {}}}});
    }

    Outcome outcomeAt(replay::CliffRequest request, double scale, std::optional<double> safety = {})
    {
        request.scale = scale;
        request.safety = safety;
        return replayed(request).replays.front().cell.outcome;
    }

    TemporaryFolder m_folder;
};

TEST(Safety, TheFactorOfAScheduleIsTakenOutAndPutIn)
{
    std::ifstream file(NANSCOPE_TEST_DATA "/replay/scalars.json");
    const auto scalars = nlohmann::json::parse(file);
    const auto expectLimits = [&](const std::vector<replay::Coefficients>& steps, const char* schedule) {
        const auto limits = replay::divergenceLimits(steps);
        const auto& expected = scalars.at(schedule).at("per_step");
        ASSERT_EQ(limits.size(), expected.size());
        for (std::size_t k = 0; k < limits.size(); ++k) {
            EXPECT_NEAR(limits[k], expected[k].at("limit").get<double>(), 2e-6) << schedule << " step " << k + 1;
        }
    };
    expectLimits(replay::stepsOf(variantOf("gns-gram"), {}, 1.0), "polar-express-5");
    expectLimits(replay::stepsOf(variantOf("polar-express-unprotected"), {}, 1.05), "gns");
    EXPECT_EQ(replay::stepsOf(variantOf("gns-gram"), {}, 1.05), variantOf("gns-gram").steps) << "to the last digit";
    EXPECT_EQ(replay::stepsOf(variantOf("gns-gram"), 7, {}).size(), 7U);
}

TEST(Safety, AScheduleThatDivergesBelowOneStillHasItsLimits)
{
    const auto steps = replay::stepsOf(variantOf("gns-gram"), {}, 0.95);
    const auto limits = replay::divergenceLimits(steps);
    for (std::size_t k = 0; k < limits.size(); ++k) {
        const auto rest = std::span(steps).subspan(k);
        EXPECT_LE(std::abs(replay::applySchedule(rest, limits[k] * (1 - 1e-9))), 1.5) << "step " << k + 1;
        EXPECT_GT(std::abs(replay::applySchedule(rest, limits[k] * (1 + 1e-6))), 1.5) << "step " << k + 1;
    }
    // Every step overshoots what the next one bears, long before one.
    EXPECT_LT(limits[0], 0.1);
    for (int i = 1; i < 100000; ++i) {
        ASSERT_LE(std::abs(replay::applySchedule(steps, limits[0] * i / 100000)), 1.5) << i;
    }
}

TEST(ScalarCurves, AscendAndTurnAtTheLimit)
{
    const auto& steps = variantOf("keller-jordan").steps;
    const double limit = replay::divergenceLimits(steps).front();
    const auto curve = replay::scalarCurve(steps, limit, 1.5);
    ASSERT_EQ(curve.sigma.size(), curve.result.size());
    EXPECT_TRUE(std::ranges::is_sorted(curve.sigma));
    EXPECT_EQ(curve.sigma.back(), 1.5);
    double below = 0;
    double above = INFINITY;
    for (std::size_t i = 0; i < curve.sigma.size(); ++i) {
        if (curve.sigma[i] <= limit) {
            EXPECT_LE(std::abs(curve.result[i]), 1.5) << curve.sigma[i];
            below = std::max(below, curve.sigma[i]);
        } else {
            above = std::min(above, curve.sigma[i]);
        }
    }
    EXPECT_EQ(below, limit);
    EXPECT_LT(above / limit, 1 + 1e-6);
}

TEST_F(Cliffs, SigmaIsThatOfTheClosedForm)
{
    const std::vector<double> values {3, 2, 1};
    auto wanted = request("keller-jordan", Precision::fp64, {5, 3}, diagonal(5, 3, values));
    wanted.scale = 1.25;
    wanted.cell.epsilon = 0;
    const auto cliff = replayed(wanted);
    const double norm = std::sqrt(14.0);
    ASSERT_EQ(cliff.replays.size(), 1U);
    ASSERT_EQ(cliff.replays[0].sigma.size(), 5U);
    const std::span steps(variantOf("keller-jordan").steps);
    for (std::size_t k = 0; k < 5; ++k) {
        double largest = 0;
        for (const double value : values) {
            largest = std::max(largest, replay::applySchedule(steps.first(k), 1.25 * value / norm));
        }
        EXPECT_NEAR(cliff.replays[0].sigma[k], largest, 1e-12) << "step " << k + 1;
    }
    EXPECT_EQ(cliff.limits, replay::divergenceLimits(steps));
    EXPECT_EQ(cliff.safety, 1);
}

TEST_F(Cliffs, AScaleOfOneIsTheCellAsSwept)
{
    const auto input = waveValues(2 * 12 * 20);
    auto wanted = request("dion-polar-express", Precision::bf16, {2, 12, 20}, input);
    wanted.batch = 1;
    const auto cliff = replayed(wanted);
    const auto device = replay::makeEigenDevice(1);
    const auto cell = replay::replayCell(*tensorfile::openCapture(wanted.capture), wanted.cell, {}, *device).value();
    const Cell& same = cliff.replays.front().cell;
    EXPECT_EQ(same.outcome, cell.outcome);
    EXPECT_EQ(same.epsilon, cell.epsilon);
    EXPECT_EQ(same.lowering, cell.lowering);
    EXPECT_EQ(same.batches.front().batch, 1);
    EXPECT_EQ(cliff.batches, 2);
    EXPECT_EQ(cliff.safety, 1.02);
}

TEST_F(Cliffs, InfArrivesWhereTheScalarIterationLeavesTheFormat)
{
    // One singular value, so that the matrix does what the scalar does; fp16 ends at 65504, from 1.05482 on.
    auto wanted = request("gns-standard", Precision::fp16, {4, 6}, diagonal(4, 6, {2}));
    EXPECT_EQ(outcomeAt(wanted, 1), Outcome::finite);
    EXPECT_EQ(outcomeAt(wanted, 1.05), Outcome::finite);
    // By hand: 1.0557 enters step 5 as 9310 and 1.06 step 4 as 306, whose squares are beyond it.
    for (const auto& [scale, step] : {std::pair(1.0557, 5), std::pair(1.06, 4)}) {
        wanted.scale = scale;
        const auto over = replayed(wanted).replays.front();
        EXPECT_EQ(over.cell.outcome, Outcome::nan);
        ASSERT_TRUE(over.cell.firstNonFinite);
        EXPECT_EQ(over.cell.firstNonFinite->iteration, step);
        EXPECT_EQ(over.cell.firstNonFinite->op, OpName::gram);
        EXPECT_EQ(over.cell.firstNonFinite->kind, ValueClass::posInf);
        EXPECT_EQ(over.cell.birth, over.cell.firstNonFinite);
        EXPECT_NEAR(over.sigma[0], scale, 1e-3);
    }
}

TEST_F(Cliffs, ASafetyFactorMovesTheCliff)
{
    const auto wanted = request("gns-standard", Precision::fp16, {4, 6}, diagonal(4, 6, {2}));
    EXPECT_EQ(outcomeAt(wanted, 1.03), Outcome::finite);
    EXPECT_NE(outcomeAt(wanted, 1.03, 1.01), Outcome::finite);
    EXPECT_EQ(outcomeAt(wanted, 1.08, 1.1), Outcome::finite);
}

TEST_F(Cliffs, ASmallDirectionThatStaysBehindIsDegenerate)
{
    const auto wanted = request("gns-standard", Precision::fp32, {4, 6}, diagonal(4, 6, {1, 0.02}));
    EXPECT_EQ(outcomeAt(wanted, 1), Outcome::finite);
    EXPECT_EQ(outcomeAt(wanted, 1.0 / 64), Outcome::degenerate);
}

TEST_F(Cliffs, DivergenceIsHeldAgainstThePublishedRange)
{
    // fp64 does not overflow where fp16 would, and what comes out is no orthogonal matrix.
    const auto wanted = request("gns-standard", Precision::fp64, {4, 6}, diagonal(4, 6, {2}));
    EXPECT_EQ(outcomeAt(wanted, 1, 0.95), Outcome::degenerate);
}

TEST_F(Cliffs, TheEnvelopeIsThatOfTheVerdict)
{
    const auto input = waveValues(16 * 24);
    auto wanted = request("gns-gram", Precision::fp16, {16, 24}, input);
    wanted.roundings = 8;
    const auto cliff = replayed(wanted);
    ASSERT_EQ(cliff.replays.size(), 8U);
    double slack = INFINITY;
    for (std::size_t k = 0; k < cliff.limits.size(); ++k) {
        const auto range = replay::sigmaRange(cliff, k);
        ASSERT_TRUE(range);
        EXPECT_LE(range->low, cliff.replays.front().sigma[k]);
        EXPECT_GE(range->high, cliff.replays.front().sigma[k]);
        // The two roundings that a verdict takes of what is clear of its limits: the own one, and the input moved.
        const double high = std::max(cliff.replays[0].sigma[k], cliff.replays[6].sigma[k]);
        slack = std::min(slack, 100 * (cliff.limits[k] / high - 1));
    }
    diagnose::Element element;
    element.shape = {1, 16, 24};
    element.input = input;
    element.output = input;
    const auto device = replay::makeEigenDevice(1);
    const diagnose::Member gram {&variantOf("gns-gram"), Precision::fp16};
    const auto member = diagnose::replayMember(gram, element, 1e-7, diagnose::Enough::whole, *device, {}).value();
    EXPECT_EQ(member.finite, 2);
    EXPECT_DOUBLE_EQ(*member.slackPercent, slack);
}

TEST_F(Cliffs, StepsThatAreNotFiniteAreLeftOutOfTheRange)
{
    auto wanted = request("gns-standard", Precision::fp16, {4, 6}, diagonal(4, 6, {2}));
    wanted.scale = 8;
    const auto cliff = replayed(wanted);
    EXPECT_TRUE(replay::sigmaRange(cliff, 0));
    EXPECT_TRUE(std::isnan(cliff.replays.front().sigma[4]));
    EXPECT_FALSE(replay::sigmaRange(cliff, 4));
    EXPECT_FALSE(replay::sigmaRange(cliff, 5));
}

TEST_F(Cliffs, IndicesNameTheMatrixOfTheBatch)
{
    auto input = waveValues(2 * 4 * 6);
    auto wanted = request("torch-muon", Precision::fp16, {2, 4, 6}, input);
    wanted.batch = 1;
    wanted.scale = 1e4;
    const auto first = replayed(wanted).replays.front().cell.firstNonFinite;
    ASSERT_TRUE(first);
    ASSERT_EQ(first->index.size(), 3U);
    EXPECT_EQ(first->index[0], 1);
}

TEST_F(Cliffs, WhatCannotBeReplayedIsOneSentence)
{
    const auto wanted = request("gns-gram", Precision::fp16, {4, 6}, waveValues(24));
    const auto refusal = [](const replay::CliffRequest& request) {
        const auto cliff = replay::replayCliff(request, replay::makeCoreDevice);
        EXPECT_FALSE(cliff);
        return cliff ? std::string() : sentence(cliff.error());
    };
    auto bad = wanted;
    bad.roundings = 9;
    EXPECT_THAT(refusal(bad), HasSubstr("9 roundings: give 1 to 8"));
    bad = wanted;
    bad.batch = 1;
    EXPECT_THAT(refusal(bad), HasSubstr("here is no matrix 1"));
    bad = wanted;
    bad.scale = 0;
    EXPECT_THAT(refusal(bad), HasSubstr("positive"));
    bad.scale = 1;
    bad.safety = INFINITY;
    EXPECT_THAT(refusal(bad), HasSubstr("positive"));
    bad = wanted;
    bad.cell.variant = "nobody";
    EXPECT_THAT(refusal(bad), HasSubstr("nobody"));
    bad = wanted;
    bad.capture.path += ".missing";
    EXPECT_FALSE(refusal(bad).empty());
}

TEST_F(Cliffs, ACancelledOneSaysSo)
{
    JobContext job;
    job.cancel.cancel();
    const auto wanted = request("gns-gram", Precision::fp16, {4, 6}, waveValues(24));
    const auto cliff = replay::replayCliff(wanted, replay::makeCoreDevice, job);
    ASSERT_FALSE(cliff);
    EXPECT_EQ(cliff.error().kind, ErrorKind::cancelled);
}

TEST_F(Cliffs, GoThroughThePipeAndBack)
{
    auto wanted = request("gns-gram", Precision::fp16, {4, 6}, waveValues(24));
    wanted.cell.epsilon = 1e-6;
    wanted.cell.steps = 4;
    wanted.scale = 8;
    wanted.safety = 1.01;
    wanted.roundings = 3;
    EXPECT_EQ(rpc::cliffFromJson(rpc::cliffToJson(wanted), {}).value(), wanted);
    const auto cliff = replayed(wanted);
    const auto back = rpc::unpackCliff(rpc::packCliff(cliff)).value();
    EXPECT_EQ(back.scale, 8);
    EXPECT_EQ(back.safety, 1.01);
    EXPECT_EQ(back.limits, cliff.limits);
    ASSERT_EQ(back.replays.size(), 3U);
    EXPECT_EQ(back.replays[1].rounding, cliff.replays[1].rounding);
    EXPECT_EQ(back.replays[0].sigma[0], cliff.replays[0].sigma[0]);
    EXPECT_TRUE(std::isnan(back.replays[0].sigma[3]));
    EXPECT_EQ(back.replays[0].cell.outcome, cliff.replays[0].cell.outcome);
    EXPECT_EQ(back.replays[0].cell.firstNonFinite, cliff.replays[0].cell.firstNonFinite);
}

TEST_F(Cliffs, AnswersThatContradictThemselvesAreNotBelieved)
{
    const auto good = rpc::packCliff(replayed(request("gns-gram", Precision::fp16, {4, 6}, waveValues(24))));
    ASSERT_TRUE(rpc::unpackCliff(good));
    for (const char* key : {"scale", "safety", "limits", "replays", "batch"}) {
        auto bad = good;
        bad["cliff"].erase(key);
        EXPECT_FALSE(rpc::unpackCliff(bad)) << key;
    }
    auto bad = good;
    bad["cliff"]["replays"][0]["sigma"].erase(0);
    EXPECT_FALSE(rpc::unpackCliff(bad));
    bad = good;
    bad["cliff"]["replays"] = nlohmann::ordered_json::array();
    EXPECT_FALSE(rpc::unpackCliff(bad));
}

} // namespace
} // namespace nanscope
