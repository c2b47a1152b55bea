// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/job.h"
#include "core/base/values.h"
#include "core/replay/device/share.h"

namespace nanscope::replay {

/// Directions below this share of the Frobenius norm are noise to the iteration; design section 5.
constexpr double signalShare = 0.01;

// The eigenvalues of a large symmetric matrix A = Q L Q^T, and Q^T times a few vectors in place of all of Q.

/// The rest of a symmetric tridiagonal matrix is zero.
struct Tridiagonal
{
    std::vector<double> diagonal; ///< n long
    std::vector<double> beside; ///< n - 1 long
};

/// Columns that Q^T is applied to: n rows of `width` values each, row after row.
struct Block
{
    std::vector<double> values {};
    std::int64_t width = 0;
};

/// Householder reflections, panel by panel (Golub and Van Loan, Matrix Computations, 8.3.1; the panels are those of
/// LAPACK's sytrd): about 4/3 n^3 operations, half of them products of a matrix and a vector. `matrix` is n x n; its
/// upper half is read, and all of it is used up. `block` becomes Q^T block. Nothing of use once `cancel` is set.
Tridiagonal reduceToTridiagonal(
    std::span<double> matrix, std::int64_t n, Block& block, const CancelToken& cancel = {}, const ShareDone& told = {});

/// The eigenvalues by implicit QR steps with Wilkinson's shift (Golub and Van Loan, 8.3.5), in no order, each that of a
/// row of what `block` becomes. About 6 n^2 operations per column of the block. Values off the diagonal count as zero
/// once their squares are below the rounding of the largest value beside them. Empty where the steps do not come to an
/// end, nothing of use once `cancel` is set.
std::vector<double> diagonalise(
    Tridiagonal matrix, Block& block, const CancelToken& cancel = {}, const ShareDone& told = {});

/// out = A x of a symmetric matrix (n x n), by its upper half, in fp32.
void multiplySymmetric(std::span<const float> matrix, std::span<const float> x, std::span<float> out);

/// From this many rows on products in fp32 do for a largest eigenvalue, which is found to 0.005 %, not 0.0005 %.
constexpr std::int64_t largeFrom = 384;

/// Largest eigenvalue of a symmetric matrix (size x size, row-major), by Lanczos with full reorthogonalisation from a
/// fixed start vector, until the residual is 1e-5 of the value (1e-4 from 384 rows on, whose products are in fp32) or
/// 160 steps are done. The residual is added: within it of the Ritz value lies an eigenvalue, and a norm that is
/// too small would overstate the slack of a verdict. NaN if any element is non-finite.
double largestEigenvalue(ValueView matrix, std::int64_t size);

/// The same of a large matrix that is finite in fp32, by its products: `multiply` leaves A x in `out`.
double largestEigenvalue(
    const std::function<void(std::span<const float> x, std::span<float> out)>& multiply, std::int64_t size);

/// Smallest eigenvalue of the symmetric part of a matrix, by the same Lanczos until the residual is 1e-3 of the value
/// (or of no weight beside the matrix). A Ritz value: the true one is not above it, so a negative one is proof. Of at
/// most 160 rows it is exact but for rounding. NaN if any element is non-finite.
double smallestEigenvalue(std::span<const double> matrix, std::int64_t size);

/// A left singular direction of a matrix, with its value.
struct SingularDirection
{
    double sigma = 0;
    std::vector<double> left; ///< unit, rows long
};

/// The converged leading singular directions of a finite rows x cols matrix with sigma >= `share` times its Frobenius
/// norm, at most `most` of them, largest first. None once `cancel` is set, which is looked at all along.
std::vector<SingularDirection> leadingDirections(
    ValueView matrix, std::int64_t rows, std::int64_t cols, double share, int most, const CancelToken& cancel = {});

/// ||left^T matrix||_2: how far the matrix stretches this direction.
double gainAlong(std::span<const double> left, ValueView matrix, std::int64_t cols);

/// The same for each direction.
std::vector<double> gainsAlong(const std::vector<SingularDirection>& directions, ValueView matrix, std::int64_t cols);

} // namespace nanscope::replay
