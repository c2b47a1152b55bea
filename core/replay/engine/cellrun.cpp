// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/cellrun.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::replay {

namespace {

Result<Program> compiled(const tensorfile::CaptureFile& capture, const CellRequest& request, const Catalogue& catalogue)
{
    const auto variant = TRY(catalogue.find(request.variant));
    CompileOptions options;
    options.precision = request.precision;
    options.rounding.lowering = request.lowering;
    options.epsilon = request.epsilon ? request.epsilon : capture.capture.epsilon;
    options.forceEpsilon = request.epsilon.has_value();
    options.steps = request.steps;
    return compileProgram(*variant, capture.input.matrices(), options);
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

CellRun::CellRun(Program program, std::unique_ptr<Device> device, tensorfile::Tensor input, std::int64_t batch)
    : m_program(std::move(program))
    , m_device(std::move(device))
    , m_input(std::move(input))
    , m_batch(batch)
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
    auto program = TRY(compiled(capture, request, catalogue));
    auto device = TRY(devices(request.device));
    CellRun run(std::move(program), std::move(device), capture.input, batch);
    run.m_most = std::max<std::int64_t>(1, run.m_device->batchLimit(run.m_program));
    TRY(run.fitting([] { return Result<void>(); }));
    run.m_cell = emptyCell(capture.capture, request, **catalogue.find(request.variant));
    run.m_cell.native = run.m_device->native(request.precision);
    run.m_cell.environment = run.m_device->environment();
    return run;
}

/// With as many other matrices of the batch as a replay of all takes at once, or fewer where memory is short. The work
/// is done again then.
template <class Work>
auto CellRun::fitting(const Work& work) -> decltype(work())
{
    for (;;) {
        auto done = m_chunk > 0 ? work() : upload().and_then(work);
        if (done || done.error().kind != ErrorKind::refused || m_chunk <= 1) {
            return done;
        }
        m_most = m_chunk / 2;
        m_chunk = 0;
    }
}

Result<void> CellRun::upload()
{
    const auto first = m_batch / m_most * m_most;
    m_chunk = std::min(m_most, m_input.matrices().batch - first);
    m_element = m_batch - first;
    m_passed = 0;
    m_next = 0;
    const auto values = TRY(m_input.values(first, m_chunk));
    return m_device->prepare(m_program, m_chunk).and_then([&] { return m_device->upload(values); });
}

std::int64_t CellRun::workspaceBytes() const
{
    const bool doubles = m_program.precision == Precision::fp64;
    return m_chunk * m_program.workspaceBytes(doubles ? sizeof(double) : sizeof(float));
}

Result<void> CellRun::runThrough(std::size_t op, const CancelToken& cancel)
{
    m_cancel = cancel;
    m_device->heed(cancel);
    return fitting([&] { return runOps(op + 1); });
}

/// Until so many have run.
Result<void> CellRun::runOps(std::size_t count)
{
    while (m_passed < count) {
        TRY(runNext());
        if (m_cancel.cancelled()) {
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
    TRY(m_planter->before(next, *m_device, m_element));
    TRY(m_device->run(instruction));
    return m_planter->after(next, m_program, *m_device, m_element);
}

Result<Values> CellRun::values(const std::optional<Region>& part)
{
    return fitting([&, count = m_passed]() -> Result<Values> {
        return runOps(count).and_then([&]() -> Result<Values> {
            const auto out = m_program.code[m_next - 1].out;
            if (out >= 0) {
                return m_device->download(out, m_element, part);
            }
            return m_device->scans().map(
                [&](const std::vector<Scan>& all) { return Values(std::vector {valueOf(all[scanOf(count - 1)])}); });
        });
    });
}

Result<std::vector<double>> CellRun::matrix(const std::optional<Region>& part)
{
    return values(part).map([](Values values) { return std::move(values).doubles(); });
}

Result<TileMap> CellRun::tiles()
{
    if (m_program.code[m_next - 1].out < 0) {
        return matrix().map([this](const std::vector<double>& value) {
            return tensorfile::tileMatrix(
                std::span(value), 1, 1, false, tensorfile::smallestNormal(m_program.precision));
        });
    }
    return fitting([&, count = m_passed] {
        return runOps(count).and_then([this] { return m_device->tileMap(m_program.code[m_next - 1].out, m_element); });
    });
}

Result<std::vector<Scan>> CellRun::scans()
{
    return fitting([&, count = m_passed] {
        return runOps(count).and_then([this] { return m_device->scans(); }).map([&](const std::vector<Scan>& all) {
            std::vector<Scan> ours;
            for (std::size_t op = 0; op < count; ++op) {
                ours.push_back(all[scanOf(op)]);
            }
            return ours;
        });
    });
}

std::size_t CellRun::scanOf(std::size_t op) const
{
    return op * static_cast<std::size_t>(m_chunk) + static_cast<std::size_t>(m_element);
}

} // namespace nanscope::replay
