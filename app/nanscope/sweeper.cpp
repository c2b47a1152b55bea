// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/sweeper.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/sweepchoice.h"
#include "app/nanscope/shared/words.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/json/records.h"

namespace nanscope {

namespace {

Result<std::unique_ptr<instruments::FunctionSubject>> startOn(
    const std::string& device, const FunctionOptions& options, Terminal& terminal)
{
    const auto choice = options.choice(device, {});
    if (!choice) {
        return tl::make_unexpected(choice.error());
    }
    sayWhatRuns(*choice, terminal);
    return instruments::FunctionSubject::make(*choice, terminal.cancelToken());
}

instruments::FunctionNeighbours neighboursIn(const replay::SweepRequest& request, const std::vector<Cell>& cells)
{
    instruments::FunctionNeighbours beside {request.variants, {}, request.steps, request.catalogue};
    for (const auto& cell : cells) {
        const bool exact = cell.precision == Precision::fp64 && cell.error.empty() && cell.outcome < Outcome::inf;
        if (exact && std::find(beside.exact.begin(), beside.exact.end(), cell.variant) == beside.exact.end()) {
            beside.exact.push_back(cell.variant);
        }
    }
    return beside;
}

/// What the rows of one device add up to.
struct Tally
{
    std::int64_t calls = 0;
    std::int64_t failed = 0;
    std::int64_t changed = 0;
    std::int64_t shared = 0;
    double seconds = 0;
};

Tally tallyOf(const std::vector<instruments::FunctionCell>& rows, const Environment& environment)
{
    Tally tally;
    for (const auto& row : rows) {
        if (row.cell.environment == environment) {
            ++tally.calls;
            tally.failed += row.cell.error.empty() ? 0 : 1;
            tally.changed += row.inputChanged > 0 ? 1 : 0;
            tally.shared += row.sharesStorage ? 1 : 0;
            tally.seconds += row.cell.seconds;
        }
    }
    return tally;
}

std::string lineOf(const instruments::FunctionCell& row, const Tally& tally)
{
    const auto& environment = row.cell.environment;
    auto text = fmt::format("{}: {} in {}, called as {} in {}, {}, {}", row.cell.variant, counted(tally.calls, "call"),
        durationText(tally.seconds), row.how, environment.engine, environment.device,
        counted(environment.threads, "thread"));
    const auto add = [&text](const char* what, std::int64_t calls) {
        text += calls > 0 ? fmt::format("; {} in {}", what, calls) : "";
    };
    add("no output", tally.failed);
    add("its input was written to", tally.changed);
    add("its output lay in the memory of its input", tally.shared);
    return printable(text) + "\n";
}

} // namespace

Result<SweptFunction> SweptFunction::open(
    const FunctionOptions& options, const std::vector<std::string>& devices, Terminal& terminal)
{
    SweptFunction function(terminal);
    std::optional<Error> refused;
    for (const auto& device : devices) {
        auto started = startOn(device, options, terminal);
        if (started) {
            function.m_subjects.push_back(std::move(*started));
            continue;
        }
        if (started.error().kind == ErrorKind::cancelled) {
            return tl::make_unexpected(started.error());
        }
        if (refused) {
            terminal.error(*refused);
        }
        refused = started.error();
        function.m_complete = false;
    }
    if (function.m_subjects.empty()) {
        return tl::make_unexpected(*refused);
    }
    if (refused) {
        terminal.error(*refused);
    }
    return function;
}

Result<void> SweptFunction::run(
    const replay::SweepRequest& request, const Capture& capture, const std::vector<Cell>& cells)
{
    const auto beside = neighboursIn(request, cells);
    for (const auto& subject : m_subjects) {
        Progress progress {"sweep", "function", static_cast<std::int64_t>(m_rows.size()), 0, "calls", capture.file};
        m_terminal->progress(progress);
        auto row = instruments::functionCell(*subject, capture, request.epsilon, beside, m_terminal->job());
        if (!row) {
            return tl::make_unexpected(row.error());
        }
        ++progress.done;
        row->cell.capture = capture.file;
        m_terminal->cellDone(progress, instruments::toJson(*row));
        m_rows.push_back(std::move(*row));
    }
    return {};
}

bool SweptFunction::complete() const
{
    return m_complete && std::all_of(m_rows.begin(), m_rows.end(), [](const instruments::FunctionCell& row) {
        return row.cell.error.empty();
    });
}

std::string functionFooter(const std::vector<instruments::FunctionCell>& rows)
{
    std::string text;
    for (auto row = rows.begin(); row != rows.end(); ++row) {
        const auto& environment = row->cell.environment;
        const bool first = std::none_of(rows.begin(), row,
            [&](const instruments::FunctionCell& other) { return other.cell.environment == environment; });
        if (first) {
            text += lineOf(*row, tallyOf(rows, environment));
        }
    }
    return text;
}

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
            auto variants = plausibleVariants(*capture, m_request.catalogue, m_terminal.cancelToken());
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
        if (const auto variant = m_request.catalogue.find(name)) {
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
