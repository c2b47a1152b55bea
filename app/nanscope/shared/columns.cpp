// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/columns.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/words.h"
#include "core/base/try.h"
#include "core/platform/platform.h"
#include "core/replay/variants/nearest.h"

namespace nanscope {

namespace {

std::string missingText(const ingest::ColumnSurvey& survey)
{
    const auto& wanted = survey.missing.front();
    if (survey.seen.empty()) {
        return fmt::format(
            "there is no column '{}', and no other: no table, JSON or key=value lines were found", wanted);
    }
    const std::vector<std::string_view> seen(survey.seen.begin(), survey.seen.end());
    return fmt::format("there is no column '{}' in these logs; the nearest are {}", wanted,
        fmt::join(replay::nearest(wanted, seen, 3), ", "));
}

} // namespace

void addColumnOption(Options& options, ColumnWords& words)
{
    options
        .add("--map", words,
            "NAME=COLUMN: what a column of a log is, such as loss=train/total_loss or step=iter; may be repeated")
        .oneEach();
}

Result<std::optional<ingest::ColumnMap>> parseColumns(const ColumnWords& words)
{
    if (words.empty()) {
        return std::nullopt;
    }
    for (const auto& word : words) {
        const auto sign = word.find('=');
        const auto given = ingest::parseColumnMap({word});
        if (!given && sign != std::string::npos && sign > 0 && sign + 1 < word.size()) {
            TRY(oneOf("name for a column", word.substr(0, sign), ingest::mappableNames()));
        }
    }
    return ingest::parseColumnMap(words).map(
        [](ingest::ColumnMap columns) { return std::optional(std::move(columns)); });
}

Result<void> requireColumns(
    const std::vector<std::filesystem::path>& paths, const ingest::ColumnMap& columns, Terminal& terminal)
{
    const auto survey = TRY(ingest::surveyColumns(paths, columns, terminal.job()));
    if (!survey.missing.empty()) {
        return failure(ErrorKind::usage, missingText(survey), paths.front().string());
    }
    return {};
}

Result<std::optional<ingest::ColumnMap>> columnsFor(
    const std::vector<std::filesystem::path>& paths, const ColumnWords& words, Terminal& terminal)
{
    auto columns = parseColumns(words);
    if (!columns || !*columns) {
        return columns;
    }
    for (const auto& path : paths) {
        if (session::isSessionFile(path)) {
            return failure(ErrorKind::usage,
                "a session was read already; give --map to `nanscope import` with the folder and this session",
                path.string());
        }
    }
    TRY(requireColumns(paths, **columns, terminal));
    return columns;
}

std::string columnsText(const ingest::ColumnMap& columns)
{
    std::vector<std::string> parts;
    for (const auto& entry : columns.entries) {
        parts.push_back(fmt::format("{} is '{}'", entry.name, entry.column));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string lossHint(const RunData& run, const std::string& path)
{
    std::vector<std::string> names;
    for (const auto& series : run.series) {
        if (series.name == "loss" || series.name == "val_loss") {
            return {};
        }
        if (std::find(names.begin(), names.end(), series.name) == names.end()) {
            names.push_back(series.name);
        }
    }
    std::erase_if(names, [](const auto& name) {
        const auto& known = ingest::mappableNames();
        return std::find(known.begin(), known.end(), name) != known.end();
    });
    if (names.empty()) {
        return {};
    }
    constexpr std::size_t most = 8;
    const auto more = names.size() > most ? fmt::format(" and {} more", names.size() - most) : std::string();
    const auto example = platform::shellQuoted("loss=" + names.front());
    names.resize(std::min(names.size(), most));
    return fmt::format("No series is known as the loss. If one of {}{} is, say so: nanscope import {} --map {}",
        fmt::join(names, ", "), more, platform::shellQuoted(path), example);
}

} // namespace nanscope
