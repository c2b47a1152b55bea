// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A user's own function as one row of a sweep: given what a capture holds, judged as a replay of it is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/instruments/functiontarget.h"
#include "core/model/cell.h"

namespace nanscope::instruments {

/// The replays of a capture that a function stands beside.
struct FunctionNeighbours
{
    std::vector<std::string> variants; ///< their schedules say what a good output is
    std::vector<std::string>
        exact; ///< of them those whose fp64 replay came out finite; distances are measured to these
    std::optional<int> steps;
    replay::Catalogue catalogue {}; ///< of the variants
};

/// One call of a function on one capture.
struct FunctionCell
{
    /// As far as a function has what a cell has. Precision, lowering and gauges mean nothing, nor does the iteration of
    /// what is not finite: the steps of a function are not seen.
    Cell cell;
    std::optional<double> epsilon; ///< none: the function's own
    std::string command; ///< that started it
    std::string how; ///< "f(X, epsilon=epsilon)"
    std::string source; ///< its file, where Python names it
    std::optional<DType> dtype; ///< of its output
    std::array<double, 2> outputRange {}; ///< that *degenerate* was judged by
    std::int64_t inputChanged = 0; ///< elements whose bits are others than before the call
    bool sharesStorage = false; ///< the output lies in the memory of the input
    std::string nearest; ///< the variant whose fp64 replay is nearest to the output; empty: there was none
    std::optional<double> distance; ///< from it, ||Y - X64||_F / ||X64||_F of the matrix that is farthest off
};

/// Calls the function on the capture of this path. Fails when cancelled; whatever else goes wrong is the cell's error.
Result<FunctionCell> functionCell(FunctionTarget& target, const CaptureRef& capture,
    const std::optional<double>& epsilon, const FunctionNeighbours& beside, const JobContext& job);

/// The keys of a replayed cell, where a function has none "own" or null, and what is of functions alone in "function".
nlohmann::ordered_json toJson(const FunctionCell& cell);

} // namespace nanscope::instruments
