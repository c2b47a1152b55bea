// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/replay/analysis/deep.h"
#include "core/replay/engine/outcome.h"
#include "core/replay/engine/replay.h"

namespace nanscope::replay {

namespace {

Result<std::vector<double>> readBatch(const tensorfile::Tensor& tensor)
{
    const auto shape = tensor.matrices();
    std::vector<double> values(static_cast<std::size_t>(shape.batch * shape.elements()));
    const auto size = static_cast<std::size_t>(shape.elements());
    for (std::int64_t i = 0; i < shape.batch; ++i) {
        const auto out = std::span(values).subspan(static_cast<std::size_t>(i) * size, size);
        if (auto done = tensor.read(i, out); !done) {
            return tl::make_unexpected(done.error());
        }
    }
    return values;
}

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

Cell emptyCell(const Capture& capture, const CellRequest& request)
{
    Cell cell;
    cell.capture = capture.file;
    cell.variant = request.variant;
    cell.precision = request.precision;
    cell.device = request.device;
    cell.lowering = request.lowering;
    return cell;
}

/// One capture with its input read, and the fp64 outputs that distances are told from.
struct Bench
{
    const tensorfile::CaptureFile& file;
    std::vector<double> input;
    std::vector<std::vector<SingularDirection>> directions;
    std::map<std::string, std::vector<std::vector<double>>> reference; ///< by variant
};

Bench makeBench(const tensorfile::CaptureFile& file, std::vector<double> input)
{
    auto directions = signalDirections(file.input.matrices(), input);
    return {file, std::move(input), std::move(directions), {}};
}

double distanceToReference(
    const std::vector<std::vector<double>>& outputs, const std::vector<std::vector<double>>& exact)
{
    double worst = 0;
    for (std::size_t i = 0; i < outputs.size() && i < exact.size(); ++i) {
        worst = std::max(worst, relativeDistance(outputs[i], exact[i]));
    }
    return worst;
}

Result<Cell> computeCell(Bench& bench, const CellRequest& request, Device& device, const CancelToken& cancel)
{
    const auto variant = findVariant(request.variant);
    if (!variant) {
        return tl::make_unexpected(variant.error());
    }
    ReplayOptions options;
    options.precision = request.precision;
    options.rounding.lowering = request.lowering;
    options.epsilon = request.epsilon ? request.epsilon : bench.file.capture.epsilon;
    options.forceEpsilon = request.epsilon.has_value();
    options.steps = request.steps;
    options.tileMaps = request.tileMaps;
    options.keepOutput = true;
    const auto shape = bench.file.input.matrices();
    auto replayed = replay(**variant, shape, bench.input, device, options, cancel);
    if (!replayed) {
        return tl::make_unexpected(replayed.error());
    }
    Cell cell = emptyCell(bench.file.capture, request);
    cell.native = device.native(request.precision);
    cell.epsilon = replayed->program.epsilon;
    cell.environment = device.environment();
    cell.seconds = replayed->seconds;
    const auto outcomes = judgeOutcomes(*replayed, bench.directions);
    describeBatches(cell, *replayed, outcomes, bench.file.input.shape().size() > 2);
    cell.ops = std::move(replayed->ops);
    if (request.precision == Precision::fp64) {
        bench.reference[request.variant] = std::move(replayed->outputs);
    } else if (const auto exact = bench.reference.find(request.variant); exact != bench.reference.end()) {
        const bool finite = cell.outcome != Outcome::nan && cell.outcome != Outcome::inf;
        if (finite) {
            cell.gauges.back().distanceToFp64 = distanceToReference(replayed->outputs, exact->second);
        }
    }
    return cell;
}

std::vector<CellRequest> plan(const SweepRequest& request, const std::string& variantName, const Variant& variant)
{
    auto precisions = request.precisions;
    std::stable_sort(precisions.begin(), precisions.end());
    const auto lowerings = request.lowerings.empty() ? std::vector {variant.lowering} : request.lowerings;
    std::vector<CellRequest> cells;
    for (const auto& device : request.devices) {
        for (const auto precision : precisions) {
            for (const auto lowering : lowerings) {
                cells.push_back(
                    {variantName, precision, lowering, request.epsilon, request.steps, device, request.tileMaps});
            }
        }
    }
    return cells;
}

Result<std::vector<CellRequest>> planAll(const SweepRequest& request)
{
    std::vector<CellRequest> all;
    for (const auto& name : request.variants) {
        const auto variant = findVariant(name);
        if (!variant) {
            return tl::make_unexpected(variant.error());
        }
        const auto cells = plan(request, name, **variant);
        all.insert(all.end(), cells.begin(), cells.end());
    }
    if (all.empty()) {
        return failure(ErrorKind::usage, "the sweep names no variant, precision or device");
    }
    return all;
}

Cell failedCell(const Capture& capture, const CellRequest& request, const Error& error)
{
    Cell cell = emptyCell(capture, request);
    cell.error = sentence(error);
    return cell;
}

class Sweep
{
public:
    Sweep(std::vector<CellRequest> cells, const DeviceFactory& devices, const JobContext& job,
        const std::function<void(Cell)>& onCell, std::size_t captures, bool deep)
        : m_cells(std::move(cells))
        , m_deep(deep)
        , m_factory(devices)
        , m_job(job)
        , m_onCell(onCell)
        , m_total(static_cast<std::int64_t>(m_cells.size() * captures))
    { }

    Result<void> capture(const CaptureRef& wanted)
    {
        auto file = tensorfile::openCapture(wanted);
        if (!file) {
            return failAll(wanted.path, file.error());
        }
        auto input = readBatch(file->input);
        if (!input) {
            return failAll(wanted.path, input.error());
        }
        Bench bench = makeBench(*file, std::move(*input));
        for (const auto& request : m_cells) {
            if (auto done = cell(bench, request); !done) {
                return done;
            }
        }
        return {};
    }

private:
    Result<Device*> device(const std::string& name)
    {
        auto& slot = m_devices[name];
        if (!slot) {
            auto made = m_factory(name);
            if (!made) {
                return tl::make_unexpected(made.error());
            }
            slot = std::move(*made);
        }
        return slot.get();
    }

    Result<void> cell(Bench& bench, const CellRequest& request)
    {
        if (m_job.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "the sweep was cancelled");
        }
        report(bench.file.capture.file, request);
        const auto made = device(request.device);
        auto result = made ? computeCell(bench, request, **made, m_job.cancel) : tl::make_unexpected(made.error());
        if (result && m_deep) {
            result = withDeep(std::move(*result), bench.file.capture, request);
        }
        if (!result && result.error().kind == ErrorKind::cancelled) {
            return tl::make_unexpected(result.error());
        }
        ++m_done;
        m_onCell(result ? std::move(*result) : failedCell(bench.file.capture, request, result.error()));
        return {};
    }

    /// What refuses deep gauges says nothing against the cell.
    Result<Cell> withDeep(Cell cell, const Capture& capture, const CellRequest& request)
    {
        JobContext quiet;
        quiet.cancel = m_job.cancel;
        auto measured = measureDeep({capture, request, worstBatch(cell)}, m_factory, quiet);
        if (!measured && measured.error().kind == ErrorKind::cancelled) {
            return tl::make_unexpected(measured.error());
        }
        if (measured) {
            cell.deep = std::move(measured->deep);
        } else {
            cell.deepError = sentence(measured.error());
        }
        return cell;
    }

    Result<void> failAll(const std::string& path, const Error& error)
    {
        Capture capture;
        capture.file = std::filesystem::path(path).filename().string();
        for (const auto& request : m_cells) {
            ++m_done;
            m_onCell(failedCell(capture, request, error));
        }
        return {};
    }

    void report(const std::string& capture, const CellRequest& request)
    {
        Progress progress;
        progress.job = "sweep";
        progress.phase = "replay";
        progress.done = m_done;
        progress.total = m_total;
        progress.unit = "cells";
        progress.message = fmt::format("{} {} {}", request.variant, name(request.precision), capture);
        m_job.progress(progress);
    }

    std::vector<CellRequest> m_cells;
    bool m_deep;
    const DeviceFactory& m_factory;
    const JobContext& m_job;
    const std::function<void(Cell)>& m_onCell;
    std::map<std::string, std::unique_ptr<Device>> m_devices;
    std::int64_t m_done = 0;
    std::int64_t m_total = 0;
};

} // namespace

Result<Cell> replayCell(
    const tensorfile::CaptureFile& capture, const CellRequest& request, Device& device, const CancelToken& cancel)
{
    auto input = readBatch(capture.input);
    if (!input) {
        return tl::make_unexpected(input.error());
    }
    Bench bench = makeBench(capture, std::move(*input));
    return computeCell(bench, request, device, cancel);
}

Result<void> sweep(const SweepRequest& request, const DeviceFactory& devices, const JobContext& job,
    const std::function<void(Cell)>& onCell)
{
    if (request.captures.empty()) {
        return failure(ErrorKind::usage, "the sweep names no capture");
    }
    auto cells = planAll(request);
    if (!cells) {
        return tl::make_unexpected(cells.error());
    }
    Sweep running(std::move(*cells), devices, job, onCell, request.captures.size(), request.deep);
    for (const auto& wanted : request.captures) {
        if (auto done = running.capture(wanted); !done) {
            return done;
        }
    }
    return {};
}

} // namespace nanscope::replay
