// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/sweep.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/replay/analysis/deep.h"
#include "core/replay/engine/capturecells.h"

namespace nanscope::replay {

namespace {

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
        const auto variant = TRY(request.catalogue.find(name));
        const auto cells = plan(request, name, *variant);
        all.insert(all.end(), cells.begin(), cells.end());
    }
    for (const auto& cell : request.cells) {
        TRY(request.catalogue.find(cell.variant));
    }
    if (!request.cells.empty()) {
        return request.cells;
    }
    if (all.empty()) {
        return failure(ErrorKind::usage, "the sweep names no variant, precision or device");
    }
    return all;
}

class Sweep
{
public:
    Sweep(const SweepRequest& request, std::vector<CellRequest> cells, const DeviceFactory& devices,
        const JobContext& job, const std::function<void(Cell)>& onCell)
        : m_request(request)
        , m_cells(std::move(cells))
        , m_factory(devices)
        , m_job(job)
        , m_onCell(onCell)
        , m_total(static_cast<std::int64_t>(m_cells.size() * request.captures.size()))
    { }

    Result<void> capture(const CaptureRef& wanted)
    {
        auto file = tensorfile::openCapture(wanted);
        if (!file) {
            return failAll(wanted.path, file.error());
        }
        auto cells = CaptureCells::of(*file, m_request.catalogue, m_job.cancel);
        if (!cells && cells.error().kind == ErrorKind::cancelled) {
            return tl::make_unexpected(cells.error());
        }
        if (!cells) {
            return failAll(wanted.path, cells.error());
        }
        for (const auto& request : m_cells) {
            TRY(cell(*cells, request));
        }
        return {};
    }

private:
    Result<Device*> device(const std::string& name)
    {
        auto& slot = m_devices[name];
        if (!slot) {
            slot = TRY(m_factory(name));
        }
        return slot.get();
    }

    Result<void> cell(CaptureCells& cells, const CellRequest& request)
    {
        if (m_job.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "the sweep was cancelled");
        }
        report(cells.capture().file, request);
        const auto made = device(request.device);
        auto result = made ? cells.cell(request, **made, m_job.cancel) : tl::make_unexpected(made.error());
        if (result && m_request.deep) {
            result = withDeep(std::move(*result), cells.capture(), request);
        }
        if (!result && result.error().kind == ErrorKind::cancelled) {
            return tl::make_unexpected(result.error());
        }
        ++m_done;
        m_onCell(result ? std::move(*result) : failedCell(cells.capture(), request, result.error()));
        return {};
    }

    Cell failedCell(const Capture& capture, const CellRequest& request, const Error& error) const
    {
        Cell cell = emptyCell(capture, request, **m_request.catalogue.find(request.variant));
        cell.error = sentence(error);
        return cell;
    }

    /// What refuses deep gauges says nothing against the cell.
    Result<Cell> withDeep(Cell cell, const Capture& capture, const CellRequest& request)
    {
        JobContext quiet;
        quiet.cancel = m_job.cancel;
        auto measured = measureDeep({capture, request, worstBatch(cell), m_request.catalogue}, m_factory, quiet);
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
            Cell cell = failedCell(capture, request, error);
            cell.steps = 0;
            m_onCell(std::move(cell));
        }
        return {};
    }

    void report(const std::string& capture, const CellRequest& request)
    {
        Progress progress;
        progress.job = "sweep";
        progress.phase = "replaying";
        progress.done = m_done;
        progress.total = m_total;
        progress.unit = "cells";
        progress.message = fmt::format("{} {} {}", request.variant, name(request.precision), capture);
        m_job.progress(progress);
    }

    const SweepRequest& m_request;
    std::vector<CellRequest> m_cells;
    const DeviceFactory& m_factory;
    const JobContext& m_job;
    const std::function<void(Cell)>& m_onCell;
    std::map<std::string, std::unique_ptr<Device>> m_devices;
    std::int64_t m_done = 0;
    std::int64_t m_total = 0;
};

} // namespace

std::int64_t cellCount(const SweepRequest& request)
{
    const auto combined = request.variants.size() * request.precisions.size() * request.devices.size()
        * std::max<std::size_t>(1, request.lowerings.size());
    return static_cast<std::int64_t>(
        request.captures.size() * (request.cells.empty() ? combined : request.cells.size()));
}

Result<void> sweep(const SweepRequest& request, const DeviceFactory& devices, const JobContext& job,
    const std::function<void(Cell)>& onCell)
{
    if (request.captures.empty()) {
        return failure(ErrorKind::usage, "the sweep names no capture");
    }
    auto cells = TRY(planAll(request));
    Sweep running(request, std::move(cells), devices, job, onCell);
    for (const auto& wanted : request.captures) {
        TRY(running.capture(wanted));
    }
    return {};
}

} // namespace nanscope::replay
