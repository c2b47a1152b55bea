// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the deep gauges (deep.h). Matrices are finite, row-major and square where only `size` is given; a
// ratio whose denominator is 0 or out of range is none.
//
// Gauges that cost more than the replay itself: measured for one matrix of one cell on request.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/replay/engine/capturecells.h"
#include "core/replay/program/program.h"

namespace nanscope::replay {

/// ||R - R^T||_F / ||R||_F.
std::optional<double> symmetryErrorOf(std::span<const double> matrix, std::int64_t size);

/// ||A B - B A||_F / (||A||_F ||B||_F).
std::optional<double> commutatorOf(std::span<const double> a, std::span<const double> b, std::int64_t size);

struct DeepRequest
{
    CaptureRef capture;
    CellRequest cell;
    std::int64_t batch = 0;
    Catalogue catalogue {}; ///< of the variant that it names
    bool operator==(const DeepRequest&) const = default;
};

/// What the deep gauges of one matrix take: two replays, the products for iterate and commutator, and Lanczos.
struct DeepCost
{
    double flops = 0;
    std::int64_t bytes = 0; ///< of both workspaces and of what is held beside them, at the peak
};

constexpr double mostDeepFlops = 2e13;
constexpr std::int64_t mostDeepBytes = std::int64_t {8} << 30;

/// For a capture of this shape; fails for an unknown variant and for what compileProgram() fails for.
Result<DeepCost> deepCost(const MatrixShape& shape, const CellRequest& cell, const Catalogue& catalogue);

/// "about 3 minutes at 20 GFLOP/s (4.1 TFLOP), 1.2 GiB".
std::string deepCostText(const DeepCost& cost);

/// Refused where the cost exceeds mostDeepFlops or mostDeepBytes, with a sentence that says what, how much and what to
/// do instead.
Result<void> allowDeep(const DeepCost& cost);

/// The matrix of the batch a cell's gauges are of: the one that is worst off, the first of equals.
int worstBatch(const Cell& cell);

/// Replays the cell and, beside it, the same variant in fp64 and measures step by step. What comes back is the cell's
/// identity with `deep` filled in, and nothing of how it ends. Fails for what allowDeep() refuses and for a matrix that
/// is not there. Cancelled between instructions; progress counts ops.
Result<Cell> measureDeep(const DeepRequest& request, const DeviceFactory& devices, const JobContext& job = {});

} // namespace nanscope::replay
