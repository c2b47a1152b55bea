// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/celltable.h"
#include "app/nanscope/shared/columns.h"
#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/words.h"
#include "core/base/jsonanswer.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/model/words.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

constexpr auto right = Table::Align::right;

class List : public Command
{
public:
    explicit List(CLI::App& root)
        : Command(root, "list", "Captures, series, events, runs or cells as a table")
    {
        options().add("source", m_path, "A folder, a file or a session").required();
        options().add("kind", m_kind, "captures, series, events, runs or cells").showDefault();
        options().add("--session", m_session, "Keep what was read in this session");
        addColumnOption(options(), m_columns);
    }

    Result<int> run(Terminal& terminal) override;

private:
    std::string m_path;
    std::string m_kind = "captures";
    std::string m_session;
    ColumnWords m_columns;
};

std::string numberOrDash(const std::optional<int>& value)
{
    return value ? std::to_string(*value) : "-";
}

std::string sideText(const CaptureTensor& tensor)
{
    return tensor.scanned() ? classesText(tensor.total()) : "not scanned";
}

std::string capturesText(const RunData& run)
{
    Table table({{"capture"}, {"rank", right}, {"shape"}, {"dtype"}, {"epsilon", right}, {"input"}, {"output"}});
    for (const auto& capture : run.captures) {
        table.add({capture.file, numberOrDash(capture.rank), shapeText(capture.input.shape),
            std::string(shortName(capture.input.dtype)),
            capture.epsilon ? fmt::format("{:.3g}", *capture.epsilon) : "-", sideText(capture.input),
            capture.output ? sideText(*capture.output) : "-"});
    }
    return table.text();
}

/// Records of the logs, then those of logs that were begun anew.
template <class Use>
void forEachGeneration(const RunData& run, const Use& use)
{
    use(run);
    for (const auto& log : run.replaced) {
        use(log.records);
    }
}

std::string seriesText(const RunData& run)
{
    Table table({{"rank", right}, {"series"}, {"points", right}, {"steps"}, {"NaN", right}, {"Inf", right},
        {"-Inf", right}, {"missing", right}, {"source"}});
    const auto add = [&](const LogRecords& records) {
        for (const auto& series : records.series) {
            table.add({numberOrDash(series.rank), series.name, countText(series.pointCount),
                fmt::format("{}-{}", series.firstStep, series.lastStep), countText(series.nan),
                countText(series.posInf), countText(series.negInf), countText(series.missing), series.source});
        }
    };
    forEachGeneration(run, add);
    return table.text();
}

std::string eventsText(const RunData& run)
{
    Table table({{"source"}, {"rank", right}, {"kind"}, {"text"}});
    const auto add = [&](const LogRecords& records) {
        for (const auto& event : records.events) {
            table.add(
                {event.place(), numberOrDash(event.rank), std::string(name(event.kind)), clipped(event.text, 120)});
        }
    };
    forEachGeneration(run, add);
    return table.text();
}

std::string runsText(const RunData& run)
{
    Table table({{"run"}, {"captures", right}, {"series", right}, {"events", right}, {"rejected", right}, {"folder"}});
    const auto count = [](const auto& range) { return countText(static_cast<std::int64_t>(range.size())); };
    table.add({run.name, count(run.captures), count(run.series), count(run.events), count(run.rejected), run.root});
    return table.text();
}

int answerCells(const Source& source, const std::vector<Cell>& cells, Terminal& terminal)
{
    terminal.answer([&] { return report::sweepJson(cells); },
        [&] { return cells.empty() ? "no cells; `nanscope sweep` makes them\n" : cellTable(cells, true); });
    return statusOf(source);
}

Result<int> listCells(const Source& source, Terminal& terminal)
{
    if (!source.session) {
        return failure(ErrorKind::usage, "cells are kept in sessions; name one, or run `nanscope sweep`");
    }
    return answerCells(source, TRY(source.session->cells()), terminal);
}

Result<int> List::run(Terminal& terminal)
{
    const std::vector<std::string_view> kinds {"captures", "series", "events", "runs", "cells"};
    const auto kind = oneOf("list of", m_kind, kinds);
    if (!kind && oneOf("list of", m_path, kinds)) {
        return failure(
            ErrorKind::usage, fmt::format("the run comes before the kind: nanscope list {} {}", m_kind, m_path));
    }
    TRY(kind);
    const auto columns = TRY(columnsFor({m_path}, m_columns, terminal));
    auto source = TRY(openSource(m_path, m_session, terminal, columns));
    if (m_kind == "cells") {
        return listCells(source, terminal);
    }
    using Text = std::string (*)(const RunData&);
    using Answer = JsonAnswer (*)(const RunData&);
    constexpr Text texts[] = {capturesText, seriesText, eventsText, runsText};
    constexpr Answer answers[] = {
        report::capturesAnswer, report::seriesAnswer, report::eventsAnswer, report::runsAnswer};
    terminal.answer([&] { return answers[*kind](source.run); }, [&] { return texts[*kind](source.run); });
    return statusOf(source);
}

} // namespace

std::unique_ptr<Command> makeList(CLI::App& root)
{
    return std::make_unique<List>(root);
}

} // namespace nanscope
