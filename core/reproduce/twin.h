// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"

namespace nanscope::reproduce {

/// Where the singular directions of a twin point.
enum class TwinDirections {
    random,
    /// The largest along one row and one column, the others random: an entry as large as the largest singular value,
    /// where random directions would spread it so thin that no entry leaves a format any more.
    largestAlongAxes,
};

/// A matrix with the singular values of this one and other directions: what Newton-Schulz does to it is told by the
/// same values, and nothing else of it can be told from the twin. Row-major, not rounded to any format. Singular values
/// below a millionth of the largest become zero. Refused for what is not finite, and where it would take minutes.
Result<std::vector<double>> syntheticTwin(std::span<const double> matrix, std::int64_t rows, std::int64_t cols,
    std::uint64_t seed, TwinDirections directions = TwinDirections::random);

} // namespace nanscope::reproduce
