// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/job.h"
#include "core/base/values.h"
#include "core/model/capture.h"
#include "core/replay/device/device.h"
#include "core/replay/device/gemm.h"

namespace nanscope::replay {

/// The singular values of one matrix X and the directions that belong to them, by the eigenvalues of X X^T, or of
/// X^T X where it has more rows than columns. An odd polynomial of X, as each step of the iteration is, changes the
/// values alone, so that one decomposition stands for the fp64 replays of every schedule.
class SingularSystem
{
public:
    /// `matrix` is row-major, shape.rows x shape.cols, finite and not all zero; shape.batch is 1. A value of less than
    /// 1e-8 times the largest is lost in the rounding of the squares. Takes about 9 n^3 operations, n being the smaller
    /// side, and two products of the size of a step's.
    SingularSystem(std::vector<double> matrix, const MatrixShape& shape);

    /// min(rows, cols) of them, smallest first.
    const std::vector<double>& values() const { return m_values; }

    /// U diag(gain_i sigma_i) V^T, row-major, in about fp32: the matrix with each singular value multiplied by its
    /// gain. Nothing of use once `cancel` is set.
    std::vector<double> amplified(std::span<const double> gains, const CancelToken& cancel = {}) const;

    /// The same on a thread of its own (unlessCancelled()): nothing once `cancel` is set.
    static std::shared_ptr<const SingularSystem> of(
        ValueView matrix, const MatrixShape& shape, const CancelToken& cancel);

private:
    /// A product over the smaller side into a matrix of this shape; its operands are still to be set.
    GemmShape<float> productInto(std::vector<float>& out) const;
    void project(std::span<const double> scaled);

    MatrixShape m_shape;
    std::int64_t m_small = 0;
    double m_scale = 1; ///< largest magnitude of X
    std::vector<double> m_values;
    std::vector<float> m_vectors; ///< small x small, an eigenvector per row
    std::vector<float> m_projected; ///< vectors X / scale; of a tall matrix X vectors^T / scale
};

/// What is looked at of an output: some rows of it, and some sums of its rows, in some of its columns.
struct SampledPlaces
{
    std::vector<std::int64_t> rows;
    std::vector<std::vector<double>> sums {}; ///< weights of all rows, one vector per sum
    std::vector<std::int64_t> cols;

    std::size_t lines() const { return rows.size() + sums.size(); }
};

/// What SingularSystem gives, in some places alone and in fp64: Q of X X^T = Q L Q^T (X^T X where X has more rows than
/// columns) is never formed, only its products with the sampled rows and columns. With n the smaller side and m the
/// larger that is n^2 m + 4/3 n^3 operations and 6 n^2 per sampled line, next to 9 n^3 for all of Q.
class SampledSystem
{
public:
    /// `matrix` is row-major, shape.rows x shape.cols, finite and not all zero; shape.batch is 1. A value of less than
    /// 1e-8 times the largest is lost in the rounding of the squares. Nothing once `cancel` is set, or
    /// where the eigenvalues do not converge. Decomposed on `device` where that has a way of its own; else whoever
    /// follows that device is told how far it is.
    static std::optional<SampledSystem> of(ValueView matrix, const MatrixShape& shape, const SampledPlaces& places,
        const CancelToken& cancel = {}, Device* device = nullptr);

    /// min(rows, cols) singular values, in no order.
    const std::vector<double>& values() const { return m_values; }

    /// U diag(gain_i sigma_i) V^T in the sampled places: places.lines() x places.cols.size(), row-major, the sums
    /// behind the rows.
    std::vector<double> amplified(std::span<const double> gains) const;

private:
    std::vector<double> m_values;
    std::vector<double> m_lines; ///< values x lines: of the sampled rows and sums, in the eigenvectors
    std::vector<double> m_columns; ///< values x cols: of the sampled columns
    std::int64_t m_lineCount = 0;
    std::int64_t m_columnCount = 0;
    double m_scale = 1; ///< of X, where its squares leave the range of double
};

} // namespace nanscope::replay
