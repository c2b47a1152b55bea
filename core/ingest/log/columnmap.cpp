// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/log/columnmap.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/try.h"
#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/metricnames.h"

namespace nanscope::ingest {

namespace {

constexpr std::size_t longestColumn = 200;

std::string ownName(std::string_view given)
{
    return stepPriority(given) ? "step" : isRankName(given) ? "rank" : canonicalName(given);
}

Result<MappedColumn> entryOf(const std::string& word)
{
    const auto sign = word.find('=');
    if (sign == std::string::npos || sign == 0 || sign + 1 == word.size()) {
        return failure(ErrorKind::usage,
            fmt::format("a column is named by NAME=COLUMN, such as loss=train/total_loss, not by '{}'", word));
    }
    MappedColumn entry {ownName(trimmed(std::string_view(word).substr(0, sign))),
        std::string(trimmed(std::string_view(word).substr(sign + 1))), false};
    const auto& names = mappableNames();
    if (std::find(names.begin(), names.end(), entry.name) == names.end()) {
        return failure(ErrorKind::usage,
            fmt::format("a column cannot be '{}', only one of {}", entry.name, fmt::join(names, ", ")));
    }
    const bool odd = std::any_of(entry.column.begin(), entry.column.end(),
        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
    if (odd || entry.column.size() > longestColumn) {
        return failure(ErrorKind::usage,
            fmt::format("the column for '{}' is no name of one line and {} bytes", entry.name, longestColumn));
    }
    return entry;
}

Result<void> add(ColumnMap& columns, MappedColumn entry)
{
    const auto other = columns.columnOf(entry.name);
    const auto name = columns.nameOf(entry.column);
    if (other == entry.column && name == entry.name) {
        return {};
    }
    if (!other.empty()) {
        return failure(ErrorKind::usage,
            fmt::format("'{}' and '{}' cannot both be the {}; name one of them", other, entry.column, entry.name));
    }
    if (!name.empty()) {
        return failure(
            ErrorKind::usage, fmt::format("the column '{}' cannot be both {} and {}", entry.column, name, entry.name));
    }
    columns.entries.push_back(std::move(entry));
    return {};
}

} // namespace

const std::vector<std::string_view>& mappableNames()
{
    static const std::vector<std::string_view> names {"step", "rank", "loss", "val_loss", "grad_norm", "lr",
        "loss_scale", "tokens_per_second", "step_time_s", "time", "epoch"};
    return names;
}

std::string_view ColumnMap::columnOf(std::string_view name) const
{
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const auto& one) { return one.name == name; });
    return entry != entries.end() ? std::string_view(entry->column) : std::string_view();
}

std::string_view ColumnMap::nameOf(std::string_view column) const
{
    const auto entry =
        std::find_if(entries.begin(), entries.end(), [&](const auto& one) { return one.column == column; });
    return entry != entries.end() ? std::string_view(entry->name) : std::string_view();
}

std::string_view ColumnMap::seriesOf(std::string_view column) const
{
    const auto name = nameOf(column);
    return name == "step" || name == "rank" ? std::string_view() : name;
}

bool ColumnMap::claims(std::string_view name) const
{
    return std::any_of(entries.begin(), entries.end(), [&](const auto& one) { return one.here && one.name == name; });
}

Result<ColumnMap> parseColumnMap(const std::vector<std::string>& words)
{
    ColumnMap columns;
    for (const auto& word : words) {
        TRY(entryOf(word).and_then([&](MappedColumn entry) { return add(columns, std::move(entry)); }));
    }
    return columns;
}

std::string textOf(const ColumnMap& columns)
{
    std::string text;
    for (const auto& entry : columns.entries) {
        text += entry.name + '=' + entry.column + '\n';
    }
    return text;
}

Result<ColumnMap> columnMapFromText(std::string_view text)
{
    std::vector<std::string> words;
    while (!text.empty()) {
        words.emplace_back(takeUntil(text, "\n"));
    }
    return parseColumnMap(words);
}

} // namespace nanscope::ingest
