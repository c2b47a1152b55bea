// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/columns.h"
#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/words.h"
#include "core/base/json.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

class Export : public Command
{
public:
    explicit Export(CLI::App& root)
        : Command(root, "export", "The points of a series as CSV or JSON lines")
    {
        options().add("source", m_path, "A folder, a file or a session").required();
        options().add("--series", m_series, "Name, for example loss").required();
        options().add("--rank", m_rank, "Only this rank");
        options().add("--format", m_format, "csv or jsonl").showDefault();
        addColumnOption(options(), m_columns);
    }

    Result<int> run(Terminal& terminal) override;

private:
    std::string m_path;
    std::string m_series;
    std::optional<int> m_rank;
    std::string m_format = "csv";
    ColumnWords m_columns;
};

std::string quoted(const std::string& field)
{
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
        return field;
    }
    std::string result = "\"";
    for (const auto byte : field) {
        result += byte == '"' ? "\"\"" : std::string(1, byte);
    }
    return result + "\"";
}

/// Missing, NaN and the infinities are four different things.
std::string csvValue(const Point& point)
{
    if (point.state == PointState::reported) {
        return "";
    }
    return point.state == PointState::nan ? "nan" : fmt::format("{}", point.value); // a NaN may have a sign
}

Json valueJson(const Point& point)
{
    return point.state == PointState::reported ? Json(nullptr) : jsonNumber(point.value);
}

std::string csvLines(const Series& series)
{
    const auto rank = series.rank ? std::to_string(*series.rank) : std::string {};
    const auto source = quoted(printable(series.source));
    std::string text;
    for (const auto& point : series.points) {
        text +=
            fmt::format("{},{},{},{},{},{}\n", rank, series.segment, point.step, csvValue(point), source, point.line);
    }
    return text;
}

std::string jsonLines(const Series& series)
{
    std::string text;
    for (const auto& point : series.points) {
        Json line {{"rank", series.rank ? Json(*series.rank) : nullptr}, {"segment", series.segment},
            {"step", point.step}, {series.name, valueJson(point)}, {"source", series.source}, {"line", point.line}};
        text += jsonText(line) + "\n";
    }
    return text;
}

/// With those of logs that were begun anew, which their source tells.
std::vector<const Series*> everySeries(const RunData& run)
{
    std::vector<const Series*> all;
    const auto add = [&all](const LogRecords& records) {
        std::ranges::transform(records.series, std::back_inserter(all), [](const Series& one) { return &one; });
    };
    add(run);
    for (const auto& log : run.replaced) {
        add(log.records);
    }
    return all;
}

/// A name that several logs or ranks share is one.
tl::unexpected<Error> noSeries(
    const std::string& wanted, const std::set<std::string_view>& names, const std::string& path)
{
    if (names.empty()) {
        return failure(ErrorKind::usage, "there is no series in what was read", path);
    }
    return tl::make_unexpected(oneOf("series", wanted, {names.begin(), names.end()}).error());
}

/// Numbers of ranks, and whether logs that name none have it.
std::string ranksText(const std::set<std::optional<int>>& ranks)
{
    constexpr std::size_t most = 20;
    std::vector<std::string> parts;
    for (const auto& rank : ranks) {
        if (parts.size() == most) {
            parts.push_back(fmt::format("{} more", ranks.size() - most));
            break;
        }
        parts.push_back(rank ? fmt::format("rank {}", *rank) : "a log without ranks");
    }
    return fmt::format("{} {}", fmt::join(parts, ", "), parts.size() == 1 ? "has" : "have");
}

Result<int> Export::run(Terminal& terminal)
{
    TRY(oneOf("format", m_format, {"csv", "jsonl"}));
    if (terminal.json() && m_format == "csv" && options().given("--format")) {
        return failure(ErrorKind::usage, "--json and --format csv contradict each other");
    }
    const auto columns = TRY(columnsFor({m_path}, m_columns, terminal));
    auto source = TRY(openSource(m_path, {}, terminal, columns));
    const bool lines = m_format == "jsonl" || terminal.json();
    std::set<std::string_view> names;
    std::set<std::optional<int>> ranks; ///< that have the series
    bool found = false;
    for (const auto* one : everySeries(source.run)) {
        const auto& series = *one;
        names.emplace(series.name);
        if (series.name != m_series) {
            continue;
        }
        ranks.insert(series.rank);
        if (m_rank && series.rank != m_rank) {
            continue;
        }
        if (!found && !lines) {
            terminal.print("rank,segment,step,value,source,line\n");
        }
        found = true;
        terminal.print(lines ? jsonLines(series) : csvLines(series));
    }
    if (!found) {
        return ranks.empty()
            ? noSeries(m_series, names, m_path)
            : failure(ErrorKind::usage,
                fmt::format("no rank {} has the series '{}', which {}", *m_rank, m_series, ranksText(ranks)), m_path);
    }
    return statusOf(source);
}

} // namespace

std::unique_ptr<Command> makeExport(CLI::App& root)
{
    return std::make_unique<Export>(root);
}

} // namespace nanscope
