// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/sweeper.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/nanscope/sweepchoice.h"
#include "app/nanscope/words.h"
#include "core/base/text.h"

namespace nanscope {

Sweeper::Sweeper(replay::SweepRequest request, SweepDevices devices, std::optional<SweptFunction> function,
    Source& source, Terminal& terminal)
    : m_request(std::move(request))
    , m_devices(std::move(devices))
    , m_function(std::move(function))
    , m_source(source)
    , m_terminal(terminal)
{ }

Result<void> Sweeper::run(const std::vector<const Capture*>& captures)
{
    const bool named = !m_request.variants.empty();
    for (const auto* capture : captures) {
        if (!named) {
            auto variants = plausibleVariants(*capture, m_terminal.cancelToken());
            if (!variants) {
                return tl::make_unexpected(variants.error());
            }
            m_request.variants = std::move(*variants);
        }
        auto done = runCapture(*capture);
        m_swept.push_back({capture, m_cells.size(), m_function ? m_function->rows().size() : 0});
        if (!done) {
            return done;
        }
    }
    return {};
}

std::vector<instruments::FunctionCell> Sweeper::functionRows() const
{
    return m_function ? m_function->rows() : std::vector<instruments::FunctionCell>();
}

Result<void> Sweeper::runCapture(const Capture& capture)
{
    const auto before = static_cast<std::ptrdiff_t>(m_cells.size());
    if (const auto still = requireUnchanged(capture); !still) {
        m_terminal.error(still.error());
        m_devices.complete = false;
        return {};
    }
    if (auto done = replayCapture(capture); !done || !m_function) {
        return done;
    }
    return m_function->run(m_request, capture, {m_cells.begin() + before, m_cells.end()});
}

/// A file that was written anew since it was imported is another capture, whatever its name: no cell is kept of it, not
/// even one that says so.
Result<void> Sweeper::requireUnchanged(const Capture& capture) const
{
    const auto file = tensorfile::openCapture(capture);
    return file || file.error().kind != ErrorKind::refused ? Result<void>() : tl::make_unexpected(file.error());
}

Result<void> Sweeper::replayCapture(const Capture& capture)
{
    m_request.captures = {capture};
    sayMemory(capture);
    // What the file is called is not always what its run calls it.
    const auto onCell = [&](Cell cell, bool own) {
        cell.capture = capture.file;
        if (own) {
            store(cell);
        }
        take(cell);
    };
    if (!m_devices.own.empty()) {
        m_request.devices = m_devices.own;
        if (auto done = replay::sweep(
                m_request, replay::makeCoreDevice, job(), [&](Cell cell) { onCell(std::move(cell), true); });
            !done) {
            return done;
        }
    }
    return m_devices.worker ? runInWorker([&](Cell cell) { onCell(std::move(cell), false); }) : Result<void>();
}

/// A worker that fails is said once and then done without: what the others computed is as true as before.
Result<void> Sweeper::runInWorker(const std::function<void(Cell)>& onCell)
{
    m_request.devices = m_devices.ofWorker;
    const auto session = m_source.session && m_source.writable ? m_source.session->path().string() : std::string();
    auto done = m_devices.worker->sweep(m_request, session, job(), onCell);
    if (done || done.error().kind == ErrorKind::cancelled) {
        return done;
    }
    m_devices.worker.reset();
    m_devices.complete = false;
    if (m_devices.own.empty() && m_cells.empty()) {
        return done;
    }
    m_terminal.error(done.error());
    return {};
}

JobContext Sweeper::job()
{
    return {[this](const Progress& update) {
                m_last = update;
                m_terminal.progress(update);
            },
        m_terminal.cancelToken()};
}

void Sweeper::sayMemory(const Capture& capture)
{
    std::int64_t most = 0;
    for (const auto& name : m_request.variants) {
        if (const auto variant = replay::findVariant(name)) {
            most = std::max(most, replay::peakBytes(**variant, matrixShape(capture.input.shape)));
        }
    }
    m_terminal.say(LogLevel::info,
        fmt::format("{}: {}, at most {} at a time", capture.file,
            counted(static_cast<std::int64_t>(m_request.variants.size()), "variant"), bytesText(most)));
}

void Sweeper::store(Cell& cell)
{
    if (!m_source.session || !m_source.writable) {
        return;
    }
    if (const auto stored = m_source.session->addCell(cell); !stored) {
        m_terminal.say(LogLevel::warning, "The cell was not stored: " + sentence(stored.error()));
    }
}

void Sweeper::take(Cell& cell)
{
    cell.ops.clear();
    m_devices.complete = m_devices.complete && cell.deepError.empty();
    ++m_last.done;
    m_terminal.cellDone(m_last, cell);
    m_cells.push_back(std::move(cell));
}

} // namespace nanscope
