// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/values.h"

namespace nanscope::replay {

/// Largest eigenvalue of a symmetric matrix (size x size, row-major), by Lanczos with full reorthogonalisation from a
/// fixed start vector, until the residual is 1e-5 of the value (1e-4 from 384 rows on, whose products are in fp32) or
/// 160 steps are done. The residual is added: within it of the Ritz value lies an eigenvalue, and a norm that is told
/// too small would overstate the slack of a verdict. NaN if any element is non-finite.
double largestEigenvalue(ValueView matrix, std::int64_t size);

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
/// norm, at most `most` of them, largest first.
std::vector<SingularDirection> leadingDirections(
    ValueView matrix, std::int64_t rows, std::int64_t cols, double share, int most);

/// ||left^T matrix||_2: how far the matrix stretches this direction.
double gainAlong(std::span<const double> left, ValueView matrix, std::int64_t cols);

} // namespace nanscope::replay
