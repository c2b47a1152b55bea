// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "core/ingest/settings/settingsink.h"

namespace nanscope::ingest {

namespace {

/// Behind the string that begins here.
std::size_t behindString(std::string_view text, std::size_t at)
{
    const char quote = text[at];
    const auto triple = std::string(3, quote);
    const bool multiLine = text.substr(at).starts_with(triple);
    at += multiLine ? 3 : 1;
    for (; at < text.size(); ++at) {
        if (quote == '"' && text[at] == '\\') {
            ++at;
        } else if (multiLine ? text.substr(at).starts_with(triple) : text[at] == quote || text[at] == '\n') {
            return at + (multiLine ? 3 : 1);
        }
    }
    return text.size();
}

/// The parser counts how deep tables and lists are nested, but not the parts of "a.a.a.a = 1", and takes such trees
/// apart by recursion.
bool hasLongKey(std::string_view text)
{
    constexpr int mostParts = 16;
    int dots = 0;
    for (std::size_t at = 0; at < text.size() && dots < mostParts;) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            at = behindString(text, at);
            continue;
        }
        at = c == '#' ? std::min(text.find('\n', at), text.size()) : at + 1;
        dots = c == '.' ? dots + 1 : std::string_view(",=[]{}\n").find(c) != std::string_view::npos ? 0 : dots;
    }
    return dots >= mostParts;
}

std::string textOf(const toml::node& node)
{
    if (const auto* text = node.as_string()) {
        return text->get();
    }
    if (const auto* number = node.as_floating_point()) {
        return fmt::format("{}", number->get());
    }
    std::ostringstream out;
    node.visit([&](const auto& value) {
        if constexpr (toml::is_value<decltype(value)>) {
            out << value;
        }
    });
    return out.str();
}

// The parser refuses what is nested deeper than 256.
void read(const toml::node& node, std::string_view key, SettingSink& sink)
{
    const std::int64_t line = node.source().begin.line;
    if (const auto* table = node.as_table()) {
        sink.open(key, false, line);
        for (const auto& [name, value] : *table) {
            read(value, name.str(), sink);
        }
        sink.close();
    } else if (const auto* list = node.as_array()) {
        sink.open(key, true, line);
        for (const auto& value : *list) {
            read(value, {}, sink);
        }
        sink.close();
    } else {
        sink.value(key, textOf(node), line);
    }
}

} // namespace

Result<void> readTomlSettings(std::string_view text, SettingSink& sink)
{
    if (hasLongKey(text)) {
        return failure(ErrorKind::refused, "nested too deep", {});
    }
    try {
        read(toml::parse(text), {}, sink);
    } catch (const toml::parse_error& error) {
        return failure(ErrorKind::format, fmt::format("not valid TOML at line {}", error.source().begin.line), {});
    }
    return {};
}

} // namespace nanscope::ingest
