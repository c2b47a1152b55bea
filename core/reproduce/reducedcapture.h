// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/tensorfile/capturefile.h"

namespace nanscope {

/// The matrices of a capture that still show the fault, as they lie in the file and as numbers.
struct ReducedCapture
{
    std::vector<std::int64_t> elements; ///< of the captured stack, ascending
    std::int64_t captured = 1; ///< matrices that the capture holds
    MatrixShape shape; ///< the batch is elements.size()
    std::optional<double> epsilon;
    TensorToWrite input;
    std::vector<double> inputValues;
    std::optional<TensorToWrite> output; ///< none in a twin, and where the capture has none
    std::vector<double> outputValues;
};

/// Input and output of the damaged matrices, the first ones where they would take more than `limit` bytes; of the first
/// matrix where none is. `scanned` is the same capture with its scans.
Result<ReducedCapture> reduceCapture(const CaptureFile& file, const Capture& scanned, std::size_t limit);

/// Takes matrices with the same singular values and random directions for the input and leaves out the output, which
/// keeps its numbers as what the dump looked like.
Result<void> makeSynthetic(ReducedCapture& capture, std::uint64_t seed);

/// A .pt like those of the dion wrapper.
Result<std::vector<std::byte>> captureBytes(const ReducedCapture& capture);

} // namespace nanscope
