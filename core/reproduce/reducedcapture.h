// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::reproduce {

/// Where the singular directions of a twin point.
enum class TwinDirections {
    random,
    /// The largest along one row and one column, the others random: an entry as large as the largest singular value,
    /// where random directions would spread it so thin that no entry leaves a format any more.
    largestAlongAxes,
};

/// A matrix with the singular values of this one and other directions: what Newton-Schulz does to it depends on
/// those values alone, and the twin discloses nothing else of it. Row-major, not rounded to any format. Singular values
/// below a millionth of the largest become zero. Refused for what is not finite, and where it would take minutes.
Result<std::vector<double>> syntheticTwin(std::span<const double> matrix, std::int64_t rows, std::int64_t cols,
    std::uint64_t seed, TwinDirections directions = TwinDirections::random);

/// How a result ended, for holding others against it.
struct Shown
{
    std::string outcome; ///< "zero", "inf" or "nan"
    std::int64_t notFinite = 0; ///< elements
    std::int64_t of = 0;
};

/// The matrices of a capture that still show the fault, as they lie in the file and as numbers.
struct ReducedCapture
{
    std::vector<std::int64_t> elements; ///< of the captured stack, ascending
    std::int64_t captured = 1; ///< matrices that the capture holds
    MatrixShape shape; ///< the batch is elements.size()
    std::optional<double> epsilon;
    tensorfile::TensorToWrite input;
    std::vector<double> inputValues;
    std::optional<tensorfile::TensorToWrite>
        output; ///< none in a twin, in a smaller one, and where the capture has none
    std::vector<double> outputValues;
    std::optional<TwinDirections> twin; ///< none: as captured
    std::optional<Shown> shown; ///< of a smaller one: what stands for the dump
};

/// Input and output of the damaged matrices, the first ones where they would take more than `limit` bytes; of the first
/// matrix where none is. `scanned` is the same capture with its scans.
Result<ReducedCapture> reduceCapture(const tensorfile::CaptureFile& file, const Capture& scanned, std::size_t limit);

/// Takes matrices with the same singular values and other directions for the input and leaves out the output, which
/// keeps its numbers as what the dump looked like.
Result<ReducedCapture> syntheticCapture(ReducedCapture capture, std::uint64_t seed, TwinDirections directions);

/// A .pt like those of the dion wrapper.
Result<std::vector<std::byte>> captureBytes(const ReducedCapture& capture);

/// As sha256sum prints it.
std::string sha256(std::span<const std::byte> bytes);

} // namespace nanscope::reproduce
