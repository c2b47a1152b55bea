// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/separated.h"

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

} // namespace nanscope::ingest
