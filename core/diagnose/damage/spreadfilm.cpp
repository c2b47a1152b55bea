// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/spreadfilm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/try.h"
#include "core/diagnose/damage/damage.h"
#include "core/replay/engine/cellrun.h"
#include "core/replay/engine/frame.h"
#include "core/replay/engine/heldoutput.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

namespace {

bool finiteValue(const replay::PlantedFault& fault)
{
    return fault.value == replay::PlantedValue::zero || fault.value == replay::PlantedValue::number
        || fault.value == replay::PlantedValue::held;
}

/// The replay and, where the fault is finite, the same one without it.
struct Pair
{
    replay::CellRun run;
    std::optional<replay::CellRun> healthy;
};

Result<Pair> begin(
    const tensorfile::CaptureFile& capture, const replay::FilmRequest& request, const replay::DeviceFactory& devices)
{
    auto run = TRY(replay::CellRun::begin(capture, request.cell, request.catalogue, request.batch, devices));
    TRY(run.plant(*request.plant));
    Pair pair {std::move(run), std::nullopt};
    if (finiteValue(*request.plant)) {
        pair.healthy = TRY(replay::CellRun::begin(capture, request.cell, request.catalogue, request.batch, devices));
    }
    return pair;
}

Result<void> compare(
    SpreadFrame& frame, const std::vector<double>& values, Pair& pair, std::size_t op, const CancelToken& cancel)
{
    if (!pair.healthy) {
        return {};
    }
    TRY(pair.healthy->runThrough(op, cancel));
    return pair.healthy->matrix().map(
        [&](const std::vector<double>& right) { frame.distance = replay::relativeDistance(values, right); });
}

/// Leaves the values of the op in `values`.
Result<SpreadFrame> nextFrame(Pair& pair, std::size_t op, std::vector<double>& values, const CancelToken& cancel)
{
    TRY(pair.run.runThrough(op, cancel));
    SpreadFrame frame;
    frame.trace = pair.run.ops()[op];
    values = TRY(pair.run.matrix());
    auto tiles = TRY(pair.run.tiles());
    const auto scans = TRY(pair.run.scans());
    frame.trace.batches = {scans.back()};
    if (values.size() > 1) {
        frame.trace.tiles = {std::move(tiles)};
    }
    frame.damage = describeDamage(values, frame.trace.rows, frame.trace.cols);
    return compare(frame, values, pair, op, cancel).map([&] { return std::move(frame); });
}

Result<std::optional<bool>> origins(
    const tensorfile::CaptureFile& capture, std::int64_t batch, const std::vector<double>& values)
{
    if (!capture.output || capture.output->matrices() != capture.input.matrices()) {
        return std::optional<bool>();
    }
    std::vector<double> output(values.size());
    return capture.output->read(batch, std::span(output)).map([&] {
        return std::optional(std::ranges::equal(
            values, output, [](double a, double b) { return std::isfinite(a) == std::isfinite(b); }));
    });
}

} // namespace

Result<SpreadFilm> spreadFilm(
    const replay::FilmRequest& request, const replay::DeviceFactory& devices, const JobContext& job)
{
    const auto capture = TRY(tensorfile::openCapture(request.capture));
    auto pair = TRY(begin(capture, request, devices));
    SpreadFilm film {pair.run.cell(), request.batch, {}, {}};
    std::vector<double> values;
    const auto& ops = pair.run.ops();
    for (std::size_t op = 0; op < ops.size(); ++op) {
        replay::reportOp(job, "spread", ops[op], op, ops.size());
        auto frame = TRY(nextFrame(pair, op, values, job.cancel));
        frame.planted = ops[op].op == request.plant->op && ops[op].iteration == request.plant->iteration;
        film.frames.push_back(std::move(frame));
    }
    return origins(capture, request.batch, values).map([&](std::optional<bool> like) {
        film.endsLikeDump = like;
        return std::move(film);
    });
}

} // namespace nanscope::diagnose
