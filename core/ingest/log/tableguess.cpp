// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/log/tableguess.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>
#include <simdjson.h>

#include "core/ingest/text/consoletext.h"
#include "core/ingest/text/fields.h"
#include "core/ingest/text/metricnames.h"
#include "core/ingest/text/pythonjson.h"
#include "core/platform/platform.h"

namespace nanscope::ingest {

namespace {

using Lines = std::span<const std::string_view>;

constexpr std::size_t mostColumns = 1000;

void addValue(TableGuess& table, std::string_view name, std::optional<double> value)
{
    const auto isIt = [&](const GuessedColumn& column) { return column.name == name; };
    auto at = std::find_if(table.columns.begin(), table.columns.end(), isIt);
    if (at == table.columns.end()) {
        if (name.empty() || table.columns.size() >= mostColumns) {
            return;
        }
        at = table.columns.insert(at, {std::string(name), {}});
    }
    if (value) {
        at->values.push_back(*value);
    }
}

std::optional<double> numberOf(const simdjson::dom::element& value)
{
    double number = 0;
    std::string_view text;
    if (value.get(number) == simdjson::SUCCESS) {
        return number;
    }
    return value.get(text) == simdjson::SUCCESS ? parseNumber(text) : std::nullopt;
}

bool addObject(std::string_view line, simdjson::dom::parser& parser, TableGuess& table)
{
    const auto first = trimmed(line);
    simdjson::dom::object object;
    if (!first.starts_with('{')
        || parser.parse(simdjson::padded_string(strictJson(first))).get(object) != simdjson::SUCCESS) {
        return false;
    }
    for (const auto [key, value] : object) {
        const auto number = numberOf(value);
        if (number || value.is_null()) {
            addValue(table, key, number);
        }
    }
    return true;
}

std::optional<TableGuess> guessObjects(Lines lines)
{
    TableGuess table;
    simdjson::dom::parser parser;
    for (const auto line : lines) {
        table.rows += addObject(line, parser, table) ? 1 : 0;
    }
    const bool most = table.rows > 0 && table.rows * 2 >= lines.size();
    return most && !table.columns.empty() ? std::optional(std::move(table)) : std::nullopt;
}

std::optional<TableGuess> guessFields(Lines lines, char separator)
{
    std::vector<std::string_view> fields;
    splitFields(lines.front(), separator, fields);
    if (!isHeading(fields, separator)) {
        return std::nullopt;
    }
    TableGuess table;
    for (const auto field : fields) {
        table.columns.push_back({withoutDoubledQuotes(field), {}});
    }
    const auto isNumber = [&](std::string_view field) { return numberInField(field, separator).has_value(); };
    for (const auto line : lines.subspan(1)) {
        splitFields(line, separator, fields);
        const bool prose = separator == ' ' && !std::all_of(fields.begin(), fields.end(), isNumber);
        if (fields.size() != table.columns.size() || prose) {
            continue;
        }
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (const auto value = numberInField(fields[i], separator)) {
                table.columns[i].values.push_back(*value);
            }
        }
        ++table.rows;
    }
    const auto hasNumbers = [](const GuessedColumn& column) { return !column.values.empty(); };
    const bool most = table.rows > 0 && (table.rows + 1) * 2 >= lines.size();
    return most && std::any_of(table.columns.begin(), table.columns.end(), hasNumbers) ? std::optional(std::move(table))
                                                                                       : std::nullopt;
}

std::optional<TableGuess> guessPairs(Lines lines)
{
    TableGuess table;
    std::vector<KeyValuePair> pairs;
    std::string scratch;
    for (const auto line : lines) {
        readKeyValuePairs(stripTerminal(line, scratch), pairs);
        for (const auto& pair : pairs) {
            addValue(table, pair.key, pair.value);
        }
        table.rows += pairs.size() >= 2 ? 1 : 0;
    }
    return table.rows >= 2 ? std::optional(std::move(table)) : std::nullopt;
}

bool isRising(const std::vector<double>& values)
{
    const auto isWhole = [](double value) { return value >= 0 && wholeNumber(value).has_value(); };
    return values.size() >= 2 && values.back() > values.front() && std::all_of(values.begin(), values.end(), isWhole)
        && std::is_sorted(values.begin(), values.end());
}

bool hasWord(std::string_view name, const RE2& word)
{
    return RE2::PartialMatch(name, word);
}

struct Suggestion
{
    const GuessedColumn* step = nullptr;
    const GuessedColumn* loss = nullptr;
    bool named = false; ///< a name speaks of training
};

/// A name that says it goes before what the numbers look like.
Suggestion suggest(const TableGuess& table)
{
    static const RE2 stepWord(R"((?i)step|iter|batch|update|epoch|tick|^[ntix]$)", RE2::Latin1);
    static const RE2 lossWord(
        R"((?i)loss|nll|xent|(^|[^a-z])(ce|bpb|bpc|ppl)($|[^a-z])|entropy|perplexity|objective)", RE2::Latin1);
    static const RE2 otherWord(R"((?i)grad|norm|(^|[^a-z])lr($|[^a-z])|learn|token|reward)", RE2::Latin1);
    Suggestion found;
    for (const bool byName : {true, false}) {
        for (const auto& column : table.columns) {
            const bool rising = isRising(column.values);
            if (found.step == nullptr && rising && (!byName || hasWord(column.name, stepWord))) {
                found.step = &column;
            }
            const bool measured = !column.values.empty() && !rising;
            if (found.loss == nullptr && measured && (!byName || hasWord(column.name, lossWord))) {
                found.loss = &column;
            }
            found.named = found.named || hasWord(column.name, lossWord) || hasWord(column.name, otherWord);
        }
    }
    return found;
}

std::string namesOf(const TableGuess& table)
{
    constexpr std::size_t most = 8;
    constexpr std::size_t longest = 60;
    std::vector<std::string> names;
    for (const auto& column : table.columns) {
        if (names.size() == most) {
            return fmt::format("{} and {} more", fmt::join(names, ", "), table.columns.size() - most);
        }
        names.push_back(readable(column.name, longest));
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string wordsFor(const Suggestion& found)
{
    std::string words;
    for (const auto& [name, column] : {std::pair("step", found.step), std::pair("loss", found.loss)}) {
        if (column != nullptr) {
            words += fmt::format("{}--map {}", words.empty() ? "" : " ",
                platform::shellQuoted(fmt::format("{}={}", name, readable(column->name, column->name.size() * 4))));
        }
    }
    return words;
}

bool isKnown(const GuessedColumn& column, const ColumnMap& columns)
{
    return stepPriority(column.name) || isCanonical(canonicalName(column.name)) || !columns.nameOf(column.name).empty();
}

} // namespace

std::optional<TableGuess> guessTable(std::span<const std::string_view> lines)
{
    while (!lines.empty() && lines.front().starts_with('#')) {
        lines = lines.subspan(1);
    }
    if (lines.size() < 2) {
        return std::nullopt;
    }
    if (auto table = guessObjects(lines)) {
        return table;
    }
    for (const char separator : separators) {
        if (auto table = guessFields(lines, separator)) {
            return table;
        }
    }
    return guessPairs(lines);
}

std::optional<ColumnAdvice> adviseColumns(const TableGuess& table, const ColumnMap& columns)
{
    const auto& all = table.columns;
    const auto isStep = [&](const GuessedColumn& column) { return column.name == columns.columnOf("step"); };
    const auto step = std::find_if(all.begin(), all.end(), isStep);
    const auto isWhole = [](double value) { return wholeNumber(value).has_value(); };
    if (step != all.end() && std::none_of(step->values.begin(), step->values.end(), isWhole)) {
        return ColumnAdvice {
            fmt::format("its column '{}' cannot be the step, it holds no whole numbers; it has the columns {}",
                readable(step->name, 60), namesOf(table)),
            true};
    }
    const auto found = suggest(table);
    if (found.loss == nullptr
        || std::any_of(all.begin(), all.end(), [&](const auto& one) { return isKnown(one, columns); })) {
        return std::nullopt;
    }
    return ColumnAdvice {fmt::format("no name of its columns is known ({}); say which is which, for example with {}",
                             namesOf(table), wordsFor(found)),
        found.step != nullptr && found.named};
}

} // namespace nanscope::ingest
