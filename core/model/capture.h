// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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

/// What a function takes from elsewhere than its arguments. With any of it nothing follows from the call made again,
/// nor from the word that nothing else ran.
enum class OwnState {
    none, ///< or nobody says
    otherValues, ///< it keeps values, which were others when it was called again
    notKnown, ///< whether it does could not be told
    random, ///< it draws random numbers
};
inline constexpr OwnState lastOwnState = OwnState::random;
std::string_view name(OwnState state);

/// Why a helper wrote down what it counted of the tensors, and not the tensors.
enum class Withheld {
    nothing, ///< they were written
    byPrivacy,
    byLimit, ///< of size, disk or memory
    inputLost, ///< it was gone before it could be kept
};
inline constexpr Withheld lastWithheld = Withheld::inputLost;
std::string_view name(Withheld reason);

/// Why nothing was taken from a sidecar.
enum class SidecarProblem { none, tooLong, notJson };
inline constexpr SidecarProblem lastSidecarProblem = SidecarProblem::notJson;
std::string_view name(SidecarProblem problem);

/// A matrix of the output that is, by its checksum, one of an earlier call's.
struct StaleOutput
{
    std::int64_t matrix = 0;
    std::int64_t call = 0; ///< of the same process, counted from 0
    bool operator==(const StaleOutput&) const = default;
};

/// How many of a call's parameters the helper looked at. Older helpers do not say it.
struct ParameterCoverage
{
    std::int64_t all = 0; ///< parameters of this shape in the optimizers that it watches
    std::int64_t listed = 0; ///< of them, those that it looked at
    bool shards = false; ///< of one of them other ranks hold other parts, so that what is said holds for this rank's
    bool transposes = false; ///< those are counted whose transpose has the shape of the call; older helpers did not
    bool operator==(const ParameterCoverage&) const = default;
};

/// Of the parameters of a call's shape, at most 64, as the helper found them when it wrote: at the call (strict), or at
/// the end of the step (observe).
struct ParameterState
{
    std::int64_t gradients = 0;
    std::int64_t badGradients = 0; ///< of them, those that were not finite
    std::int64_t momenta = 0; ///< or whatever matrices the optimizer keeps of a parameter
    std::int64_t badMomenta = 0;
    std::string firstBad {}; ///< name of the first parameter with a gradient or momentum that was not finite
    std::optional<ParameterCoverage> coverage {};
    std::int64_t weights = 0;
    std::int64_t badWeights = 0;
    std::int64_t weightsBefore = 0; ///< looked at before the step of the call began; older helpers did not
    std::int64_t badWeightsBefore = 0;
    std::int64_t momentaBefore = 0; ///< of `momenta`, those looked at before the step of the call began

    bool operator==(const ParameterState&) const = default;
};

/// Of all weights that calls of this optimizer are made for, as they were before the step of this call.
struct WeightsBefore
{
    std::int64_t lookedAt = 0;
    std::int64_t bad = 0; ///< of them, those that were not finite
    std::string first {}; ///< name of the first bad one
    bool shards = false; ///< of one of them other ranks hold other parts
    bool operator==(const WeightsBefore&) const = default;
};

/// Of the first matrix of an input that was not written.
struct SingularValues
{
    double least = 0;
    double median = 0;
    double largest = 0;
    bool operator==(const SingularValues&) const = default;
};

/// What was not finite when the optimizer's step began, of the parameters that have the shape of the call; weights of
/// whatever shape calls are made for. It does not show what brought bad values into the input: the call may have been
/// of a slice of another parameter, and gradients may be summed or made elsewhere.
enum class BadBefore {
    notKnown,
    nothing,
    weights, ///< a bad gradient follows from those: no batch and no loss scale need have made it
    gradients, ///< alone
    states, ///< what the optimizer keeps of a parameter, its momentum first, and no gradient
};

/// What was seen at the call and the tensors do not hold, from the sidecar of a capture helper.
/// core/model/scenewords.h has it as sentences.
struct Scene
{
    std::string function; ///< what was called, "dion.megabatch:newton_schulz_func"; empty where it is not said
    std::string arguments {}; ///< JSON object of what it was given besides input and epsilon, but for its defaults
    std::int64_t calledAgain = 0; ///< how often it was called again right there, on the same bits and the same GPU
    std::int64_t failedAgain = 0; ///< how often its output was not finite then
    bool inputOverwritten = false; ///< the input held other bits after the call than before
    bool outputBad = false; ///< the output was not finite, whether or not it could be kept
    std::string sourceHash {}; ///< of the function's source: where two differ, other code ran
    OwnState state = OwnState::none;
    std::string notCalledAgain {}; ///< why it was not, or less often than asked for, in the helper's words
    std::string exception {}; ///< that the call ended with
    std::optional<StaleOutput> stale {}; ///< the first there is
    std::optional<ParameterState> parameters {};
    std::optional<WeightsBefore> weightsBefore {};
    std::string control {}; ///< file of a healthy call of the same kind
    bool rotated = false; ///< the tensors were turned at random to hide them: which value was bad is lost
    Withheld withheld = Withheld::nothing;
    std::string withheldBecause {}; ///< in the helper's words; empty where the reason says it all
    std::optional<SingularValues> singular {};
    std::optional<double> otherEpsilon {}; ///< what the sidecar says where the dump, which counts, says another
    SidecarProblem problem = SidecarProblem::none;
    std::optional<std::int64_t> optimizerStep {}; ///< from 0 on, over all optimizers of the process
    std::optional<std::int64_t>
        callIndex {}; ///< from 0 on, over all watched calls of the process, or over those of `mesh`
    std::int64_t badNotWritten = 0; ///< damaged calls that the helper had seen by then, and no file holds
    std::int64_t notLookedAt = 0; ///< calls that it had left out by then
    bool onCpu = false; ///< the call ran on no accelerator
    std::int64_t world = 0; ///< processes of the training; 0 where it is not said
    bool loneTensor = false; ///< the file is one tensor, and neither it nor its name says that it is the input
    std::int64_t otherTensors = 0; ///< of more than one value that the function was given besides its input
    std::string namedLike {}; ///< the variant whose name the function has, where its code is not the published one
    std::string
        mesh {}; ///< of a part: a hash of the ranks that hold parts of the DTensor, and of its shape and placements

    BadBefore badBefore() const;
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
    std::optional<std::int64_t> step; ///< update index, from a sidecar, the dump or its name
    Scene scene {};
    std::string part; ///< of what it holds a part only (a DTensor, a call of several ranks), one clause; else empty

    /// Else its file is the sidecar: the scans count what they can, and there is nothing to replay.
    bool hasTensors() const { return scene.withheld == Withheld::nothing; }
    /// Whether a replay may be held against its values: a random rotation that is rounded to the format again leaves
    /// neither the place nor the size of any of them, nor the faint directions of the input.
    bool holdsTheCall() const { return hasTensors() && !scene.rotated; }
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
