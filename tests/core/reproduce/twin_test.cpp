// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/reducedcapture.h"

#include <cmath>
#include <limits>

#include <Eigen/SVD>
#include <gmock/gmock.h>

using testing::HasSubstr;

namespace nanscope {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<double> matrix(std::int64_t rows, std::int64_t cols, double scale)
{
    std::vector<double> values(static_cast<std::size_t>(rows * cols));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = scale * std::sin(static_cast<double>(i * i + 1));
    }
    return values;
}

Eigen::VectorXd singularValues(const std::vector<double>& values, std::int64_t rows, std::int64_t cols)
{
    return Eigen::JacobiSVD<Eigen::MatrixXd>(Eigen::Map<const RowMajor>(values.data(), rows, cols)).singularValues();
}

} // namespace

TEST(Twin, HasTheSingularValuesAndNothingElse)
{
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t> {6, 11}, {11, 6}, {7, 7}, {1, 9}}) {
        for (const double scale : {1.0, 1e200, 1e-200}) {
            const auto original = matrix(rows, cols, scale);
            const auto twin = reproduce::syntheticTwin(original, rows, cols, 3);
            ASSERT_TRUE(twin) << twin.error().what;
            const auto expected = singularValues(original, rows, cols);
            const auto found = singularValues(*twin, rows, cols);
            EXPECT_LE((expected - found).cwiseAbs().maxCoeff(), 1e-7 * expected.maxCoeff()) << rows << "x" << cols;
            int equal = 0;
            for (std::size_t i = 0; i < original.size(); ++i) {
                equal += original[i] == (*twin)[i] ? 1 : 0;
            }
            EXPECT_EQ(equal, 0);
        }
    }
}

TEST(Twin, CanHaveItsLargestValueAsAnEntry)
{
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t> {6, 11}, {11, 6}}) {
        const auto original = matrix(rows, cols, 3);
        const auto twin =
            reproduce::syntheticTwin(original, rows, cols, 3, reproduce::TwinDirections::largestAlongAxes);
        ASSERT_TRUE(twin) << twin.error().what;
        const auto expected = singularValues(original, rows, cols);
        EXPECT_LE((expected - singularValues(*twin, rows, cols)).cwiseAbs().maxCoeff(), 1e-7 * expected.maxCoeff());
        double largest = 0;
        for (const double value : *twin) {
            largest = std::max(largest, std::abs(value));
        }
        EXPECT_NEAR(largest, expected.maxCoeff(), 1e-9 * largest);
        EXPECT_GT(largest, 3) << "no entry of the original is as large";
    }
}

TEST(Twin, IsTheSameForTheSameSeed)
{
    const auto original = matrix(5, 8, 1);
    EXPECT_EQ(*reproduce::syntheticTwin(original, 5, 8, 1), *reproduce::syntheticTwin(original, 5, 8, 1));
    EXPECT_NE(*reproduce::syntheticTwin(original, 5, 8, 1), *reproduce::syntheticTwin(original, 5, 8, 2));
}

TEST(Twin, OfZeroIsZeroAndOfNanThereIsNone)
{
    const std::vector<double> zero(12, 0.0);
    EXPECT_EQ(*reproduce::syntheticTwin(zero, 3, 4, 1), zero);
    auto bad = matrix(3, 4, 1);
    bad[5] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(reproduce::syntheticTwin(bad, 3, 4, 1).error().what, HasSubstr("not finite"));
    const std::vector<double> large(4000 * 4000, 1.0);
    EXPECT_EQ(reproduce::syntheticTwin(large, 4000, 4000, 1).error().kind, ErrorKind::refused);
}

} // namespace nanscope
