// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/fields.h"

#include <algorithm>

#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

namespace {

constexpr std::size_t longestHeading = 200;

std::size_t fieldEnd(std::string_view text, char separator)
{
    if (!text.starts_with('"')) {
        return std::min(text.find(separator), text.size());
    }
    auto quote = text.find('"', 1);
    while (quote != std::string_view::npos && text.substr(quote + 1).starts_with('"')) {
        quote = text.find('"', quote + 2);
    }
    return quote == std::string_view::npos ? text.size() : std::min(text.find(separator, quote), text.size());
}

std::string_view bare(std::string_view field)
{
    field = trimmed(field);
    const bool quoted = field.size() >= 2 && field.front() == '"' && field.back() == '"';
    return quoted ? field.substr(1, field.size() - 2) : field;
}

} // namespace

void splitFields(std::string_view text, char separator, std::vector<std::string_view>& fields)
{
    fields.clear();
    const bool blanks = separator == ' ';
    for (text = blanks ? trimmed(text) : text;;) {
        const auto end = fieldEnd(text, separator);
        fields.push_back(bare(text.substr(0, end)));
        if (end >= text.size()) {
            return;
        }
        text.remove_prefix(end + 1);
        text = blanks ? trimmed(text) : text;
    }
}

std::string withoutDoubledQuotes(std::string_view field)
{
    std::string text(field);
    for (auto at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1)) {
        text.erase(at, 1);
    }
    return text;
}

std::optional<double> numberInField(std::string_view field, char separator)
{
    if (separator != ';' || field.find('.') != std::string_view::npos) {
        return parseNumber(field);
    }
    std::string text(field);
    std::replace(text.begin(), text.end(), ',', '.');
    return parseNumber(text);
}

bool isHeading(const std::vector<std::string_view>& fields, char separator)
{
    const auto isName = [separator](std::string_view field) {
        return field.size() <= longestHeading && !numberInField(field, separator);
    };
    return fields.size() >= 2 && std::all_of(fields.begin(), fields.end(), isName);
}

namespace {

constexpr std::size_t mostPairs = 64;

/// What ends at the sign: a word, or anything in quotes.
std::string_view keyBefore(std::string_view text)
{
    text = text.substr(0, text.find_last_not_of(" \t") + 1);
    if (text.empty()) {
        return {};
    }
    if (const char quote = text.back(); quote == '"' || quote == '\'') {
        const auto open = text.size() > 1 ? text.rfind(quote, text.size() - 2) : std::string_view::npos;
        return open == std::string_view::npos ? std::string_view() : text.substr(open + 1, text.size() - open - 2);
    }
    const auto before = text.find_last_of(" \t,;|=:{}()[]\"'");
    const auto key = text.substr(before == std::string_view::npos ? 0 : before + 1);
    return key.empty() || (key.front() >= '0' && key.front() <= '9') ? std::string_view() : key;
}

/// A comma between digits groups them.
std::string_view wordAfter(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    auto end = text.find_first_of(" \t,;|{}()[]");
    while (end != std::string_view::npos && text[end] == ',' && isDigitAt(text, end + 1)) {
        end = text.find_first_of(" \t,;|{}()[]", end + 1);
    }
    return text.substr(0, end);
}

} // namespace

void readKeyValuePairs(std::string_view text, std::vector<KeyValuePair>& pairs)
{
    pairs.clear();
    std::size_t from = 0;
    for (auto sign = text.find_first_of("=:"); sign != std::string_view::npos && pairs.size() < mostPairs;
         sign = text.find_first_of("=:", sign + 1)) {
        const auto key = keyBefore(text.substr(from, sign - from));
        const auto value = key.empty() ? std::nullopt : parseQuantity(wordAfter(text.substr(sign + 1)));
        if (value) {
            pairs.push_back({key, *value});
        }
        from = sign + 1;
    }
}

std::optional<MlflowLine> mlflowLine(std::string_view text)
{
    text = trimmed(text);
    const auto time = parseInteger(takeUntil(text, " "));
    const auto value = parseNumber(takeUntil(text, " "));
    if (!time || !value) {
        return std::nullopt;
    }
    MlflowLine line {*time, *value, {}};
    if (!text.empty()) {
        line.step = parseInteger(takeUntil(text, " "));
        if (!line.step) {
            return std::nullopt;
        }
    }
    return line;
}

} // namespace nanscope::ingest
