// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/spectrum.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <Eigen/Eigenvalues>

namespace nanscope::replay {

namespace {

using Vector = Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMatrix = Eigen::Map<const RowMajor>;

struct Ritz
{
    Vector values; ///< ascending
    Eigen::MatrixXd vectors; ///< columns, in the original space
    Vector residuals;
};

// A start vector that no structured matrix is orthogonal to: low-discrepancy signs and sizes, the same every time.
Vector startVector(std::int64_t size)
{
    Vector start(size);
    for (std::int64_t i = 0; i < size; ++i) {
        const double phase = std::fmod(0.6180339887498949 * static_cast<double>(i + 1), 1.0);
        start[i] = phase - 0.5 + (i % 2 == 0 ? 0.75 : -0.75);
    }
    return start.normalized();
}

constexpr int mostSteps = 160;

using Small = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

/// `settled` looks at the largest value and its residual every eight steps and may end the iteration.
Ritz lanczos(const std::function<Vector(const Vector&)>& apply, std::int64_t size, int steps,
    const std::function<bool(double value, double residual)>& settled)
{
    constexpr int lookEvery = 8;
    const int count = static_cast<int>(std::min<std::int64_t>(size, steps));
    Eigen::MatrixXd basis(size, count);
    Eigen::MatrixXd small = Eigen::MatrixXd::Zero(count, count);
    Vector q = startVector(size);
    double beta = 0;
    int used = 0;
    for (int j = 0; j < count; ++j) {
        basis.col(j) = q;
        used = j + 1;
        Vector w = apply(q);
        small(j, j) = q.dot(w);
        // Twice is enough: one pass of Gram-Schmidt loses orthogonality once a Ritz value has converged.
        for (int pass = 0; pass < 2; ++pass) {
            w -= basis.leftCols(used) * (basis.leftCols(used).transpose() * w);
        }
        beta = w.norm();
        if (j + 1 == count || beta <= 1e-14 * std::abs(small(0, 0))) {
            break;
        }
        if (used % lookEvery == 0) {
            const Small look(small.topLeftCorner(used, used));
            if (settled(look.eigenvalues()[used - 1], std::abs(look.eigenvectors()(used - 1, used - 1)) * beta)) {
                break;
            }
        }
        small(j, j + 1) = small(j + 1, j) = beta;
        q = w / beta;
    }
    const Small solver(small.topLeftCorner(used, used));
    Ritz ritz;
    ritz.values = solver.eigenvalues();
    ritz.vectors = basis.leftCols(used) * solver.eigenvectors();
    ritz.residuals = solver.eigenvectors().row(used - 1).cwiseAbs().transpose() * beta;
    return ritz;
}

} // namespace

double largestEigenvalue(std::span<const double> matrix, std::int64_t size)
{
    const ConstMatrix map(matrix.data(), size, size);
    if (size == 0 || !map.allFinite()) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    constexpr double tolerance = 1e-5;
    const auto ritz = lanczos([&](const Vector& v) -> Vector { return map * v; }, size, mostSteps,
        [](double value, double residual) { return residual <= tolerance * std::abs(value); });
    const auto last = ritz.values.size() - 1;
    return ritz.values[last] + ritz.residuals[last];
}

double smallestEigenvalue(std::span<const double> matrix, std::int64_t size)
{
    const ConstMatrix map(matrix.data(), size, size);
    if (size == 0 || !map.allFinite()) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    constexpr double tolerance = 1e-3;
    const double negligible = 1e-12 * map.norm();
    const auto ritz = lanczos(
        [&](const Vector& v) -> Vector {
            const Vector across = map.transpose() * v;
            return -0.5 * (map * v + across);
        },
        size, mostSteps,
        [&](double value, double residual) { return residual <= std::max(tolerance * std::abs(value), negligible); });
    return -ritz.values[ritz.values.size() - 1];
}

std::vector<SingularDirection> leadingDirections(
    std::span<const double> matrix, std::int64_t rows, std::int64_t cols, double share, int most)
{
    const ConstMatrix map(matrix.data(), rows, cols);
    if (map.size() == 0) {
        return {};
    }
    // Scaled by the largest element, or the squares of a huge or tiny matrix leave the range of double.
    const double scale = map.cwiseAbs().maxCoeff();
    if (!(scale > 0) || !std::isfinite(scale)) {
        return {};
    }
    const RowMajor scaled = map / scale;
    const double frobenius = scaled.norm();
    const auto ritz = lanczos([&](const Vector& v) -> Vector { return scaled * (scaled.transpose() * v); }, rows,
        2 * most + 8, [](double, double) { return false; });
    std::vector<SingularDirection> result;
    for (Eigen::Index i = ritz.values.size() - 1; i >= 0 && static_cast<int>(result.size()) < most; --i) {
        const double value = ritz.values[i];
        const double sigma = std::sqrt(std::max(0.0, value));
        if (sigma < share * frobenius) {
            break;
        }
        if (ritz.residuals[i] <= 1e-3 * value) {
            const Vector left = ritz.vectors.col(i).normalized();
            result.push_back({sigma * scale, {left.begin(), left.end()}});
        }
    }
    return result;
}

double gainAlong(std::span<const double> left, std::span<const double> matrix, std::int64_t cols)
{
    const auto rows = static_cast<Eigen::Index>(left.size());
    const Eigen::Map<const Vector> u(left.data(), rows);
    return (ConstMatrix(matrix.data(), rows, cols).transpose() * u).norm();
}

} // namespace nanscope::replay
