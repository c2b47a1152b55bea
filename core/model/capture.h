// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/dtype.h"
#include "core/model/scan.h"

namespace nanscope {

using Shape = std::vector<std::int64_t>;

/// "1x160x96", as in dump file names; "scalar" for an empty shape.
std::string shapeText(const Shape& shape);

/// One side (input or output) of a capture. `batches` holds one Scan per matrix, in batch order; it is empty
/// until the contents were scanned.
struct CaptureTensor
{
    Shape shape;
    DType dtype = DType::float32;
    std::vector<Scan> batches;

    bool scanned() const { return !batches.empty(); }
    /// Sums over the batch; `firstNonFinite` becomes an index into the whole tensor.
    Scan total() const;
};

/// What was seen at the call and the tensors do not hold, from the sidecar of a capture helper.
struct Scene
{
    std::string function; ///< what was called, "dion.megabatch:newton_schulz_func"; empty where it is not said
    std::int64_t calledAgain = 0; ///< how often it was called again right there, on the same bits and the same GPU
    std::int64_t failedAgain = 0; ///< how often its output was not finite then
    bool inputOverwritten = false; ///< the input held other bits after the call than before
    bool outputBad = false; ///< the output was not finite, whether or not it could be kept

    bool operator==(const Scene&) const = default;
};

/// One dump of one Newton-Schulz call.
struct Capture
{
    std::int64_t id = 0; ///< row in the session, 0 before it is stored
    std::string file; ///< its name in every answer: the file's, with folders where another is called the same
    std::string path; ///< where it was read from
    bool overwritten = false; ///< its file holds another capture now: only what was read of it is left
    std::string identity; ///< equal for the same capture wherever it lies; see docs/architecture.md
    std::optional<int> rank;
    std::optional<int> pid;
    std::optional<std::int64_t> timestampMs; ///< Unix time from the file name, else the file's own time
    bool timestampFromName = false;
    std::optional<double> epsilon;
    CaptureTensor input;
    std::optional<CaptureTensor> output; ///< none in a bare tensor file
    std::optional<std::string> variant; ///< from a sidecar
    bool nothingElse = false; ///< from a sidecar: no other code touched the input or the result
    std::optional<std::int64_t> step; ///< update index, from a sidecar
    Scene scene {};
    std::string part; ///< of what DTensor it holds a part only, one clause; empty where the tensors are whole
};

/// Matrices are the last two dimensions; everything before them is batch. A 1-D tensor is one row. A shape without
/// elements has no matrices, whatever its other extents are.
struct MatrixShape
{
    std::int64_t batch = 1;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t elements() const { return rows * cols; }
    bool operator==(const MatrixShape&) const = default;
};

MatrixShape matrixShape(const Shape& shape);

/// A file and the capture it must hold. A path alone means whatever capture lies there, which is right only for a file
/// that the user named; one that was imported is referred to by its Capture, so that nothing else is taken for it.
struct CaptureRef
{
    std::string path;
    std::string identity; ///< Capture::identity; empty: any

    CaptureRef() = default;
    CaptureRef(std::string file, std::string wanted = {})
        : path(std::move(file))
        , identity(std::move(wanted))
    { }
    CaptureRef(const char* file)
        : path(file)
    { }
    CaptureRef(const std::filesystem::path& file)
        : path(file.string())
    { }
    CaptureRef(const Capture& capture)
        : path(capture.path)
        , identity(capture.identity)
    { }

    bool empty() const { return path.empty(); }
    bool operator==(const CaptureRef&) const = default;
};

} // namespace nanscope
