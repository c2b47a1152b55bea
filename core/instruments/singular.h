// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/values.h"

namespace nanscope::instruments {

/// Singular triplets of a matrix, descending.
struct Triplets
{
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::vector<double> sigma;
    std::vector<double> left; ///< sigma.size() x rows
    std::vector<double> right; ///< sigma.size() x cols
    bool exact = true;
};

/// All of them where the shorter side is at most `exactUpTo`, else those of at least a hundredth of the norm that
/// Lanczos finds. The matrix is finite and not zero.
Triplets singularTriplets(std::span<const double> matrix, std::int64_t rows, std::int64_t cols, std::int64_t exactUpTo);

/// u^T X v for each of them.
std::vector<double> along(const Triplets& triplets, ValueView matrix);

} // namespace nanscope::instruments
