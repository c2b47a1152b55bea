// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/model/cell.h"
#include "core/model/dtype.h"

namespace nanscope::report {

/// Where a replay of the captured input leaves its number format.
struct Overflow
{
    std::string variant;
    Precision precision = Precision::fp16;
    int iteration = 0; ///< 0 is everything before the first step
    OpName op = OpName::input;
    double reaches = 0; ///< the largest magnitude of that op in fp64, beyond what the format holds
    /// Where only rounding takes it so far, what fp64 gives there; `reaches` is the largest finite value in the format.
    std::optional<double> exact {};
};

/// What is measured of a capture for its report alone.
struct Measures
{
    std::string sha256 {}; ///< of its file; empty where that was not read
    std::optional<double> sigmaMax {}; ///< of the input of shownBatch(), where it is finite and not zero
    std::optional<double> stableRank {}; ///< ||X||_F^2 / sigmaMax^2
    std::optional<Overflow> overflow {}; ///< of what may have run
};

} // namespace nanscope::report
