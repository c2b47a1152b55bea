// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/cellrun.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::replay {

namespace {

Result<Program> compiled(const tensorfile::CaptureFile& capture, const CellRequest& request, const Catalogue& catalogue)
{
    const auto variant = catalogue.find(request.variant);
    if (!variant) {
        return tl::make_unexpected(variant.error());
    }
    CompileOptions options;
    options.precision = request.precision;
    options.rounding.lowering = request.lowering;
    options.epsilon = request.epsilon ? request.epsilon : capture.capture.epsilon;
    options.forceEpsilon = request.epsilon.has_value();
    options.steps = request.steps;
    return compileProgram(**variant, capture.input.matrices(), options);
}

/// A scalar stays on the device; its scan tells it.
double valueOf(const Scan& scalar)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (scalar.firstClass) {
    case ValueClass::nan:
        return std::numeric_limits<double>::quiet_NaN();
    case ValueClass::posInf:
        return infinity;
    case ValueClass::negInf:
        return -infinity;
    default:
        return scalar.trace;
    }
}

} // namespace

CellRun::CellRun(Program program, std::unique_ptr<Device> device)
    : m_program(std::move(program))
    , m_device(std::move(device))
    , m_ops(opsOf(m_program))
{ }

Result<CellRun> CellRun::begin(const tensorfile::CaptureFile& capture, const CellRequest& request,
    const Catalogue& catalogue, std::int64_t batch, const DeviceFactory& devices)
{
    const auto batches = capture.input.matrices().batch;
    if (batch < 0 || batch >= batches) {
        return failure(ErrorKind::usage, fmt::format("there is no matrix {}, the capture holds {}", batch, batches),
            capture.capture.path);
    }
    auto program = compiled(capture, request, catalogue);
    if (!program) {
        return tl::make_unexpected(program.error());
    }
    auto device = devices(request.device);
    if (!device) {
        return tl::make_unexpected(device.error());
    }
    CellRun run(std::move(*program), std::move(*device));
    if (auto ready = run.upload(capture.input, batch); !ready) {
        return tl::make_unexpected(ready.error());
    }
    run.m_cell = emptyCell(capture.capture, request, **catalogue.find(request.variant));
    run.m_cell.native = run.m_device->native(request.precision);
    run.m_cell.environment = run.m_device->environment();
    return run;
}

/// With as many other matrices of the batch as a replay of all takes at once, or fewer where memory is short.
Result<void> CellRun::upload(const tensorfile::Tensor& input, std::int64_t batch)
{
    for (auto limit = std::max<std::int64_t>(1, m_device->batchLimit(m_program));; limit = m_chunk / 2) {
        const auto first = batch / limit * limit;
        m_chunk = std::min(limit, input.matrices().batch - first);
        m_element = batch - first;
        const auto values = input.values(first, m_chunk);
        if (!values) {
            return tl::make_unexpected(values.error());
        }
        auto done = m_device->prepare(m_program, m_chunk).and_then([&] { return m_device->upload(*values); });
        if (done || done.error().kind != ErrorKind::refused || m_chunk == 1) {
            return done;
        }
    }
}

std::int64_t CellRun::workspaceBytes() const
{
    const bool doubles = m_program.precision == Precision::fp64;
    return m_chunk * m_program.workspaceBytes(doubles ? sizeof(double) : sizeof(float));
}

Result<void> CellRun::runThrough(std::size_t op, const CancelToken& cancel)
{
    m_device->heed(cancel);
    while (m_passed <= op) {
        if (auto done = runNext(); !done) {
            return done;
        }
        if (cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "the replay was cancelled");
        }
        if (m_program.code[m_next - 1].scanSlot >= 0) {
            ++m_passed;
        }
    }
    return {};
}

Result<void> CellRun::plant(const PlantedFault& fault)
{
    return Planter::make(m_program, fault).map([this](Planter planter) { m_planter = std::move(planter); });
}

Result<void> CellRun::runNext()
{
    const auto next = m_next++;
    const auto& instruction = m_program.code.at(next);
    if (!m_planter) {
        return m_device->run(instruction);
    }
    if (auto done = m_planter->before(next, *m_device, m_element); !done) {
        return done;
    }
    if (auto done = m_device->run(instruction); !done) {
        return done;
    }
    return m_planter->after(next, m_program, *m_device, m_element);
}

Result<Values> CellRun::values()
{
    const auto out = m_program.code[m_next - 1].out;
    if (out < 0) {
        return scans().map([](const std::vector<Scan>& all) { return Values(std::vector {valueOf(all.back())}); });
    }
    return m_device->download(out, m_element);
}

Result<std::vector<double>> CellRun::matrix()
{
    return values().map([](Values values) { return std::move(values).doubles(); });
}

Result<TileMap> CellRun::tiles()
{
    const auto out = m_program.code[m_next - 1].out;
    if (out < 0) {
        return matrix().map([this](const std::vector<double>& value) {
            return tensorfile::tileMatrix(
                std::span(value), 1, 1, false, tensorfile::smallestNormal(m_program.precision));
        });
    }
    return m_device->tileMap(out, m_element);
}

Result<std::vector<Scan>> CellRun::scans()
{
    return m_device->scans().map([this](const std::vector<Scan>& all) {
        std::vector<Scan> ours;
        for (std::size_t op = 0; op < m_passed; ++op) {
            ours.push_back(all[op * static_cast<std::size_t>(m_chunk) + static_cast<std::size_t>(m_element)]);
        }
        return ours;
    });
}

} // namespace nanscope::replay
