// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/celltable.h"
#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/functionoptions.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/sweepjob.h"
#include "app/nanscope/shared/terminal.h"
#include "app/nanscope/shared/words.h"
#include "app/nanscope/shared/worker.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/instruments/functioncell.h"
#include "core/json/records.h"
#include "core/model/model.h"
#include "core/replay/analysis/sweep.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

/// The user's own function beside the replays of a sweep: one process on each device, which lives as long as the
/// function lets it.
class SweptFunction
{
public:
    /// Starts it on each device. One where it cannot be loaded is one sentence, and fails only where no other is left.
    static Result<SweptFunction> open(
        const FunctionOptions& options, const std::vector<std::string>& devices, Terminal& terminal);

    /// One row for each device. `cells` are the replays of the capture. Fails only when cancelled.
    Result<void> run(const replay::SweepRequest& request, const Capture& capture, const std::vector<Cell>& cells);

    const std::vector<instruments::FunctionCell>& rows() const { return m_rows; }
    /// False where it could not be loaded on a device, or gave no output.
    bool complete() const;

private:
    explicit SweptFunction(Terminal& terminal)
        : m_terminal(&terminal)
    { }

    Terminal* m_terminal;
    std::vector<std::unique_ptr<instruments::FunctionTarget>> m_targets;
    std::vector<instruments::FunctionCell> m_rows;
    bool m_complete = true;
};

/// Where the rows of a capture end, in the order they were computed.
struct SweptCapture
{
    const Capture* capture = nullptr;
    std::size_t cells = 0;
    std::size_t calls = 0; ///< of the user's own function
};

/// Runs one capture after the other, each with the variants that may have made it: here what core's device replays,
/// then in the worker the rest, then the user's own function where there is one.
class Sweeper
{
public:
    Sweeper(replay::SweepRequest request, SweepDevices devices, std::optional<SweptFunction> function, Source& source,
        Terminal& terminal);

    Result<void> run(const std::vector<const Capture*>& captures);

    const std::vector<Cell>& cells() const { return m_cells; }
    std::vector<instruments::FunctionCell> functionRows() const;
    const std::vector<SweptCapture>& swept() const { return m_swept; }
    const LeftOutVariants& leftOut() const { return m_leftOut; }
    /// False where cells that were asked for are not to be had; the reason was said.
    bool complete() const { return m_devices.complete && (!m_function || m_function->complete()); }

private:
    Result<void> runCapture(const Capture& capture);
    Result<void> replayCapture(const Capture& capture);
    Result<void> requireUnchanged(const Capture& capture) const;
    Result<void> runInWorker(const std::function<void(Cell)>& onCell);
    Result<void> doWithout(const std::string& device, const Error& error);
    JobContext job();
    void sayMemory(const Capture& capture);
    void store(Cell& cell);
    void take(Cell& cell);

    replay::SweepRequest m_request;
    SweepDevices m_devices;
    std::optional<SweptFunction> m_function;
    Source& m_source;
    Terminal& m_terminal;
    Progress m_last {"sweep", "sweep", 0, 0, "cells", {}};
    std::vector<Cell> m_cells;
    std::vector<SweptCapture> m_swept;
    LeftOutVariants m_leftOut;
};

Result<std::unique_ptr<instruments::FunctionTarget>> startOn(
    const std::string& device, const FunctionOptions& options, Terminal& terminal)
{
    const auto choice = TRY(options.choice(device, {}));
    sayWhatRuns(choice, terminal);
    return instruments::FunctionTarget::make(choice, terminal.cancelToken());
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

Result<SweptFunction> SweptFunction::open(
    const FunctionOptions& options, const std::vector<std::string>& devices, Terminal& terminal)
{
    SweptFunction function(terminal);
    std::optional<Error> refused;
    for (const auto& device : devices) {
        auto started = startOn(device, options, terminal);
        if (started) {
            function.m_targets.push_back(std::move(*started));
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
    if (function.m_targets.empty()) {
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
    for (const auto& target : m_targets) {
        Progress progress {"sweep", "function", static_cast<std::int64_t>(m_rows.size()), 0, "calls", capture.file};
        m_terminal->progress(progress);
        auto row = TRY(instruments::functionCell(*target, capture, request.epsilon, beside, m_terminal->job()));
        ++progress.done;
        row.cell.capture = capture.file;
        m_terminal->cellDone(progress, instruments::toJson(row));
        m_rows.push_back(std::move(row));
    }
    return {};
}

bool SweptFunction::complete() const
{
    return m_complete && std::all_of(m_rows.begin(), m_rows.end(), [](const instruments::FunctionCell& row) {
        return row.cell.error.empty();
    });
}

/// What was called how often, and what it did beside giving an output; a line for each device.
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
            auto variants = TRY(plausibleVariants(*capture, m_request.catalogue, m_terminal));
            m_request.variants = std::move(variants.names);
            if (!variants.leftOut.empty()) {
                m_leftOut.emplace_back(capture->file, std::move(variants.leftOut));
            }
        }
        const auto done = runCapture(*capture);
        m_swept.push_back({capture, m_cells.size(), m_function ? m_function->rows().size() : 0});
        TRY(done);
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
        TRY(replay::sweep(m_request, replay::makeCoreDevice, job(), [&](Cell cell) { onCell(std::move(cell), true); }));
    }
    return m_devices.worker ? runInWorker([&](Cell cell) { onCell(std::move(cell), false); }) : Result<void>();
}

/// One device after the other: a kernel that faults ends the worker, and takes along what its own GPU had not done.
Result<void> Sweeper::runInWorker(const std::function<void(Cell)>& onCell)
{
    const auto session = m_source.session && m_source.writable ? m_source.session->path().string() : std::string();
    const auto wanted = m_devices.ofWorker;
    for (auto device = wanted.begin(); device != wanted.end() && m_devices.worker; ++device) {
        m_request.devices = {*device};
        auto done = m_devices.worker->sweep(m_request, session, job(), onCell);
        if (!done && done.error().kind != ErrorKind::cancelled) {
            done = doWithout(*device, done.error());
        }
        TRY(done);
    }
    return {};
}

/// A device that fails is said once: what the others computed is as true as before, and what they have not is computed
/// in a worker of their own.
Result<void> Sweeper::doWithout(const std::string& device, const Error& error)
{
    m_devices.complete = false;
    m_devices.worker.reset();
    std::erase(m_devices.ofWorker, device);
    if (m_devices.ofWorker.empty()) {
        if (m_devices.own.empty() && m_cells.empty()) {
            return tl::make_unexpected(error);
        }
        m_terminal.error(error);
        return {};
    }
    m_terminal.error({error.kind, fmt::format("{} is done without: {}", device, error.what), error.path});
    auto others = TRY(openDevices(m_devices.ofWorker, m_terminal));
    m_devices.worker = std::move(others.worker);
    m_devices.ofWorker = std::move(others.ofWorker);
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
    m_devices.complete = m_devices.complete && cell.error.empty() && cell.deepError.empty();
    ++m_last.done;
    m_terminal.cellDone(m_last, cell);
    m_cells.push_back(std::move(cell));
}

std::string numberOr(const std::optional<double>& value)
{
    return value ? fmt::format("{:.3g}", *value) : "-";
}

std::string rangeOf(const std::vector<double>& values)
{
    if (values.empty()) {
        return "-";
    }
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return fmt::format("{:.4g} to {:.4g}", *low, *high);
}

std::string signalLine(const DeepGauges& deep)
{
    if (deep.shares.empty()) {
        return "  no signal direction converged: σ/‖G‖ of every one is below 0.01, or the input is not finite\n";
    }
    return fmt::format("  signal: {} with σ/‖G‖ {}; the schedule's published output is {:.4g} to {:.4g}\n",
        counted(static_cast<std::int64_t>(deep.shares.size()), "direction"), rangeOf(deep.shares), deep.outputRange[0],
        deep.outputRange[1]);
}

std::string deepTable(const DeepGauges& deep)
{
    constexpr auto right = Table::Align::right;
    Table table({{"step", right}, {"X to fp64", right}, {"λmin ≤", right}, {"asymmetry", right}, {"commutator", right},
        {"signal after it", right}});
    for (const auto& step : deep.steps) {
        table.add({std::to_string(step.iteration), numberOr(step.iterateDistance), numberOr(step.lambdaMin),
            numberOr(step.symmetryError), numberOr(step.commutator), rangeOf(step.signalGains)});
    }
    return table.text(2) + signalLine(deep);
}

std::string heading(const Cell& cell)
{
    return printable(fmt::format(
        "{} {} {} on {}, {}", cell.variant, name(cell.precision), name(cell.lowering), cell.device, cell.capture));
}

/// A table for each cell that has deep gauges, and a line for each that should have them; empty where none
/// were asked for.
std::string deepTables(std::span<const Cell> cells)
{
    std::string text;
    for (const auto& cell : cells) {
        if (cell.deep) {
            text += fmt::format("\nDeep gauges of {}, matrix {}, in {}\n", heading(cell), cell.deep->batch,
                durationText(cell.deep->seconds));
            text += deepTable(*cell.deep);
        } else if (!cell.deepError.empty()) {
            text += fmt::format("\nNo deep gauges of {}: {}\n", heading(cell), printable(cell.deepError));
        }
    }
    return text;
}

class Sweep : public Command
{
public:
    explicit Sweep(CLI::App& root);
    Result<int> run(Terminal& terminal) override;

private:
    Result<replay::SweepRequest> request() const;
    Result<int> show(Terminal& terminal) const;
    Result<int> runJob(const replay::SweepRequest& request, const std::vector<const Capture*>& captures, Source& source,
        Terminal& terminal) const;
    Result<std::optional<SweptFunction>> openFunction(const Source& source, Terminal& terminal) const;

    std::string m_path;
    std::string m_session;
    std::vector<std::string> m_captures;
    std::vector<std::string> m_variants;
    std::vector<std::string> m_precisions {"fp64,fp32,tf32,bf16,fp16"};
    std::vector<std::string> m_lowerings;
    std::vector<std::string> m_devices {"cpu"};
    std::optional<double> m_epsilon;
    std::optional<int> m_steps;
    std::string m_gauges;
    FunctionOptions m_function;
    JobOptions m_job;
};

Sweep::Sweep(CLI::App& root)
    : Command(root, "sweep", "Replay captures under variants and number formats")
{
    const auto list = [this](const char* name, std::vector<std::string>& target, const char* what) {
        options().add(name, target, what).oneEach();
    };
    options().add("source", m_path, "A capture, a folder or a session").required();
    list("--capture", m_captures, "Names or paths; default: those whose input is finite; \"all\" for every one");
    list("--variant", m_variants, "Variants, or \"all\"; default: those the captured output fits, else all");
    list("--precision", m_precisions, "Number formats, fp16-acc16 too; default: fp64,fp32,tf32,bf16,fp16");
    list("--lowering", m_lowerings, "eager, fused; default: each variant's own");
    list("--device", m_devices, "cpu, and those of nanscope-worker such as cuda:0");
    options().add("--epsilon", m_epsilon, "Instead of the captured one");
    options().add("--steps", m_steps, "Iterations, 1 to 100").within(1, replay::maxSteps);
    options().add("--gauges", m_gauges, "\"deep\": per step distance to fp64, smallest eigenvalue and more");
    m_function.add(options());
    addVariantFileOption();
    options().add("--session", m_session, "Keep the cells in this session");
    m_job.add(options());
}

std::vector<std::string> split(const std::vector<std::string>& given)
{
    return listOf(fmt::format("{}", fmt::join(given, ",")));
}

Result<replay::SweepRequest> Sweep::request() const
{
    replay::SweepRequest request;
    request.variants = TRY(variantsOf(split(m_variants), catalogue()));
    request.precisions = TRY(precisionsOf(split(m_precisions)));
    request.lowerings = TRY(loweringsOf(split(m_lowerings)));
    request.devices = split(m_devices);
    request.epsilon = m_epsilon;
    request.steps = m_steps;
    request.deep = m_gauges == "deep";
    request.catalogue = catalogue();
    if (!m_gauges.empty() && !request.deep) {
        return failure(ErrorKind::usage, fmt::format("'{}' is no kind of gauges; the only one is deep", m_gauges));
    }
    TRY(replay::checkEpsilon(m_epsilon));
    return request;
}

std::string headOf(const Capture& capture)
{
    return fmt::format("{}  {} {}, captured epsilon {}\n", printable(capture.file), shapeText(capture.input.shape),
        shortName(capture.input.dtype), capture.epsilon ? fmt::format("{:.3g}", *capture.epsilon) : "not recorded");
}

std::string tables(const std::vector<SweptCapture>& captures, std::span<const Cell> all,
    std::span<const instruments::FunctionCell> calls = {})
{
    std::string text;
    SweptCapture before;
    for (const auto& swept : captures) {
        const auto cells = all.subspan(before.cells, swept.cells - before.cells);
        const auto own = calls.subspan(before.calls, swept.calls - before.calls);
        before = swept;
        if (!cells.empty() || !own.empty()) {
            text += text.empty() ? "" : "\n";
            text += headOf(*swept.capture) + cellTable(cells, false, own);
        }
    }
    return text;
}

std::string footerLine(const std::vector<const Cell*>& cells)
{
    double seconds = 0;
    for (const auto* cell : cells) {
        seconds += cell->seconds;
    }
    const auto& environment = cells.front()->environment;
    auto text = fmt::format("{} in {} of replay on {}, {} ({}), {}",
        counted(static_cast<std::int64_t>(cells.size()), "cell"), durationText(seconds), environment.engine,
        environment.device, environment.hardware, counted(environment.threads, "thread"));
    return printable(text) + "\n";
}

/// One line for each place where cells were computed.
std::string footer(const std::vector<Cell>& cells)
{
    std::vector<std::vector<const Cell*>> places;
    for (const auto& cell : cells) {
        if (!cell.error.empty()) {
            continue;
        }
        const auto same = std::find_if(places.begin(), places.end(),
            [&](const auto& place) { return place.front()->environment == cell.environment; });
        (same == places.end() ? places.emplace_back() : *same).push_back(&cell);
    }
    std::string text = places.empty() ? "" : "\n";
    for (const auto& place : places) {
        text += footerLine(place);
    }
    return text;
}

Json answerJson(const Sweeper& sweeper)
{
    auto json = report::sweepJson(sweeper.cells());
    for (const auto& call : sweeper.functionRows()) {
        json["cells"].push_back(instruments::toJson(call));
    }
    json["left_out"] = leftOutJson(sweeper.leftOut());
    return json;
}

std::string answerText(const Sweeper& sweeper)
{
    const auto calls = sweeper.functionRows();
    return tables(sweeper.swept(), sweeper.cells(), calls) + deepTables(sweeper.cells()) + footer(sweeper.cells())
        + functionFooter(calls);
}

Result<int> Sweep::show(Terminal& terminal) const
{
    printProgram(TRY(m_function.choice(split(m_devices).front(), {})), terminal);
    return exitDone;
}

/// What a function did once on one machine is no fact of the run: a session is asked for replays.
Result<std::optional<SweptFunction>> Sweep::openFunction(const Source& source, Terminal& terminal) const
{
    if (m_function.empty()) {
        return std::nullopt;
    }
    auto function = TRY(SweptFunction::open(m_function, split(m_devices), terminal));
    if (source.session && source.writable) {
        terminal.say(LogLevel::warning, "The session keeps the replays, not what the function gives");
    }
    return std::optional(std::move(function));
}

/// Where the cells of each capture end, in the order of the job.
std::vector<SweptCapture> sweptBy(const SweepJob& job, const std::vector<const Capture*>& captures)
{
    std::vector<SweptCapture> swept;
    const auto& cells = job.gathered.cells;
    std::size_t end = 0;
    for (const auto* capture : captures) {
        while (end < cells.size() && cells[end].capture == capture->file) {
            ++end;
        }
        swept.push_back({capture, end, 0});
    }
    return swept;
}

bool hasFailed(const Cell& cell)
{
    return !cell.error.empty();
}

bool anyFailed(const std::vector<Cell>& cells)
{
    return std::ranges::any_of(cells, hasFailed);
}

bool allFailed(const std::vector<Cell>& cells, const std::vector<instruments::FunctionCell>& calls = {})
{
    return !(cells.empty() && calls.empty()) && std::ranges::all_of(cells, hasFailed)
        && std::ranges::all_of(calls, hasFailed, &instruments::FunctionCell::cell);
}

Result<int> Sweep::runJob(const replay::SweepRequest& request, const std::vector<const Capture*>& captures,
    Source& source, Terminal& terminal) const
{
    if (!m_function.empty()) {
        return failure(ErrorKind::usage, "a job has no function of its own; --impl is called without --job");
    }
    const auto job = TRY(openSweepJob(m_job, request, captures, source, terminal));
    const auto& cells = job.gathered.cells;
    terminal.answer(
        [&] {
            auto json = report::sweepJson(cells);
            json["job"] = jobJson(job);
            return json;
        },
        [&] {
            const auto done = tables(sweptBy(job, captures), cells) + deepTables(cells) + footer(cells);
            return done + (done.empty() ? "" : "\n") + jobText(job);
        });
    // A job that was just made lacks nothing yet.
    const bool lacks = job.gathered.missing > 0 && !job.gathered.parts.empty();
    return allFailed(cells) ? exitNothing : lacks || anyFailed(cells) ? exitRejected : statusOf(source);
}

Result<int> Sweep::run(Terminal& terminal)
{
    TRY(takeVariantsOf({m_path, m_session}, catalogue(), terminal));
    auto wanted = TRY(request());
    TRY(options().requireRead({{"`nanscope sweep` without --show", !m_function.show,
        {"--json", "--session", "--job", "--nodes", "--processes"}}}));
    if (m_function.show) {
        return show(terminal);
    }
    // The devices of a job are its processes' own.
    auto devices = TRY(m_job.wanted() ? SweepDevices() : openDevices(wanted.devices, terminal));
    auto source = TRY(openSource(m_path, m_session, terminal, std::nullopt, workflow::Access::store));
    TRY(keepVariantsIn(source, catalogue(), terminal));
    if (source.run.captures.empty()) {
        return failure(ErrorKind::format, "there is no capture to replay", m_path);
    }
    const auto captures = TRY(chosenCaptures(source.run, split(m_captures), terminal));
    if (m_job.wanted()) {
        return runJob(wanted, captures, source, terminal);
    }
    auto function = TRY(openFunction(source, terminal));
    Sweeper sweeper(std::move(wanted), std::move(devices), std::move(function), source, terminal);
    const auto done = sweeper.run(captures);
    if (!done && done.error().kind != ErrorKind::cancelled) {
        return tl::make_unexpected(done.error());
    }
    // What was computed before a cancel is as true as the rest; the exit status says that it is not all.
    terminal.answer([&] { return answerJson(sweeper); }, [&] { return answerText(sweeper); });
    TRY(done);
    return allFailed(sweeper.cells(), sweeper.functionRows()) ? exitNothing
        : sweeper.complete()                                  ? statusOf(source)
                                                              : exitRejected;
}

} // namespace

std::unique_ptr<Command> makeSweep(CLI::App& root)
{
    return std::make_unique<Sweep>(root);
}

} // namespace nanscope
