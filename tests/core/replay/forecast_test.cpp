// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The replays are the independent computation here: tests/reference holds them against torch.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "core/replay/analysis/forecast.h"
#include "core/replay/analysis/singularsystem.h"
#include "core/replay/engine/replay.h"
#include "core/replay/variants/variant.h"

namespace nanscope {
namespace {

using Matrix = std::vector<double>;

Matrix gaussianOfSize(std::int64_t rows, std::int64_t cols, double size)
{
    std::mt19937 random(7);
    std::normal_distribution<double> normal(0, size);
    Matrix matrix(static_cast<std::size_t>(rows * cols));
    for (auto& value : matrix) {
        value = normal(random);
    }
    return matrix;
}

/// Rows that fall off as a power: the last ones are next to nothing.
Matrix decaying(std::int64_t rows, std::int64_t cols)
{
    auto matrix = gaussianOfSize(rows, cols, 1);
    for (std::int64_t i = 0; i < rows * cols; ++i) {
        const auto row = i / cols;
        matrix[static_cast<std::size_t>(i)] *= std::pow(1.0 + static_cast<double>(row), -1.5);
    }
    return matrix;
}

double plainNorm(const Matrix& matrix)
{
    double sum = 0;
    for (const double value : matrix) {
        sum += value * value;
    }
    return std::sqrt(sum);
}

replay::InputSize sizeOf(const Matrix& matrix, const MatrixShape& shape)
{
    double absmax = 0;
    for (const double value : matrix) {
        absmax = std::max(absmax, std::abs(value));
    }
    return {absmax, plainNorm(matrix), shape.rows == shape.cols};
}

replay::Replay replayOf(
    const replay::Variant& variant, Precision precision, const Matrix& matrix, const MatrixShape& shape)
{
    replay::ReplayOptions options;
    options.precision = precision;
    options.rounding.lowering = variant.lowering;
    options.keepOutput = true;
    options.spectralNorms = true;
    const auto device = replay::makeEigenDevice(1);
    auto done = replay::replay(variant, shape, matrix, *device, options);
    EXPECT_TRUE(done) << variant.name;
    return done ? std::move(*done) : replay::Replay {};
}

double plainDistance(const Matrix& a, const Matrix& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return std::sqrt(sum) / plainNorm(b);
}

TEST(SingularSystem, HasTheValuesOfADiagonal)
{
    const replay::SingularSystem system({3, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0, 2}, {1, 3, 4});
    ASSERT_EQ(system.values().size(), 3U);
    EXPECT_NEAR(system.values()[0], 0.5, 1e-12);
    EXPECT_NEAR(system.values()[1], 2, 1e-12);
    EXPECT_NEAR(system.values()[2], 3, 1e-12);
}

TEST(SingularSystem, GivesTheMatrixBackUnderGainsOfOneHoweverLargeOrSmallItIs)
{
    for (const MatrixShape& shape : {MatrixShape {1, 5, 9}, MatrixShape {1, 9, 5}, MatrixShape {1, 6, 6}}) {
        for (const double size : {1e-200, 1.0, 1e200}) {
            const auto matrix = gaussianOfSize(shape.rows, shape.cols, size);
            const replay::SingularSystem system(matrix, shape);
            const auto back = system.amplified(Matrix(system.values().size(), 1 / size));
            EXPECT_LT(plainDistance(back, gaussianOfSize(shape.rows, shape.cols, 1)), 1e-6)
                << shape.rows << " x " << shape.cols << ", " << size;
        }
    }
}

TEST(SingularSystem, IsNotWaitedForOnceCancelled)
{
    CancelToken cancel;
    cancel.cancel();
    EXPECT_EQ(replay::SingularSystem::of(gaussianOfSize(200, 300, 1), {1, 200, 300}, cancel), nullptr);
}

TEST(Forecast, GainsAreThoseOfTheScheduleAndTheNorm)
{
    replay::Variant variant;
    variant.steps = {{2, -1, 0.5}, {1.5, -0.5, 0}};
    variant.epsilon = 0;
    const double norm = 4;
    const double value = 2;
    const double once = 2 * 0.5 - 1 * 0.125 + 0.5 * 0.03125;
    const double twice = 1.5 * once - 0.5 * once * once * once;
    const Matrix values {value, 0};
    const auto gains = replay::gainsOf(variant, values, replay::denominatorOf(variant, norm, {}));
    EXPECT_NEAR(gains[0], twice / value, 1e-15);
    EXPECT_NEAR(gains[1], 2 * 1.5 / norm, 1e-15) << "of nothing, the gain is that of the linear terms";
}

TEST(Forecast, TheDenominatorFollowsTheRuleOfTheVariant)
{
    replay::Variant variant;
    variant.epsilon = 0.25;
    variant.normFactor = 2;
    EXPECT_EQ(replay::denominatorOf(variant, 3, {}), 6.25);
    EXPECT_EQ(replay::denominatorOf(variant, 3, 0.5), 6.5);
    variant.ignoresCallerEpsilon = true;
    EXPECT_EQ(replay::denominatorOf(variant, 3, 0.5), 6.25);
    variant.epsilonRule = replay::EpsilonRule::clamp;
    EXPECT_EQ(replay::denominatorOf(variant, 3, {}), 6);
    EXPECT_EQ(replay::denominatorOf(variant, 0.1, {}), 0.25);
}

TEST(Forecast, TheOutputOfEverySpectralVariantIsThatOfItsReplayInFp64)
{
    for (const MatrixShape& shape : {MatrixShape {1, 24, 40}, MatrixShape {1, 40, 24}}) {
        const auto matrix = decaying(shape.rows, shape.cols);
        const replay::SingularSystem system(matrix, shape);
        int compared = 0;
        for (const auto& variant : replay::variants()) {
            if (!replay::actsOnValuesAlone(variant)) {
                continue;
            }
            const auto gains =
                replay::gainsOf(variant, system.values(), replay::denominatorOf(variant, plainNorm(matrix), {}));
            const auto replayed = replayOf(variant, Precision::fp64, matrix, shape);
            EXPECT_LT(plainDistance(system.amplified(gains), replayed.outputs[0].doubles()), 1e-5) << variant.name;
            ++compared;
        }
        EXPECT_GE(compared, 30);
    }
}

TEST(Forecast, NoReplayHasLessSlackOrLargerValuesThanWasForecast)
{
    const MatrixShape shape {1, 48, 96};
    int compared = 0;
    for (const auto& matrix : {gaussianOfSize(48, 96, 0.02), decaying(48, 96)}) {
        for (const auto& variant : replay::variants()) {
            const auto foretold = replay::forecast(variant, variant.precision, sizeOf(matrix, shape), {});
            if (!foretold || !foretold->slackPercent || *foretold->slackPercent < 1) {
                continue;
            }
            ++compared;
            const auto replayed = replayOf(variant, variant.precision, matrix, shape);
            const auto limits = replay::divergenceLimits(variant.steps);
            for (std::size_t k = 0; k < limits.size(); ++k) {
                const double slack = 100 * (limits[k] / replayed.spectralNorms[0][k] - 1);
                EXPECT_GE(slack, *foretold->slackPercent - 0.5) << variant.name << ", step " << k + 1;
            }
            const bool wideFirst = variant.castOrder == replay::CastOrder::normalizeFirst;
            for (const auto& op : replayed.ops) {
                const bool wide = wideFirst && (op.op == OpName::norm || op.op == OpName::normalize);
                if (op.op != OpName::input && !wide) {
                    EXPECT_LE(op.batches[0].absmax, 1.02 * foretold->largest) << variant.name << " " << name(op.op);
                }
            }
        }
    }
    EXPECT_GE(compared, 40);
}

TEST(Forecast, SaysNothingWhereRoundingsMayOutweighTheValues)
{
    const auto of = [](const char* variant, Precision precision, double absmax) {
        return replay::forecast(*replay::builtInVariant(variant), precision, {absmax, 10 * absmax, false}, {});
    };
    EXPECT_TRUE(of("keller-jordan", Precision::bf16, 1));
    EXPECT_FALSE(of("keller-jordan", Precision::bf16, 1e-16)) << "squares vanish in fp32";
    EXPECT_FALSE(of("keller-jordan", Precision::bf16, 1e18)) << "squares overflow in fp32";
    EXPECT_FALSE(of("keller-jordan", Precision::fp16, 1e-5)) << "the cast leaves a few bits";
    EXPECT_TRUE(of("gns-standard", Precision::fp16, 1e-5)) << "normalised before the cast";
    EXPECT_FALSE(of("turbo-muon", Precision::bf16, 1)) << "no Frobenius norm";
    EXPECT_FALSE(of("gns-gram", Precision::fp16, 1)->slackPercent) << "a Gram form";
    EXPECT_TRUE(replay::forecast(*replay::builtInVariant("gns-gram"), Precision::fp16, {1, 10, true}, {})->slackPercent)
        << "in the standard form, the matrix being square";
    EXPECT_GE(of("keller-jordan", Precision::fp16, 60000)->largest, 60000) << "the input itself lives in the format";
}

} // namespace
} // namespace nanscope
