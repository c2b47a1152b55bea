// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "core/replay/engine/outcome.h"
#include "core/replay/variants/variant.h"

namespace nanscope {
namespace {

/// A replay of one 2x3 matrix that ended with this output, written by hand. The first row carries all signal.
replay::Replay ended(const std::vector<double>& output, const std::vector<double>& input = {1, 0, 0, 0, 0, 0})
{
    const auto scanned = [](const std::vector<double>& values) {
        Scan scan;
        for (const double x : values) {
            ++scan.count;
            scan.nan += std::isnan(x) ? 1 : 0;
            scan.posInf += std::isinf(x) && x > 0 ? 1 : 0;
            scan.negInf += std::isinf(x) && x < 0 ? 1 : 0;
            scan.zero += x == 0 ? 1 : 0;
        }
        return scan;
    };
    replay::Replay replay;
    replay.program.steps = replay::builtInVariant("dion-ns5")->steps;
    replay.program.shape = {1, 2, 3};
    replay.ops = {{0, OpName::input, 2, 3, {scanned(input)}, {}}, {5, OpName::output, 2, 3, {scanned(output)}, {}}};
    replay.gains = {replay::gainsAlong({{1.0, {1, 0}}}, output, 3)};
    return replay;
}

Outcome onlyOutcomeOf(const replay::Replay& replay)
{
    return replay::judgeOutcomes(replay).at(0);
}

TEST(Outcomes, NanOutweighsInfAndBothOutweighTheRest)
{
    EXPECT_EQ(onlyOutcomeOf(ended({1, NAN, INFINITY, 0, 0, 0})), Outcome::nan);
    EXPECT_EQ(onlyOutcomeOf(ended({1, 0, -INFINITY, 0, 0, 0})), Outcome::inf);
    EXPECT_EQ(onlyOutcomeOf(ended({1, 0, 0, 0, 0, 0})), Outcome::finite);
}

TEST(Outcomes, ASilentZeroIsAFindingUnlessZeroWentIn)
{
    const std::vector<double> zeros(6, 0);
    EXPECT_EQ(onlyOutcomeOf(ended(zeros)), Outcome::zero);
    EXPECT_EQ(onlyOutcomeOf(ended(zeros, zeros)), Outcome::finite);
}

TEST(Outcomes, ASignalDirectionMayLeaveThePublishedRangeByAFactorOfTwo)
{
    const auto [low, high] = replay::outputRange(replay::builtInVariant("dion-ns5")->steps);
    EXPECT_EQ(onlyOutcomeOf(ended({1.99 * high, 0, 0, 0, 0, 0})), Outcome::finite);
    EXPECT_EQ(onlyOutcomeOf(ended({2.01 * high, 0, 0, 0, 0, 0})), Outcome::degenerate);
    EXPECT_EQ(onlyOutcomeOf(ended({0.51 * low, 0, 0, 0, 0, 0})), Outcome::finite);
    EXPECT_EQ(onlyOutcomeOf(ended({0.49 * low, 0, 0, 0, 0, 0})), Outcome::degenerate);
}

TEST(Outcomes, WhatCarriesNoSignalCannotDegenerate)
{
    EXPECT_EQ(onlyOutcomeOf(ended({1, 0, 0, 100, 0, 0})), Outcome::finite) << "only the first row is looked at";
    auto along = ended({9, 0, 0, 0, 0, 0});
    along.gains = {{}};
    EXPECT_EQ(onlyOutcomeOf(along), Outcome::finite);
}

TEST(FirstNonFinite, IsTheFirstOpInOrderWithItsPlaceAndCount)
{
    auto replay = ended({0, 0, 0, 0, 0, 0});
    OpTrace gram {2, OpName::gram, 2, 2, {Scan {}}, {}};
    gram.batches[0].negInf = 2;
    gram.batches[0].nan = 1;
    gram.batches[0].firstNonFinite = 3;
    gram.batches[0].firstClass = ValueClass::negInf;
    replay.ops.insert(replay.ops.begin() + 1, gram);
    EXPECT_EQ(replay::firstNonFinite(replay, 0, false), (NonFinite {2, OpName::gram, {1, 1}, ValueClass::negInf, 3}));
    EXPECT_EQ(replay::firstNonFinite(replay, 0, true)->index, (std::vector<std::int64_t> {0, 1, 1}));
    replay.ops.erase(replay.ops.begin() + 1);
    EXPECT_FALSE(replay::firstNonFinite(replay, 0, true));
}

TEST(SignalDirections, AreThoseOfEachMatrixOfTheBatch)
{
    // 3 along the second row, 2 along the first, nothing.
    const std::vector<double> input {0, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0, 0};
    const auto directions = replay::signalDirections({3, 2, 2}, input);
    ASSERT_EQ(directions.size(), 3U);
    ASSERT_EQ(directions[0].size(), 1U);
    EXPECT_NEAR(directions[0][0].sigma, 3, 1e-12);
    EXPECT_NEAR(std::abs(directions[0][0].left[1]), 1, 1e-9);
    ASSERT_EQ(directions[1].size(), 1U);
    EXPECT_NEAR(std::abs(directions[1][0].left[0]), 1, 1e-9);
    EXPECT_TRUE(directions[2].empty());
}

TEST(RelativeDistance, HasTheEdgesItPromises)
{
    const std::vector<double> zero {0, 0};
    const std::vector<double> one {3, 4};
    EXPECT_EQ(replay::relativeDistance(one, one), 0);
    EXPECT_EQ(replay::relativeDistance(zero, zero), 0);
    EXPECT_EQ(replay::relativeDistance(zero, one), 1);
    EXPECT_TRUE(std::isinf(replay::relativeDistance(one, zero)));
    EXPECT_TRUE(std::isnan(replay::relativeDistance(std::vector<double> {NAN, 0}, one)));
    EXPECT_TRUE(std::isnan(replay::relativeDistance(one, std::vector<double> {3, NAN})));
    EXPECT_NEAR(replay::relativeDistance(std::vector<double> {3, 4.5}, one), 0.1, 1e-15);
}

/// The replay in fp64 of an input whose singular values are all equal: each op is a scalar in matrix clothes.
class EqualSingularValues : public testing::Test
{
protected:
    static constexpr int side = 8;

    replay::Replay run(std::string_view variant)
    {
        std::vector<double> input(side * 12, 0);
        for (std::size_t i = 0; i < side; ++i) {
            input[i * 12 + i] = 3;
        }
        replay::ReplayOptions options;
        options.precision = Precision::fp64;
        options.epsilon = 0;
        options.forceEpsilon = true;
        options.spectralNorms = true;
        const auto device = replay::makeEigenDevice(1);
        return *replay::replay(*replay::builtInVariant(variant), {1, side, 12}, input, *device, options);
    }
};

TEST_F(EqualSingularValues, GaugesOfTheStandardFormAreTheScalarRecursion)
{
    const auto& variant = *replay::builtInVariant("dion-ns5");
    const auto replayed = run("dion-ns5");
    const auto all = replay::gauges(replayed, 0);
    ASSERT_EQ(all.size(), variant.steps.size());
    double sigma = 1 / std::sqrt(8.0);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto [a, b, c] = variant.steps[k];
        const double square = sigma * sigma;
        const double polynomial = b * square + c * square * square;
        const double next = sigma * (a + polynomial);
        EXPECT_EQ(all[k].iteration, static_cast<int>(k) + 1);
        EXPECT_NEAR(*all[k].spectralBound, std::sqrt(std::sqrt(8.0) * square), 1e-12) << k;
        EXPECT_NEAR(*all[k].orthogonality, std::abs(1 - square), 1e-7) << k;
        EXPECT_NEAR(all[k].absmaxX, std::max({square, std::abs(polynomial), std::abs(next)}), 1e-12) << k;
        EXPECT_NEAR(replayed.spectralNorms[0][k], sigma, 1e-12) << k;
        EXPECT_FALSE(all[k].absmaxQ);
        sigma = next;
    }
}

TEST_F(EqualSingularValues, GaugesOfTheGramFormFollowQBetweenRestarts)
{
    const auto& variant = *replay::builtInVariant("gns-gram");
    const auto replayed = run("gns-gram");
    const auto all = replay::gauges(replayed, 0);
    ASSERT_EQ(variant.restarts, std::vector<int> {2});
    double sigma = 1 / std::sqrt(8.0);
    double q = 1;
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto [a, b, c] = variant.steps[k];
        q = k == 2 ? 1 : q;
        const double gain = a + b * sigma * sigma + c * std::pow(sigma, 4);
        q *= gain;
        EXPECT_NEAR(*all[k].absmaxQ, std::abs(q), 1e-9) << k;
        EXPECT_NEAR(replayed.spectralNorms[0][k], sigma, 1e-9) << k;
        sigma *= gain;
    }
    EXPECT_NEAR(replayed.ops.back().batches[0].absmax, std::abs(sigma), 1e-9);
}

TEST_F(EqualSingularValues, AQWithoutAFiniteValueHasNoLargestOne)
{
    auto replayed = run("gns-gram");
    for (auto& op : replayed.ops) {
        if (op.op == OpName::q && op.iteration == 2) {
            op.batches[0].nan = op.batches[0].count;
            op.batches[0].absmax = 0;
        }
    }
    const auto all = replay::gauges(replayed, 0);
    EXPECT_TRUE(all[0].absmaxQ);
    EXPECT_FALSE(all[1].absmaxQ);
}

TEST_F(EqualSingularValues, ANonFiniteGramHasNoGaugesOfItsOwn)
{
    auto replayed = run("dion-ns5");
    const auto slot = static_cast<std::size_t>(replayed.program.grams[1].scanSlot);
    replayed.ops[slot].batches[0].nan = 1;
    const auto all = replay::gauges(replayed, 0);
    EXPECT_TRUE(all[0].spectralBound);
    EXPECT_FALSE(all[1].spectralBound);
    EXPECT_FALSE(all[1].orthogonality);
    EXPECT_FALSE(all[1].spectralLimit);
}

} // namespace
} // namespace nanscope
