// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/render/markdowntext.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace nanscope::report::markdown {

namespace {

std::size_t longestBacktickRun(std::string_view text)
{
    std::size_t longest = 0;
    std::size_t run = 0;
    for (const auto byte : text) {
        run = byte == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return longest;
}

/// Tables are cut at | before code spans are looked for.
std::string tableCell(const std::string& cell)
{
    std::string escaped;
    for (const auto byte : cell) {
        const bool bare = byte == '|' && (escaped.empty() || escaped.back() != '\\');
        escaped += bare ? "\\|" : std::string(1, byte);
    }
    return escaped;
}

} // namespace

std::string plain(std::string_view text)
{
    constexpr std::string_view active = "\\`*_[]<>|~$#!";
    std::string result;
    for (const auto byte : text) {
        if (byte == '<') {
            result += "&lt;";
        } else if (byte == '&') {
            result += "&amp;";
        } else if (byte == '@') {
            // GitHub notifies whoever is named after an @; an empty comment keeps the text and the peace.
            result += "@<!-- -->";
        } else {
            result += active.find(byte) == std::string_view::npos ? "" : "\\";
            result += byte;
        }
    }
    return result;
}

std::string code(std::string_view text)
{
    const auto ticks = std::string(longestBacktickRun(text) + 1, '`');
    const bool pad = text.empty() || text.front() == '`' || text.back() == '`';
    const std::string space = pad ? " " : "";
    return ticks + space + std::string(text) + space + ticks;
}

std::string block(const std::vector<std::string>& lines, std::string_view language)
{
    std::string body;
    for (const auto& line : lines) {
        body += line + "\n";
    }
    const auto fence = std::string(std::max<std::size_t>(3, longestBacktickRun(body) + 1), '`');
    return fence + std::string(language) + "\n" + body + fence + "\n";
}

std::string tableRow(const std::vector<std::string>& cells)
{
    std::string row = "|";
    for (const auto& cell : cells) {
        row += " " + tableCell(cell) + " |";
    }
    return row + "\n";
}

std::string destination(std::string_view path)
{
    constexpr std::string_view safe = "-._/";
    std::string result;
    for (const auto byte : path) {
        const auto code = static_cast<unsigned char>(byte);
        const bool keep = std::isalnum(code) != 0 || safe.find(byte) != std::string_view::npos;
        result += keep ? std::string(1, byte) : fmt::format("%{:02X}", code);
    }
    return result;
}

} // namespace nanscope::report::markdown
