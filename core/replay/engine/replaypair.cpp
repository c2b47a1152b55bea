// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/replaypair.h"

#include <utility>

#include <fmt/format.h>

#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::replay {

Result<ReplayPair> beginPair(const FilmRequest& request, const DeviceFactory& devices)
{
    const auto capture = tensorfile::openCapture(request.capture);
    if (!capture) {
        return tl::make_unexpected(capture.error());
    }
    auto run = CellRun::begin(*capture, request.cell, request.batch, devices);
    if (!run) {
        return tl::make_unexpected(run.error());
    }
    if (request.plant) {
        if (auto planted = run->plant(*request.plant); !planted) {
            return tl::make_unexpected(planted.error());
        }
    }
    auto other = makeCounterpart(*capture, request, run->ops(), devices);
    if (!other) {
        return tl::make_unexpected(other.error());
    }
    return ReplayPair {std::move(*run), std::move(*other), capture->input.matrices().batch};
}

Result<Difference> differenceAt(ReplayPair& pair, std::size_t op, const CancelToken& cancel)
{
    const auto other = pair.other->matrixFor(op, cancel);
    if (!other) {
        return tl::make_unexpected(other.error());
    }
    if (other->empty()) {
        return Difference {};
    }
    return pair.run.matrix().map([&](std::vector<double> values) {
        const auto distance = subtract(values, *other);
        return Difference {std::move(values), distance};
    });
}

void describe(OpTrace& trace, std::span<const double> values)
{
    const auto smallest = tensorfile::smallestNormal(Precision::fp64);
    trace.batches = {tensorfile::scanMatrix(values, trace.rows, trace.cols, false, smallest)};
    trace.tiles = {tensorfile::tileMatrix(values, trace.rows, trace.cols, false, smallest)};
}

void reportOp(const JobContext& job, const char* what, const OpTrace& op, std::size_t done, std::size_t total)
{
    Progress progress;
    progress.job = what;
    progress.phase = "replay";
    progress.done = static_cast<std::int64_t>(done);
    progress.total = static_cast<std::int64_t>(total);
    progress.unit = "ops";
    progress.message = fmt::format("{} {}", name(op.op), op.iteration);
    job.progress(progress);
}

} // namespace nanscope::replay
