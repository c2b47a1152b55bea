// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Re-runs a captured Newton-Schulz call: variants as data (variant.h), compiled to a flat program (program.h),
// executed by one interpreter on a Device (device.h), with a scan after every op.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/replay/device/device.h"
#include "core/replay/engine/heldoutput.h"
#include "core/replay/program/program.h"
#include "core/replay/variants/variant.h"

namespace nanscope::replay {

struct ReplayOptions : CompileOptions
{
    bool tileMaps = false;
    bool keepOutput = false;
    bool keepDamaged = false; ///< outputs that are not finite alone; the others' places stay empty
    bool keepReferences = false;
    std::vector<Reference>* references = nullptr; ///< of each matrix: measure how far finite outputs are from them
    /// Of each matrix, of a result that is finite and not zero: measure how far it stretches them.
    const std::vector<std::vector<SingularDirection>>* directions = nullptr;
    std::int64_t mostAtOnce = std::numeric_limits<std::int64_t>::max(); ///< matrices, where the device would take more
    bool spectralNorms = false; ///< measure ||X||_2 on entry of every step (Lanczos on the Gram), not only bound it
};

/// One replay of all matrices of a batch.
struct Replay
{
    Program program;
    std::vector<OpTrace> ops;
    std::vector<Values> outputs; ///< per batch element, row-major; empty unless kept
    std::vector<Reference> references; ///< the outputs, to measure those of other replays against; empty unless kept
    std::vector<double> distances; ///< of finite outputs from the references
    std::vector<std::vector<double>> gains; ///< [element][direction], empty unless measured
    std::vector<std::vector<double>> spectralNorms; ///< [element][step], empty unless measured
    double seconds = 0;
};

/// `input` holds batch x rows x cols numbers, row-major. A device short of memory is given fewer matrices at once, down
/// to one. Cancelled between instructions.
Result<Replay> replay(const Variant& variant, const MatrixShape& shape, ValueView input, Device& device,
    const ReplayOptions& options, const CancelToken& cancel = {});

/// Bytes a cell of this shape holds at its peak, for saying so before the start.
std::int64_t peakBytes(const Variant& variant, const MatrixShape& shape);

/// About what a cell of this shape takes in a session, nearly all of it tile maps: as measured of random numbers, which
/// compress the least. 0 for what cannot be replayed.
std::int64_t storedBytes(const Variant& variant, const MatrixShape& shape, std::optional<int> steps);

} // namespace nanscope::replay
