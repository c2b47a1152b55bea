// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "core/replay/engine/spectrum.h"

namespace nanscope {
namespace {

using Matrix = std::vector<double>;

/// Column k of the orthonormal cosine basis of this length.
std::vector<double> cosine(std::int64_t length, int k)
{
    std::vector<double> column;
    const double scale = std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(length));
    for (std::int64_t i = 0; i < length; ++i) {
        const double angle = std::numbers::pi / static_cast<double>(length) * (static_cast<double>(i) + 0.5) * k;
        column.push_back(scale * std::cos(angle));
    }
    return column;
}

/// The matrix with these singular values, between cosine bases.
Matrix withSingularValues(std::int64_t rows, std::int64_t cols, const std::vector<double>& sigmas)
{
    Matrix matrix(static_cast<std::size_t>(rows * cols), 0);
    for (std::size_t k = 0; k < sigmas.size(); ++k) {
        const auto left = cosine(rows, static_cast<int>(k));
        const auto right = cosine(cols, static_cast<int>(k));
        for (std::size_t i = 0; i < matrix.size(); ++i) {
            const auto width = static_cast<std::size_t>(cols);
            matrix[i] += sigmas[k] * left[i / width] * right[i % width];
        }
    }
    return matrix;
}

double dot(const std::vector<double>& a, const std::vector<double>& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

Matrix diagonal(const std::vector<double>& values)
{
    Matrix matrix(values.size() * values.size(), 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
        matrix[i * values.size() + i] = values[i];
    }
    return matrix;
}

TEST(LargestEigenvalue, OfADiagonalIsItsLargestEntry)
{
    EXPECT_NEAR(replay::largestEigenvalue(diagonal({1, 5, 3}), 3), 5, 1e-12);
    EXPECT_NEAR(replay::largestEigenvalue(diagonal({-7, -2, -3}), 3), -2, 1e-12) << "largest, not largest in magnitude";
    EXPECT_NEAR(replay::largestEigenvalue(diagonal({4}), 1), 4, 1e-15);
    EXPECT_EQ(replay::largestEigenvalue(Matrix(25, 0), 5), 0);
}

TEST(LargestEigenvalue, OfAChainIsTheClosedForm)
{
    // Twos with -1 beside them: 2 + 2 cos(pi / (n + 1)).
    for (const std::int64_t n : {2, 5, 20}) {
        Matrix chain(static_cast<std::size_t>(n * n), 0);
        for (std::int64_t i = 0; i < n; ++i) {
            chain[static_cast<std::size_t>(i * n + i)] = 2;
            if (i + 1 < n) {
                chain[static_cast<std::size_t>(i * n + i + 1)] = -1;
                chain[static_cast<std::size_t>((i + 1) * n + i)] = -1;
            }
        }
        const double expected = 2 + 2 * std::cos(std::numbers::pi / static_cast<double>(n + 1));
        const double found = replay::largestEigenvalue(chain, n);
        EXPECT_GE(found, expected * (1 - 1e-12)) << n;
        EXPECT_LE(found, expected * (1 + 2e-5)) << n;
    }
}

TEST(LargestEigenvalue, NeverUnderstatesACrowdedSpectrum)
{
    std::vector<double> values;
    for (int i = 1; i <= 200; ++i) {
        values.push_back(std::sqrt(i));
    }
    const double found = replay::largestEigenvalue(diagonal(values), 200);
    // Understated, it would overstate the slack that a verdict rests on.
    EXPECT_GE(found, std::sqrt(200.0) * (1 - 1e-9));
    EXPECT_LE(found, std::sqrt(200.0) * (1 + 1e-4));
}

TEST(LargestEigenvalue, OfALargeMatrixIsToldToATwentiethOfAPerMille)
{
    for (const double size : {1.0, 1e-30, 1e60}) {
        std::vector<double> values;
        for (int i = 1; i <= 400; ++i) {
            values.push_back(size * std::sqrt(i));
        }
        const double found = replay::largestEigenvalue(diagonal(values), 400) / size;
        EXPECT_GE(found, 20 * (1 - 1e-6)) << size;
        EXPECT_LE(found, 20 * (1 + 1e-4)) << size;
    }
}

TEST(LargestEigenvalue, OfALargeMatrixIsNanWhereAnythingIsNotFinite)
{
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        auto matrix = diagonal(std::vector<double>(400, 1));
        matrix[400 * 399 + 7] = bad;
        EXPECT_TRUE(std::isnan(replay::largestEigenvalue(matrix, 400)));
    }
}

TEST(LargestEigenvalue, IsNanWhereAnythingIsNotFinite)
{
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        auto matrix = diagonal({1, 2, 3});
        matrix[5] = bad;
        EXPECT_TRUE(std::isnan(replay::largestEigenvalue(matrix, 3)));
    }
    EXPECT_TRUE(std::isnan(replay::largestEigenvalue(ValueView(), 0)));
}

TEST(MultiplySymmetric, GivesTheSameBitsWhereverItsNumbersLie)
{
    // A malloc of another size before moves them by 16 bytes, and vectors are as long as 64.
    constexpr std::size_t size = 401;
    std::vector<float> matrix(size * size);
    std::vector<float> x(size);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        const auto product = (i % size) * (i / size); // of row and column: symmetric
        matrix[i] = static_cast<float>(std::sin(static_cast<double>(product + 1)));
    }
    for (std::size_t i = 0; i < size; ++i) {
        x[i] = static_cast<float>(std::cos(static_cast<double>(i)));
    }
    std::vector<float> expected(size);
    replay::multiplySymmetric(matrix, x, expected);
    for (std::size_t offset = 1; offset < 16; ++offset) {
        std::vector<float> room(size + offset);
        const auto out = std::span(room).subspan(offset);
        replay::multiplySymmetric(matrix, x, out);
        EXPECT_TRUE(std::ranges::equal(out, expected)) << offset;
    }
}

TEST(SmallestEigenvalue, OfADiagonalIsItsSmallestEntry)
{
    EXPECT_NEAR(replay::smallestEigenvalue(diagonal({1, 5, 3}), 3), 1, 1e-12);
    EXPECT_NEAR(replay::smallestEigenvalue(diagonal({-7, 9, -3}), 3), -7, 1e-12)
        << "smallest, not smallest in magnitude";
    EXPECT_NEAR(replay::smallestEigenvalue(diagonal({4}), 1), 4, 1e-15);
    EXPECT_EQ(replay::smallestEigenvalue(Matrix(25, 0), 5), 0);
}

TEST(SmallestEigenvalue, OfAChainIsTheClosedForm)
{
    // Twos with -1 beside them: 2 - 2 cos(pi / (n + 1)).
    for (const std::int64_t n : {2, 5, 20, 100}) {
        Matrix chain(static_cast<std::size_t>(n * n), 0);
        for (std::int64_t i = 0; i < n; ++i) {
            chain[static_cast<std::size_t>(i * n + i)] = 2;
            if (i + 1 < n) {
                chain[static_cast<std::size_t>(i * n + i + 1)] = -1;
                chain[static_cast<std::size_t>((i + 1) * n + i)] = -1;
            }
        }
        const double expected = 2 - 2 * std::cos(std::numbers::pi / static_cast<double>(n + 1));
        EXPECT_NEAR(replay::smallestEigenvalue(chain, n), expected, 2e-3 * expected) << n;
    }
}

TEST(SmallestEigenvalue, FindsOneThatIsTinyBesideTheNorm)
{
    std::vector<double> values(400, 0);
    for (std::size_t i = 0; i < 20; ++i) {
        values[i * 7] = 1.0 / static_cast<double>(i + 1);
    }
    values[201] = -4e-4;
    values[202] = -1e-4;
    EXPECT_NEAR(replay::smallestEigenvalue(diagonal(values), 400), -4e-4, 1e-6);
}

TEST(SmallestEigenvalue, IsThatOfTheSymmetricPart)
{
    EXPECT_NEAR(replay::smallestEigenvalue(Matrix {1, 5, -5, 2}, 2), 1, 1e-12);
    EXPECT_NEAR(replay::smallestEigenvalue(Matrix {0, 2, 0, 0}, 2), -1, 1e-12);
}

TEST(SmallestEigenvalue, IsNanWhereAnythingIsNotFinite)
{
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        auto matrix = diagonal({1, 2, 3});
        matrix[5] = bad;
        EXPECT_TRUE(std::isnan(replay::smallestEigenvalue(matrix, 3)));
    }
}

TEST(LeadingDirections, AreTheSingularVectorsLargestFirst)
{
    const auto directions = replay::leadingDirections(withSingularValues(12, 20, {5, 2, 0.5}), 12, 20, 0.01, 8);
    ASSERT_EQ(directions.size(), 3U);
    const double expected[] = {5, 2, 0.5};
    for (int k = 0; k < 3; ++k) {
        const auto& direction = directions[static_cast<std::size_t>(k)];
        EXPECT_NEAR(direction.sigma, expected[k], 1e-9) << k;
        EXPECT_NEAR(std::abs(dot(direction.left, cosine(12, k))), 1, 1e-9) << k;
        EXPECT_NEAR(dot(direction.left, direction.left), 1, 1e-12) << k;
    }
}

TEST(LeadingDirections, BelowTheShareOfTheNormAreNoise)
{
    const auto matrix = withSingularValues(12, 20, {1, 0.02, 0.0099});
    EXPECT_EQ(replay::leadingDirections(matrix, 12, 20, 0.01, 8).size(), 2U);
    EXPECT_EQ(replay::leadingDirections(matrix, 12, 20, 0.5, 8).size(), 1U);
}

TEST(LeadingDirections, AreNoMoreThanAskedFor)
{
    const auto matrix = withSingularValues(12, 20, {6, 5, 4, 3, 2, 1});
    const auto two = replay::leadingDirections(matrix, 12, 20, 0.01, 2);
    ASSERT_EQ(two.size(), 2U);
    EXPECT_NEAR(two[0].sigma, 6, 1e-6);
    EXPECT_NEAR(two[1].sigma, 5, 1e-6);
}

TEST(LeadingDirections, SurviveMagnitudesWhoseSquaresLeaveTheRange)
{
    for (const double scale : {1e-200, 1e200}) {
        auto matrix = withSingularValues(6, 9, {3, 1});
        for (auto& x : matrix) {
            x *= scale;
        }
        const auto directions = replay::leadingDirections(matrix, 6, 9, 0.01, 8);
        ASSERT_EQ(directions.size(), 2U) << scale;
        EXPECT_NEAR(directions[0].sigma / scale, 3, 1e-9);
        EXPECT_NEAR(directions[1].sigma / scale, 1, 1e-9);
    }
}

TEST(LeadingDirections, AreNotLookedForOnceCancelled)
{
    const std::vector<double> matrix {3, 0, 0, 1};
    EXPECT_EQ(replay::leadingDirections(matrix, 2, 2, 0, 2).size(), 2U);
    CancelToken cancel;
    cancel.cancel();
    EXPECT_TRUE(replay::leadingDirections(matrix, 2, 2, 0, 2, cancel).empty());
}

TEST(LeadingDirections, OfNothingAndOfDamageAreNone)
{
    EXPECT_TRUE(replay::leadingDirections(Matrix(12, 0), 3, 4, 0.01, 8).empty());
    Matrix damaged(12, 1);
    damaged[7] = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(replay::leadingDirections(damaged, 3, 4, 0.01, 8).empty());
}

TEST(LeadingDirections, RowsAndColumnsOfOneAreMatricesToo)
{
    const auto row = replay::leadingDirections(Matrix {3, 4}, 1, 2, 0.01, 8);
    ASSERT_EQ(row.size(), 1U);
    EXPECT_NEAR(row[0].sigma, 5, 1e-12);
    const auto column = replay::leadingDirections(Matrix {3, 4}, 2, 1, 0.01, 8);
    ASSERT_EQ(column.size(), 1U);
    EXPECT_NEAR(column[0].sigma, 5, 1e-12);
    EXPECT_NEAR(std::abs(column[0].left[0]), 0.6, 1e-9);
}

TEST(GainAlong, IsTheNormOfTheProjectedRows)
{
    const Matrix matrix {3, 4, 0, 0, 5, 12};
    EXPECT_NEAR(replay::gainAlong(std::vector<double> {1, 0}, matrix, 3), 5, 1e-15);
    EXPECT_NEAR(replay::gainAlong(std::vector<double> {0, 1}, matrix, 3), 13, 1e-15);
    EXPECT_NEAR(replay::gainAlong(std::vector<double> {0.6, 0.8}, matrix, 3), std::hypot(1.8, 2.4 + 4, 9.6), 1e-12);
}

} // namespace
} // namespace nanscope
