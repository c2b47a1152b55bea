// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/sweepfunction.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/words.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/json/records.h"

namespace nanscope {

namespace {

Result<std::unique_ptr<instruments::ImplSubject>> startOn(
    const std::string& device, const FunctionOptions& options, Terminal& terminal)
{
    const auto choice = options.choice(device, {});
    if (!choice) {
        return tl::make_unexpected(choice.error());
    }
    sayWhatRuns(*choice, terminal);
    return instruments::ImplSubject::make(*choice, terminal.cancelToken());
}

instruments::FunctionNeighbours neighboursIn(const replay::SweepRequest& request, const std::vector<Cell>& cells)
{
    instruments::FunctionNeighbours beside {request.variants, {}, request.steps};
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

} // namespace nanscope
