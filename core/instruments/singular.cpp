// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/singular.h"

#include <algorithm>

#include <Eigen/SVD>

#include "core/replay/engine/spectrum.h"

namespace nanscope::instruments {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMatrix = Eigen::Map<const RowMajor>;

constexpr double leadingShare = 0.01;
constexpr int mostLeading = 32;

void add(Triplets& triplets, double sigma, const Eigen::VectorXd& left, const Eigen::VectorXd& right)
{
    triplets.sigma.push_back(sigma);
    triplets.left.insert(triplets.left.end(), left.begin(), left.end());
    triplets.right.insert(triplets.right.end(), right.begin(), right.end());
}

} // namespace

Triplets singularTriplets(std::span<const double> matrix, std::int64_t rows, std::int64_t cols, std::int64_t exactUpTo)
{
    Triplets triplets {rows, cols, {}, {}, {}, std::min(rows, cols) <= exactUpTo};
    const ConstMatrix map(matrix.data(), rows, cols);
    // Scaled by the largest element, or the squares of a huge or tiny matrix leave the range of double.
    const double scale = map.cwiseAbs().maxCoeff();
    if (triplets.exact) {
        const Eigen::MatrixXd scaled = map / scale;
        const Eigen::BDCSVD<Eigen::MatrixXd> svd(scaled, Eigen::ComputeThinU | Eigen::ComputeThinV);
        for (Eigen::Index i = 0; i < svd.singularValues().size(); ++i) {
            add(triplets, svd.singularValues()[i] * scale, svd.matrixU().col(i), svd.matrixV().col(i));
        }
        return triplets;
    }
    for (const auto& direction : replay::leadingDirections(matrix, rows, cols, leadingShare, mostLeading)) {
        const Eigen::Map<const Eigen::VectorXd> left(direction.left.data(), rows);
        const Eigen::VectorXd right = (map / scale).transpose() * left;
        add(triplets, direction.sigma, left, right.normalized());
    }
    return triplets;
}

std::vector<double> along(const Triplets& triplets, ValueView matrix)
{
    const auto count = static_cast<Eigen::Index>(triplets.sigma.size());
    const std::vector<double> wide(matrix.begin(), matrix.end());
    const ConstMatrix map(wide.data(), triplets.rows, triplets.cols);
    const ConstMatrix left(triplets.left.data(), count, triplets.rows);
    const ConstMatrix right(triplets.right.data(), count, triplets.cols);
    const RowMajor image = left * map;
    std::vector<double> values;
    for (Eigen::Index i = 0; i < count; ++i) {
        values.push_back(image.row(i).dot(right.row(i)));
    }
    return values;
}

} // namespace nanscope::instruments
