// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/keyvaluepairs.h"

#include <algorithm>

#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

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

bool isDigitAt(std::string_view text, std::size_t at)
{
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
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

} // namespace nanscope::ingest
