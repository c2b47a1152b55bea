// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/celltable.h"
#include "app/nanscope/command.h"
#include "app/nanscope/source.h"
#include "app/nanscope/words.h"
#include "core/diagnose/diagnose.h"
#include "core/replay/nearest.h"
#include "core/replay/replay.h"
#include "core/report/report.h"
#include "core/report/words.h"

namespace nanscope {

namespace {

class Sweep : public Command
{
public:
    explicit Sweep(CLI::App& root);
    Result<int> run(Terminal& terminal) override;

private:
    Result<SweepRequest> request() const;
    Result<std::vector<const Capture*>> chosen(const RunData& run, Terminal& terminal) const;

    std::string m_path;
    std::string m_session;
    std::vector<std::string> m_captures;
    std::vector<std::string> m_variants;
    std::vector<std::string> m_precisions {"fp64,fp32,tf32,bf16,fp16"};
    std::vector<std::string> m_lowerings;
    std::vector<std::string> m_devices {"cpu"};
    std::optional<double> m_epsilon;
    std::optional<int> m_steps;
};

Sweep::Sweep(CLI::App& root)
    : Command(root, "sweep", "Replay captures under variants and number formats")
{
    const auto list = [this](const char* name, std::vector<std::string>& target, const char* what) {
        options().add_option(name, target, what)->allow_extra_args(false);
    };
    options().add_option("source", m_path, "A capture, a folder or a session")->required();
    list("--capture", m_captures, "File names; default: those whose input is finite; \"all\" for every one");
    list("--variant", m_variants, "Variants, or \"all\"; default: those the captured output fits, else all");
    list("--precision", m_precisions, "Number formats; default: fp64,fp32,tf32,bf16,fp16");
    list("--lowering", m_lowerings, "eager, fused; default: each variant's own");
    list("--device", m_devices, "cpu; others need nanscope-worker");
    options().add_option("--epsilon", m_epsilon, "Instead of the captured one");
    options().add_option("--steps", m_steps, "Iterations, 1 to 100");
    options().add_option("--session", m_session, "Keep the cells in this session");
}

std::vector<std::string> split(const std::vector<std::string>& given)
{
    return listOf(fmt::format("{}", fmt::join(given, ",")));
}

Result<SweepRequest> Sweep::request() const
{
    SweepRequest request;
    auto variants = variantsOf(split(m_variants));
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
    for (const auto& device : request.devices) {
        if (auto made = makeCoreDevice(device); !made) {
            return tl::make_unexpected(made.error());
        }
    }
    return request;
}

Result<const Capture*> captureNamed(const RunData& run, const std::string& wanted)
{
    std::vector<std::string_view> names;
    for (const auto& capture : run.captures) {
        if (capture.file == wanted || capture.path == wanted) {
            return &capture;
        }
        names.emplace_back(capture.file);
    }
    const auto place = oneOf("capture", wanted, names);
    return tl::make_unexpected(place.error());
}

/// A replay of an input that is damaged already says nothing, so those are left out unless they are asked for.
std::vector<const Capture*> worthReplaying(const RunData& run, Terminal& terminal)
{
    std::vector<const Capture*> finite;
    std::vector<const Capture*> all;
    for (const auto& capture : run.captures) {
        all.push_back(&capture);
        if (capture.input.total().finite()) {
            finite.push_back(&capture);
        }
    }
    if (finite.empty() || finite.size() == all.size()) {
        return all;
    }
    terminal.say(LogLevel::warning,
        fmt::format("{} of {} captures are replayed: the input of the others is damaged already (--capture all takes "
                    "them too)",
            finite.size(), all.size()));
    return finite;
}

Result<std::vector<const Capture*>> Sweep::chosen(const RunData& run, Terminal& terminal) const
{
    if (run.captures.empty()) {
        return failure(ErrorKind::format, "there is no capture to replay", m_path);
    }
    if (m_captures.empty()) {
        return worthReplaying(run, terminal);
    }
    std::vector<const Capture*> captures;
    for (const auto& wanted : split(m_captures)) {
        if (wanted == "all") {
            captures.clear();
            std::transform(run.captures.begin(), run.captures.end(), std::back_inserter(captures),
                [](const Capture& capture) { return &capture; });
            return captures;
        }
        const auto found = captureNamed(run, wanted);
        if (!found) {
            return tl::make_unexpected(found.error());
        }
        captures.push_back(*found);
    }
    return captures;
}

/// Forms that nobody recommends fit wherever their published sibling does; alone, they are an answer.
std::vector<std::string> recommended(const std::vector<std::string>& names)
{
    std::vector<std::string> published;
    std::copy_if(names.begin(), names.end(), std::back_inserter(published), [](const std::string& name) {
        const auto variant = findVariant(name);
        return variant && (*variant)->published;
    });
    return published.empty() ? names : published;
}

Result<std::vector<std::string>> plausible(const Capture& capture, Terminal& terminal)
{
    if (capture.variant && findVariant(*capture.variant)) {
        return std::vector {*capture.variant};
    }
    const auto file = openCapture(capture.path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    auto device = makeEigenDevice();
    const auto found = identify(*file, *device, terminal.cancelToken());
    if (!found && found.error().kind == ErrorKind::cancelled) {
        return tl::make_unexpected(found.error());
    }
    const bool fits = found && found->how == IdentifiedBy::fit && !found->matchesNone && !found->names.empty();
    return fits ? recommended(found->names) : allVariants();
}

/// Runs one capture after the other, each with the variants that may have made it.
class Sweeper
{
public:
    Sweeper(SweepRequest request, Source& source, Terminal& terminal)
        : m_request(std::move(request))
        , m_source(source)
        , m_terminal(terminal)
    { }

    Result<void> run(const std::vector<const Capture*>& captures)
    {
        const bool named = !m_request.variants.empty();
        for (const auto* capture : captures) {
            if (!named) {
                auto variants = plausible(*capture, m_terminal);
                if (!variants) {
                    return tl::make_unexpected(variants.error());
                }
                m_request.variants = std::move(*variants);
            }
            m_request.captures = {capture->path};
            sayMemory(*capture);
            if (auto done = sweep(m_request, makeCoreDevice, job(), [this](Cell cell) { take(cell); }); !done) {
                return done;
            }
        }
        return {};
    }

    const std::vector<Cell>& cells() const { return m_cells; }

private:
    JobContext job()
    {
        return {[this](const Progress& update) {
                    m_last = update;
                    m_terminal.progress(update);
                },
            m_terminal.cancelToken()};
    }

    void sayMemory(const Capture& capture)
    {
        std::int64_t most = 0;
        for (const auto& name : m_request.variants) {
            if (const auto variant = findVariant(name)) {
                most = std::max(most, peakBytes(**variant, matrixShape(capture.input.shape)));
            }
        }
        m_terminal.say(LogLevel::info,
            fmt::format("{}: {}, at most {} at a time", capture.file,
                counted(static_cast<std::int64_t>(m_request.variants.size()), "variant"), bytesText(most)));
    }

    void take(Cell& cell)
    {
        if (m_source.session && m_source.writable) {
            if (auto stored = m_source.session->addCell(cell); !stored) {
                m_terminal.say(LogLevel::warning, "the cell was not stored: " + sentence(stored.error()));
            }
        }
        cell.ops.clear();
        ++m_last.done;
        m_terminal.cellDone(m_last, cell);
        m_cells.push_back(std::move(cell));
    }

    SweepRequest m_request;
    Source& m_source;
    Terminal& m_terminal;
    Progress m_last {"sweep", "sweep", 0, 0, "cells", {}};
    std::vector<Cell> m_cells;
};

std::string tables(const std::vector<const Capture*>& captures, const std::vector<Cell>& cells)
{
    std::string text;
    for (const auto* capture : captures) {
        std::vector<Cell> own;
        std::copy_if(cells.begin(), cells.end(), std::back_inserter(own),
            [capture](const Cell& cell) { return cell.capture == capture->file; });
        if (own.empty()) {
            continue;
        }
        text += fmt::format("{}{}  {} {}, epsilon {}\n", text.empty() ? "" : "\n", printable(capture->file),
            shapeText(capture->input.shape), shortName(capture->input.dtype),
            capture->epsilon ? fmt::format("{:.3g}", *capture->epsilon) : "not recorded");
        text += cellTable(own, false);
    }
    return text;
}

std::string footer(const std::vector<Cell>& cells)
{
    if (cells.empty()) {
        return {};
    }
    double seconds = 0;
    for (const auto& cell : cells) {
        seconds += cell.seconds;
    }
    const auto& environment = cells.back().environment;
    return fmt::format("\n{} in {} of replay on {}, {} ({}), {}\n",
        counted(static_cast<std::int64_t>(cells.size()), "cell"), durationText(seconds), environment.engine,
        environment.device, environment.hardware, counted(environment.threads, "thread"));
}

Result<int> Sweep::run(Terminal& terminal)
{
    auto wanted = request();
    if (!wanted) {
        return tl::make_unexpected(wanted.error());
    }
    auto source = openSource(m_path, m_session, terminal);
    if (!source) {
        return tl::make_unexpected(source.error());
    }
    const auto captures = chosen(source->run, terminal);
    if (!captures) {
        return tl::make_unexpected(captures.error());
    }
    Sweeper sweeper(std::move(*wanted), *source, terminal);
    const auto done = sweeper.run(*captures);
    if (!done && done.error().kind != ErrorKind::cancelled) {
        return tl::make_unexpected(done.error());
    }
    // What was computed before a cancel is as true as the rest; the exit status says that it is not all.
    if (terminal.json()) {
        terminal.printJson(sweepJson(sweeper.cells()));
    } else {
        terminal.print(tables(*captures, sweeper.cells()) + footer(sweeper.cells()));
    }
    if (!done) {
        return tl::make_unexpected(done.error());
    }
    return source->status();
}

} // namespace

std::unique_ptr<Command> makeSweep(CLI::App& root)
{
    return std::make_unique<Sweep>(root);
}

} // namespace nanscope
