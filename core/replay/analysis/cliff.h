// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// How far a capture is from the place where its schedule diverges: the scalar curve (theory), and the same matrix
// replayed with its normalised input scaled or under another safety factor (measured). The two are never mixed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/replay/engine/capturecells.h"

namespace nanscope::replay {

/// What a schedule makes of one singular value, sampled for drawing: result[i] belongs to sigma[i], ascending. Values
/// beyond the limit may be infinite.
struct ScalarCurve
{
    std::vector<double> sigma;
    std::vector<double> result;
};

/// `rest` is the schedule from the step of interest on, `limit` its divergence limit: the samples lie dense around it,
/// where the curve turns within a millionth of its argument. Of (0, top].
ScalarCurve scalarCurve(std::span<const Coefficients> rest, double limit, double top, int samples = 400);

/// One matrix of one capture under a wrong norm or another safety factor.
struct CliffRequest
{
    CaptureRef capture;
    CellRequest cell;
    std::int64_t batch = 0;
    double scale = 1; ///< multiplies the normalised input, as a norm that is 1/scale of the right one would
    std::optional<double> safety; ///< none: the variant's own
    int roundings = 1; ///< so many of the envelope, the cell's own first
    Catalogue catalogue {}; ///< of the variant that it names
    bool operator==(const CliffRequest&) const = default;
};

/// One replay of it.
struct CliffReplay
{
    Cell cell; ///< of this one matrix, at this scale: never one for the session
    std::string rounding; ///< in words
    /// ||X||_2 on entry of each step, measured (Lanczos, an upper bound to 1e-5); NaN where the iterate is not finite.
    /// In a Gram form that of the Gram matrix it tracks, whatever X itself would be.
    std::vector<double> sigma;
};

struct ReplayedCliff
{
    std::int64_t batch = 0;
    std::int64_t batches = 1;
    double scale = 1;
    double safety = 1; ///< as used
    std::vector<double> limits; ///< per step, of the schedule as replayed
    std::vector<CliffReplay> replays; ///< at least one
};

/// Smallest and largest finite value of one step over the replays; none where there is no finite one.
struct SigmaRange
{
    double low = 0;
    double high = 0;
};
std::optional<SigmaRange> sigmaRange(const ReplayedCliff& cliff, std::size_t step);

/// Outcomes are held against the published output range of the variant, not that of a changed schedule. Cancelled
/// between instructions; progress counts roundings. Fails for what compileProgram() and a sweep fail for, a matrix that
/// is not there and a number of roundings outside 1..8.
Result<ReplayedCliff> replayCliff(
    const CliffRequest& request, const DeviceFactory& devices, const JobContext& job = {});

} // namespace nanscope::replay
