// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/capturecells.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "core/base/try.h"
#include "core/replay/engine/outcome.h"
#include "core/replay/engine/replay.h"

namespace nanscope::replay {

namespace {

void describeBatches(Cell& cell, const Replay& replay, const std::vector<Outcome>& outcomes, bool batched)
{
    std::size_t worst = 0;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const auto first = firstNonFinite(replay, i, batched);
        cell.batches.push_back({static_cast<int>(i), outcomes[i], first});
        if (outcomes[i] > outcomes[worst]) {
            worst = i;
        }
        const auto order = [](const NonFinite& f) { return std::pair(f.iteration, f.op); };
        if (first && (!cell.firstNonFinite || order(*first) < order(*cell.firstNonFinite))) {
            cell.firstNonFinite = first;
        }
    }
    cell.outcome = outcomes[worst];
    if (cell.firstNonFinite && cell.firstNonFinite->op != OpName::input) {
        cell.birth = cell.firstNonFinite;
    }
    cell.gauges = gauges(replay, worst);
}

} // namespace

Cell emptyCell(const Capture& capture, const CellRequest& request, const Variant& variant)
{
    Cell cell;
    cell.capture = capture.file;
    cell.variant = request.variant;
    cell.precision = request.precision;
    cell.device = request.device;
    cell.lowering = request.lowering;
    cell.epsilon = request.epsilon.value_or(epsilonUsed(variant, capture.epsilon));
    cell.steps = request.steps.value_or(static_cast<int>(variant.steps.size()));
    return cell;
}

CellRequest requestOf(const Cell& cell, std::optional<double> captured, const Catalogue& catalogue)
{
    CellRequest request {cell.variant, cell.precision, cell.lowering, std::nullopt, std::nullopt, cell.device};
    // Of a file that could not be read, or failed in an older Nanscope, nothing else is known.
    if (cell.steps == 0 && !cell.error.empty()) {
        return request;
    }
    const auto variant = catalogue.find(cell.variant);
    if (!variant || cell.epsilon != epsilonUsed(**variant, captured)) {
        request.epsilon = cell.epsilon;
    }
    if (cell.steps != 0 && (!variant || cell.steps != static_cast<int>((*variant)->steps.size()))) {
        request.steps = cell.steps;
    }
    return request;
}

Result<CaptureCells> CaptureCells::of(
    const tensorfile::CaptureFile& file, Catalogue catalogue, const CancelToken& cancel)
{
    return file.input.values(0, file.input.matrices().batch).and_then([&](Values input) -> Result<CaptureCells> {
        CaptureCells cells(file, std::move(catalogue), std::move(input), cancel);
        return cancel.cancelled() ? Result<CaptureCells>(failure(ErrorKind::cancelled, "the replay was cancelled"))
                                  : std::move(cells);
    });
}

CaptureCells::CaptureCells(
    const tensorfile::CaptureFile& file, Catalogue catalogue, Values input, const CancelToken& cancel)
    : m_file(&file)
    , m_catalogue(std::move(catalogue))
    , m_input(std::move(input))
    , m_directions(signalDirections(file.input.matrices(), m_input, cancel))
{ }

Result<Cell> CaptureCells::cell(const CellRequest& request, Device& device, const CancelToken& cancel)
{
    const auto variant = TRY(m_catalogue.find(request.variant));
    ReplayOptions options;
    options.precision = request.precision;
    options.rounding.lowering = request.lowering;
    options.epsilon = request.epsilon ? request.epsilon : m_file->capture.epsilon;
    options.forceEpsilon = request.epsilon.has_value();
    options.steps = request.steps;
    options.tileMaps = request.tileMaps;
    options.directions = &m_directions;
    const auto exact = m_exact.find(request.variant);
    if (request.precision == Precision::fp64) {
        options.keepReferences = true;
    } else if (exact != m_exact.end()) {
        options.references = &exact->second;
    }
    const auto shape = m_file->input.matrices();
    auto replayed = TRY(replay(*variant, shape, m_input, device, options, cancel));
    Cell cell = emptyCell(m_file->capture, request, *variant);
    cell.native = device.native(request.precision);
    cell.environment = device.environment();
    cell.seconds = replayed.seconds;
    const auto outcomes = judgeOutcomes(replayed);
    describeBatches(cell, replayed, outcomes, m_file->input.shape().size() > 2);
    cell.ops = std::move(replayed.ops);
    if (options.keepReferences) {
        m_exact[request.variant] = std::move(replayed.references);
    }
    const bool finite = cell.outcome != Outcome::nan && cell.outcome != Outcome::inf;
    if (finite && !replayed.distances.empty()) {
        const double worst = std::ranges::max(replayed.distances);
        // Of a reference that is not finite there is none.
        if (std::isfinite(worst)) {
            cell.gauges.back().distanceToFp64 = worst;
        }
    }
    return cell;
}

Result<Cell> replayCell(const tensorfile::CaptureFile& capture, const CellRequest& request, const Catalogue& catalogue,
    Device& device, const CancelToken& cancel)
{
    auto cells = TRY(CaptureCells::of(capture, catalogue, cancel));
    return cells.cell(request, device, cancel);
}

} // namespace nanscope::replay
