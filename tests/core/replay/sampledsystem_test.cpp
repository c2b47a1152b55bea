// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The whole decomposition is the independent computation here: forecast_test.cpp holds it against replays.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "core/replay/analysis/forecast.h"
#include "core/replay/analysis/singularsystem.h"
#include "core/replay/engine/replay.h"
#include "core/replay/engine/spectrum.h"
#include "core/replay/variants/variant.h"

namespace nanscope {
namespace {

using Matrix = std::vector<double>;

Matrix gaussian(std::int64_t rows, std::int64_t cols, unsigned seed = 7)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    Matrix matrix(static_cast<std::size_t>(rows * cols));
    std::ranges::generate(matrix, [&] { return normal(random); });
    return matrix;
}

Matrix product(const Matrix& a, const Matrix& b, std::int64_t inner)
{
    const auto rows = static_cast<std::int64_t>(a.size()) / inner;
    const auto cols = static_cast<std::int64_t>(b.size()) / inner;
    Matrix out(static_cast<std::size_t>(rows * cols), 0);
    for (std::int64_t i = 0; i < rows * cols; ++i) {
        for (std::int64_t k = 0; k < inner; ++k) {
            out[static_cast<std::size_t>(i)] +=
                a[static_cast<std::size_t>(i / cols * inner + k)] * b[static_cast<std::size_t>(k * cols + i % cols)];
        }
    }
    return out;
}

struct Case
{
    const char* name;
    MatrixShape shape;
    Matrix matrix;
};

Matrix scaledRows(Matrix matrix, std::int64_t cols, const std::function<double(std::int64_t)>& factor)
{
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        matrix[i] *= factor(static_cast<std::int64_t>(i) / cols);
    }
    return matrix;
}

/// Every singular value is 2 or 0.5: reflections of a diagonal.
Matrix repeated(std::int64_t rows, std::int64_t cols)
{
    Matrix matrix(static_cast<std::size_t>(rows * cols), 0);
    for (std::int64_t i = 0; i < std::min(rows, cols); ++i) {
        matrix[static_cast<std::size_t>(i * cols + i)] = i % 3 == 0 ? 2 : 0.5;
    }
    const auto u = gaussian(rows, 1, 3);
    double squares = 0;
    for (const double value : u) {
        squares += value * value;
    }
    for (std::int64_t c = 0; c < cols; ++c) {
        double along = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
            along += u[static_cast<std::size_t>(r)] * matrix[static_cast<std::size_t>(r * cols + c)];
        }
        for (std::int64_t r = 0; r < rows; ++r) {
            matrix[static_cast<std::size_t>(r * cols + c)] -= 2 * along / squares * u[static_cast<std::size_t>(r)];
        }
    }
    return matrix;
}

std::vector<Case> cases()
{
    const MatrixShape wide {1, 70, 131};
    const MatrixShape tall {1, 131, 70};
    const MatrixShape square {1, 67, 67};
    const auto power = [](std::int64_t row) { return std::pow(1.0 + static_cast<double>(row), -1.5); };
    return {
        {"gaussian", wide, gaussian(70, 131)},
        {"gaussian, tall", tall, gaussian(131, 70)},
        {"gaussian, square", square, gaussian(67, 67)},
        {"power law", wide, scaledRows(gaussian(70, 131), 131, power)},
        {"power law, tall", tall, scaledRows(gaussian(131, 70), 70, power)},
        {"low rank", wide, product(gaussian(70, 3), gaussian(3, 131, 8), 3)},
        {"rank one, tall", tall, product(gaussian(131, 1), gaussian(1, 70, 8), 1)},
        {"repeated values", wide, repeated(70, 131)},
        {"repeated values, square", square, repeated(67, 67)},
        {"zero rows", wide, scaledRows(gaussian(70, 131), 131, [](auto row) { return row % 5 == 2 ? 0.0 : 1.0; })},
        {"tiny", wide, scaledRows(gaussian(70, 131), 131, [](auto) { return 1e-180; })},
        {"longer than a panel", {1, 30, 9000}, gaussian(30, 9000)},
        {"longer than a panel, tall", {1, 9000, 30}, gaussian(9000, 30)},
        {"huge, tall", tall, scaledRows(gaussian(131, 70), 70, [](auto) { return 1e180; })},
    };
}

replay::SampledPlaces placesIn(const MatrixShape& shape)
{
    replay::SampledPlaces places;
    for (std::int64_t row = 0; row < shape.rows; row += 3) {
        places.rows.push_back(row);
    }
    for (std::int64_t col = 1; col < shape.cols; col += 2) {
        places.cols.push_back(col);
    }
    places.sums = {gaussian(shape.rows, 1, 21), Matrix(static_cast<std::size_t>(shape.rows), 0)};
    return places;
}

/// The same places of a whole output.
Matrix cutOf(const Matrix& whole, const MatrixShape& shape, const replay::SampledPlaces& places)
{
    Matrix cut;
    for (const auto row : places.rows) {
        for (const auto col : places.cols) {
            cut.push_back(whole[static_cast<std::size_t>(row * shape.cols + col)]);
        }
    }
    for (const auto& sum : places.sums) {
        for (const auto col : places.cols) {
            double total = 0;
            for (std::int64_t row = 0; row < shape.rows; ++row) {
                total += sum[static_cast<std::size_t>(row)] * whole[static_cast<std::size_t>(row * shape.cols + col)];
            }
            cut.push_back(total);
        }
    }
    return cut;
}

double scaledNorm(const Matrix& matrix)
{
    double largest = 0;
    for (const double value : matrix) {
        largest = std::max(largest, std::abs(value));
    }
    double sum = 0;
    for (const double value : matrix) {
        sum += value / largest * (value / largest);
    }
    return largest * std::sqrt(sum);
}

double scaledDistance(const Matrix& a, const Matrix& b)
{
    Matrix apart;
    std::ranges::transform(a, b, std::back_inserter(apart), std::minus<>());
    return std::ranges::all_of(apart, [](double x) { return x == 0; }) ? 0 : scaledNorm(apart) / scaledNorm(b);
}

TEST(SampledSystem, HasTheValuesOfTheWhole)
{
    for (const auto& one : cases()) {
        const replay::SingularSystem whole(one.matrix, one.shape);
        const auto sampled = replay::SampledSystem::of(one.matrix, one.shape, placesIn(one.shape));
        ASSERT_TRUE(sampled) << one.name;
        auto values = sampled->values();
        std::ranges::sort(values);
        ASSERT_EQ(values.size(), whole.values().size()) << one.name;
        const double largest = values.back();
        for (std::size_t i = 0; i < values.size(); ++i) {
            // Below the rounding of the squares nothing is known.
            EXPECT_NEAR(std::pow(values[i] / largest, 2), std::pow(whole.values()[i] / largest, 2), 1e-13)
                << one.name << ", " << i;
        }
    }
}

TEST(SampledSystem, GivesInItsPlacesWhatTheWholeGivesThereForEverySchedule)
{
    int compared = 0;
    for (const auto& one : cases()) {
        const replay::SingularSystem whole(one.matrix, one.shape);
        const auto places = placesIn(one.shape);
        const auto sampled = replay::SampledSystem::of(one.matrix, one.shape, places);
        ASSERT_TRUE(sampled) << one.name;
        for (const auto& variant : replay::variants()) {
            if (!replay::actsOnValuesAlone(variant)) {
                continue;
            }
            const double denominator = scaledNorm(one.matrix);
            const auto gains = replay::gainsOf(variant, whole.values(), denominator);
            const auto expected = cutOf(whole.amplified(gains), one.shape, places);
            const auto found = sampled->amplified(replay::gainsOf(variant, sampled->values(), denominator));
            // The whole is in fp32, whose roundings a schedule amplifies where the matrix has nothing.
            const double rounding = 1e-7 * (1 + denominator * std::ranges::max(gains));
            EXPECT_LT(scaledDistance(found, expected), 10 * rounding) << one.name << ", " << variant.name;
            ++compared;
        }
    }
    EXPECT_GE(compared, 300);
}

TEST(SampledSystem, GivesInItsPlacesWhatAReplayInFp64Gives)
{
    const auto device = replay::makeEigenDevice(1);
    for (const auto& one : cases()) {
        const double norm = scaledNorm(one.matrix);
        if (norm < 1e-6 || norm > 1e6) {
            continue;
        }
        const auto places = placesIn(one.shape);
        const auto sampled = replay::SampledSystem::of(one.matrix, one.shape, places);
        ASSERT_TRUE(sampled) << one.name;
        for (const char* name : {"keller-jordan", "dion-hybrid", "polar-express", "gns-gram"}) {
            const auto& variant = *replay::builtInVariant(name);
            replay::ReplayOptions options;
            options.precision = Precision::fp64;
            options.keepOutput = true;
            const auto replayed = replay::replay(variant, one.shape, one.matrix, *device, options);
            ASSERT_TRUE(replayed) << one.name << ", " << name;
            const auto found = sampled->amplified(
                replay::gainsOf(variant, sampled->values(), replay::denominatorOf(variant, norm, {})));
            EXPECT_LT(scaledDistance(found, cutOf(replayed->outputs[0].doubles(), one.shape, places)), 1e-8)
                << one.name << ", " << name;
        }
    }
}

TEST(SampledSystem, GivesTheMatrixBackUnderGainsOfOne)
{
    for (const auto& one : cases()) {
        const auto places = placesIn(one.shape);
        const auto sampled = replay::SampledSystem::of(one.matrix, one.shape, places);
        ASSERT_TRUE(sampled) << one.name;
        const auto back = sampled->amplified(Matrix(sampled->values().size(), 1));
        EXPECT_LT(scaledDistance(back, cutOf(one.matrix, one.shape, places)), 1e-12) << one.name;
    }
}

TEST(SampledSystem, OfOneRowOrOneValue)
{
    const auto row = replay::SampledSystem::of(Matrix {3, 4}, {1, 1, 2}, {{0}, {}, {1}});
    ASSERT_TRUE(row);
    EXPECT_NEAR(row->values().at(0), 5, 1e-12);
    EXPECT_NEAR(row->amplified(Matrix {2}).at(0), 8, 1e-12);
}

TEST(SampledSystem, IsNothingOnceCancelled)
{
    CancelToken cancel;
    cancel.cancel();
    EXPECT_FALSE(replay::SampledSystem::of(gaussian(70, 131), {1, 70, 131}, placesIn({1, 70, 131}), cancel));
}

TEST(Tridiagonal, ReflectionsAndRotationsKeepTheBlockAsItIsSeenByTheMatrix)
{
    // b^T A b = (Q^T b)^T L (Q^T b)
    for (const std::int64_t n : {1, 2, 3, 31, 32, 33, 64, 65, 100}) {
        auto a = gaussian(n, n);
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < i; ++j) {
                a[static_cast<std::size_t>(i * n + j)] = a[static_cast<std::size_t>(j * n + i)];
            }
        }
        const auto b = gaussian(n, 1, 9);
        double expected = 0;
        const auto across = product(a, b, n);
        for (std::size_t i = 0; i < b.size(); ++i) {
            expected += b[i] * across[i];
        }
        replay::Block block {b, 1};
        const auto values = replay::diagonalise(replay::reduceToTridiagonal(a, n, block), block);
        double found = 0;
        for (std::size_t i = 0; i < b.size(); ++i) {
            found += values[i] * block.values[i] * block.values[i];
        }
        EXPECT_NEAR(found, expected, 1e-10 * static_cast<double>(n * n)) << n;
    }
}

TEST(Tridiagonal, MultipliesByTheUpperHalf)
{
    const std::vector<float> matrix {1, 2, 3, 99, 4, 5, 99, 99, 6};
    std::vector<float> out(3);
    replay::multiplySymmetric(matrix, std::vector<float> {1, 10, 100}, out);
    EXPECT_EQ(out, (std::vector<float> {321, 542, 653}));
}

TEST(SampledSystem, TellsHowFarItIsAndIsGivenUpWhereItIs)
{
    const MatrixShape shape {1, 200, 9000};
    const auto matrix = gaussian(200, 9000);
    const auto device = replay::makeEigenDevice();
    std::vector<double> told;
    {
        const replay::Following following(*device, [&](double share) { told.push_back(share); });
        ASSERT_TRUE(replay::SampledSystem::of(matrix, shape, placesIn(shape), {}, device.get()));
    }
    EXPECT_GT(told.size(), 20U);
    EXPECT_TRUE(std::ranges::is_sorted(told));
    EXPECT_GE(told.front(), 0);
    EXPECT_EQ(told.back(), 1);
    const auto all = told.size();
    for (const double at : {0.1, 0.5, 0.9}) {
        told.clear();
        CancelToken cancel;
        const replay::Following following(*device, [&](double share) {
            told.push_back(share);
            if (share >= at) {
                cancel.cancel();
            }
        });
        EXPECT_FALSE(replay::SampledSystem::of(matrix, shape, placesIn(shape), cancel, device.get())) << at;
        EXPECT_LT(told.size(), all) << at;
    }
    told.clear();
    ASSERT_TRUE(replay::SampledSystem::of(matrix, shape, placesIn(shape), {}, device.get()));
    EXPECT_TRUE(told.empty()) << "nobody follows any more";
}

} // namespace
} // namespace nanscope
