// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/celltable.h"
#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/sweepchoice.h"
#include "app/nanscope/shared/words.h"
#include "app/nanscope/sweeper.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/json/records.h"
#include "core/model/model.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

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

/// A table for each cell that has deep gauges, and a line for each that should have them; empty where nobody asked.
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
    list("--precision", m_precisions, "Number formats; default: fp64,fp32,tf32,bf16,fp16");
    list("--lowering", m_lowerings, "eager, fused; default: each variant's own");
    list("--device", m_devices, "cpu, and those of nanscope-worker such as cuda:0");
    options().add("--epsilon", m_epsilon, "Instead of the captured one");
    options().add("--steps", m_steps, "Iterations, 1 to 100").within(1, replay::maxSteps);
    options().add("--gauges", m_gauges, "\"deep\": per step distance to fp64, smallest eigenvalue and more");
    m_function.add(options());
    addVariantFileOption();
    options().add("--session", m_session, "Keep the cells in this session");
}

std::vector<std::string> split(const std::vector<std::string>& given)
{
    return listOf(fmt::format("{}", fmt::join(given, ",")));
}

Result<replay::SweepRequest> Sweep::request() const
{
    replay::SweepRequest request;
    auto variants = variantsOf(split(m_variants), catalogue());
    auto precisions = precisionsOf(split(m_precisions));
    auto lowerings = loweringsOf(split(m_lowerings));
    if (!variants) {
        return tl::make_unexpected(variants.error());
    }
    if (!precisions) {
        return tl::make_unexpected(precisions.error());
    }
    if (!lowerings) {
        return tl::make_unexpected(lowerings.error());
    }
    request.variants = std::move(*variants);
    request.precisions = std::move(*precisions);
    request.lowerings = std::move(*lowerings);
    request.devices = split(m_devices);
    request.epsilon = m_epsilon;
    request.steps = m_steps;
    request.deep = m_gauges == "deep";
    request.catalogue = catalogue();
    if (!m_gauges.empty() && !request.deep) {
        return failure(ErrorKind::usage, fmt::format("'{}' is no kind of gauges; the only one is deep", m_gauges));
    }
    if (m_epsilon && !(std::isfinite(*m_epsilon) && *m_epsilon >= 0)) {
        return failure(ErrorKind::usage, "the epsilon of a sweep is a finite number of zero or more");
    }
    return request;
}

std::string headOf(const Capture& capture)
{
    return fmt::format("{}  {} {}, epsilon {}\n", printable(capture.file), shapeText(capture.input.shape),
        shortName(capture.input.dtype), capture.epsilon ? fmt::format("{:.3g}", *capture.epsilon) : "not recorded");
}

std::string tables(const Sweeper& sweeper)
{
    const auto calls = sweeper.functionRows();
    std::string text;
    SweptCapture before;
    for (const auto& swept : sweeper.swept()) {
        const auto cells = std::span(sweeper.cells()).subspan(before.cells, swept.cells - before.cells);
        const auto own = std::span(calls).subspan(before.calls, swept.calls - before.calls);
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

nlohmann::ordered_json answerJson(const Sweeper& sweeper)
{
    auto json = report::sweepJson(sweeper.cells());
    for (const auto& call : sweeper.functionRows()) {
        json["cells"].push_back(instruments::toJson(call));
    }
    return json;
}

std::string answerText(const Sweeper& sweeper)
{
    return tables(sweeper) + deepTables(sweeper.cells()) + footer(sweeper.cells())
        + functionFooter(sweeper.functionRows());
}

Result<int> Sweep::show(Terminal& terminal) const
{
    const auto choice = m_function.choice(split(m_devices).front(), {});
    if (!choice) {
        return tl::make_unexpected(choice.error());
    }
    printProgram(*choice, terminal);
    return exitDone;
}

/// What a function did once on one machine is no fact of the run: a session is asked for replays.
Result<std::optional<SweptFunction>> Sweep::openFunction(const Source& source, Terminal& terminal) const
{
    if (m_function.empty()) {
        return std::nullopt;
    }
    auto function = SweptFunction::open(m_function, split(m_devices), terminal);
    if (!function) {
        return tl::make_unexpected(function.error());
    }
    if (source.session && source.writable) {
        terminal.say(LogLevel::warning, "The session keeps the replays, not what the function gives");
    }
    return std::optional(std::move(*function));
}

Result<int> Sweep::run(Terminal& terminal)
{
    if (const auto taken = takeVariantsOf({m_path, m_session}, catalogue(), terminal); !taken) {
        return tl::make_unexpected(taken.error());
    }
    auto wanted = request();
    if (!wanted) {
        return tl::make_unexpected(wanted.error());
    }
    if (m_function.show) {
        return show(terminal);
    }
    auto devices = openDevices(wanted->devices, terminal);
    if (!devices) {
        return tl::make_unexpected(devices.error());
    }
    auto source = openSource(m_path, m_session, terminal, std::nullopt, workflow::Access::store);
    if (!source) {
        return tl::make_unexpected(source.error());
    }
    if (const auto kept = keepVariantsIn(*source, catalogue(), terminal); !kept) {
        return tl::make_unexpected(kept.error());
    }
    if (source->run.captures.empty()) {
        return failure(ErrorKind::format, "there is no capture to replay", m_path);
    }
    const auto captures = chosenCaptures(source->run, split(m_captures), terminal);
    if (!captures) {
        return tl::make_unexpected(captures.error());
    }
    auto function = openFunction(*source, terminal);
    if (!function) {
        return tl::make_unexpected(function.error());
    }
    Sweeper sweeper(std::move(*wanted), std::move(*devices), std::move(*function), *source, terminal);
    const auto done = sweeper.run(*captures);
    if (!done && done.error().kind != ErrorKind::cancelled) {
        return tl::make_unexpected(done.error());
    }
    // What was computed before a cancel is as true as the rest; the exit status says that it is not all.
    if (terminal.json()) {
        terminal.printJson(answerJson(sweeper));
    } else {
        terminal.print(answerText(sweeper));
    }
    if (!done) {
        return tl::make_unexpected(done.error());
    }
    return sweeper.complete() ? statusOf(*source) : exitRejected;
}

} // namespace

std::unique_ptr<Command> makeSweep(CLI::App& root)
{
    return std::make_unique<Sweep>(root);
}

} // namespace nanscope
