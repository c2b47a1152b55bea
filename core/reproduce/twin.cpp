// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/twin.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace nanscope::reproduce {

namespace {

using Matrix = Eigen::MatrixXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::int64_t mostRows = 2048; // of the shorter side: a few seconds

Matrix gaussian(std::int64_t rows, std::int64_t cols, std::mt19937_64& random)
{
    std::normal_distribution<double> normal;
    return Matrix::NullaryExpr(rows, cols, [&] { return normal(random); });
}

/// Columns that are orthonormal, the first of them an axis where asked for; rows >= cols.
Matrix orthonormal(std::int64_t rows, std::int64_t cols, std::mt19937_64& random, TwinDirections directions)
{
    Matrix start = gaussian(rows, cols, random);
    if (directions == TwinDirections::largestAlongAxes) {
        start.col(0) =
            Eigen::VectorXd::Unit(rows, static_cast<Eigen::Index>(random() % static_cast<std::uint64_t>(rows)));
    }
    const Eigen::HouseholderQR<Matrix> qr(start);
    return qr.householderQ() * Matrix::Identity(rows, cols);
}

/// From the eigenvalues of A A^T: what lies below its rounding is not known, and taken as zero.
Eigen::VectorXd singularValues(const Matrix& wide)
{
    const Matrix gram = wide * wide.transpose();
    Eigen::VectorXd squares = Eigen::SelfAdjointEigenSolver<Matrix>(gram, Eigen::EigenvaluesOnly).eigenvalues();
    constexpr double millionthSquared = 1e-12;
    const double least = millionthSquared * squares.maxCoeff();
    return squares.unaryExpr([least](double square) { return square <= least ? 0.0 : std::sqrt(square); });
}

} // namespace

Result<std::vector<double>> syntheticTwin(
    std::span<const double> matrix, std::int64_t rows, std::int64_t cols, std::uint64_t seed, TwinDirections directions)
{
    const bool finite = std::all_of(matrix.begin(), matrix.end(), [](double x) { return std::isfinite(x); });
    if (!finite || matrix.empty()) {
        return failure(ErrorKind::refused, "a matrix that is not finite has no singular values to share");
    }
    if (std::min(rows, cols) > mostRows) {
        return failure(ErrorKind::refused, "the matrix is too large for a synthetic twin");
    }
    const Eigen::Map<const RowMajor> input(matrix.data(), rows, cols);
    const double unit = std::max(input.cwiseAbs().maxCoeff(), std::numeric_limits<double>::min());
    const bool tall = rows > cols;
    const Matrix wide = (tall ? Matrix(input.transpose()) : Matrix(input)) / unit;
    std::mt19937_64 random(seed);
    const Matrix left = orthonormal(wide.rows(), wide.rows(), random, directions);
    const Matrix right = orthonormal(wide.cols(), wide.rows(), random, directions);
    Eigen::VectorXd values = singularValues(wide);
    if (directions == TwinDirections::largestAlongAxes) {
        values.reverseInPlace();
    }
    const Matrix twin = unit * (left * values.asDiagonal() * right.transpose());

    std::vector<double> result(matrix.size());
    Eigen::Map<RowMajor> out(result.data(), rows, cols);
    if (tall) {
        out = twin.transpose();
    } else {
        out = twin;
    }
    return result;
}

} // namespace nanscope::reproduce
