// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/markdowntext.h"

#include <algorithm>

#include "core/report/report.h"
#include "core/report/words.h"

namespace nanscope {

namespace {

constexpr std::size_t longestText = 1200;
constexpr std::size_t longestLine = 400;

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

std::string tableRow(const std::vector<std::string>& cells)
{
    std::string row = "|";
    for (const auto& cell : cells) {
        row += " " + tableCell(cell) + " |";
    }
    return row + "\n";
}

} // namespace

std::string MarkdownText::cleaned(std::string_view text, std::size_t characters)
{
    auto result = std::string(text);
    if (m_redact) {
        result = redact(result, m_counts);
    }
    return clipped(printable(result), characters);
}

std::string MarkdownText::plain(std::string_view text)
{
    constexpr std::string_view active = "\\`*_[]<>|~$#!";
    std::string result;
    for (const auto byte : cleaned(text, longestText)) {
        if (byte == '<') {
            result += "&lt;";
        } else if (byte == '&') {
            result += "&amp;";
        } else if (byte == '@') {
            // GitHub notifies whoever is named after an @; a zero-width joiner keeps the text and the peace.
            result += "@\u200D";
        } else {
            result += active.find(byte) == std::string_view::npos ? "" : "\\";
            result += byte;
        }
    }
    return result;
}

std::string MarkdownText::code(std::string_view text)
{
    auto inner = cleaned(text, longestText);
    const auto ticks = std::string(longestBacktickRun(inner) + 1, '`');
    const bool pad = inner.empty() || inner.front() == '`' || inner.back() == '`';
    const std::string space = pad ? " " : "";
    return ticks + space + inner + space + ticks;
}

std::string MarkdownText::block(const std::vector<std::string>& lines, std::string_view language)
{
    std::string body;
    for (const auto& line : lines) {
        body += cleaned(line, longestLine) + "\n";
    }
    const auto fence = std::string(std::max<std::size_t>(3, longestBacktickRun(body) + 1), '`');
    return fence + std::string(language) + "\n" + body + fence + "\n";
}

std::string MarkdownText::table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows)
{
    auto text = tableRow(head) + tableRow(std::vector<std::string>(head.size(), "---"));
    for (const auto& row : rows) {
        text += tableRow(row);
    }
    return text;
}

} // namespace nanscope
