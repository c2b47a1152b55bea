// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/job.h"
#include "core/base/values.h"
#include "core/model/capture.h"
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

    /// The same on a thread of its own, because the library cannot be interrupted: nothing once `cancel` is set, and
    /// the thread goes on to its end.
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

} // namespace nanscope::replay
