// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/render/markdown.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "core/base/text.h"

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

namespace nanscope::report {

namespace {

/// Adds whole pieces while they fit, and says how many did not: half a table or half a fence helps nobody.
class Page
{
public:
    explicit Page(std::size_t limit)
        : m_limit(limit)
    { }

    void add(const std::string& piece)
    {
        if (m_text.size() + piece.size() + noteRoom > m_limit) {
            ++m_left;
            return;
        }
        m_text += piece;
    }

    std::size_t room() const { return m_limit - std::min(m_limit, m_text.size() + noteRoom); }

    std::string take()
    {
        if (m_left > 0) {
            m_text += fmt::format("\n*{} part{} left out to stay under {} "
                                  "characters; `nanscope report -o report.json` has everything.*\n",
                m_left, m_left == 1 ? "" : "s", countText(maxReportCharacters));
        }
        return std::move(m_text);
    }

private:
    static constexpr std::size_t noteRoom = 200;
    std::size_t m_limit;
    std::string m_text;
    int m_left = 0;
};

std::string wordsMarkdown(const Words& words)
{
    switch (words.voice) {
    case Voice::own:
        return words.text;
    case Voice::code:
        return markdown::code(words.text);
    case Voice::strong:
        return "**" + markdown::plain(words.text) + "**";
    case Voice::foreign:
        break;
    }
    return markdown::plain(words.text);
}

std::string phraseMarkdown(const Phrase& phrase)
{
    std::string text;
    for (const auto& words : phrase.words) {
        text += wordsMarkdown(words);
    }
    return text;
}

std::vector<std::string> cellsOf(const std::vector<Phrase>& row)
{
    std::vector<std::string> cells;
    std::transform(row.begin(), row.end(), std::back_inserter(cells), phraseMarkdown);
    return cells;
}

std::string leftOut(const Table& table, std::size_t rows)
{
    return fmt::format("\n*{} more {}s left out to stay under {} characters.*\n",
        countText(static_cast<std::int64_t>(rows)), table.rowNoun, countText(maxReportCharacters));
}

/// Blocks as they follow the section's heading, which is still on its line where `first`.
struct BlockMarkdown
{
    const std::string& imageStem;
    std::size_t room;
    bool first = true;

    /// What stands before a paragraph, a list or a table would take it for its own.
    std::string operator()(const Paragraph& block) const
    {
        return (first ? " " : "\n") + phraseMarkdown(block.text) + "\n";
    }

    std::string operator()(const ItemList& block) const
    {
        std::string text = first ? "\n" : "";
        for (const auto& item : block.items) {
            const auto label = item.label.empty() ? std::string {} : item.label + ": ";
            text += (block.numbered ? "1. " : "- ") + label + phraseMarkdown(item.text) + "\n";
        }
        return text;
    }

    std::string operator()(const Table& block) const
    {
        auto text = (first ? "\n\n" : "\n") + markdown::tableRow(block.head)
            + markdown::tableRow(std::vector<std::string>(block.head.size(), "---"));
        constexpr std::size_t noteRoom = 200;
        for (std::size_t i = 0; i < block.rows.size(); ++i) {
            const auto row = markdown::tableRow(cellsOf(block.rows[i]));
            if (!block.rowNoun.empty() && text.size() + row.size() + noteRoom > room) {
                return text + leftOut(block, block.rows.size() - i);
            }
            text += row;
        }
        return text;
    }

    std::string operator()(const CodeBlock& block) const
    {
        return (first ? "\n\n" : "\n") + markdown::block(block.lines, block.language);
    }

    std::string operator()(const Figure& block) const
    {
        const auto file = markdown::destination(pictureFile(block, imageStem));
        // The comment is read by whoever pastes the text, and by nobody else.
        return fmt::format(
            "{0}![{1}]({2})\n<!-- In an issue: drag {2} onto this line, in place of the link above. Pasted "
            "text brings no picture along. -->\n\n{3}\n",
            first ? "\n\n" : "\n", markdown::plain(block.alt), file, phraseMarkdown(block.caption));
    }
};

/// Without the pictures, where there is no file to link to.
std::vector<const Block*> shownBlocks(const Section& section, const std::string& imageStem)
{
    std::vector<const Block*> shown;
    for (const auto& block : section.blocks) {
        if (!imageStem.empty() || !std::holds_alternative<Figure>(block)) {
            shown.push_back(&block);
        }
    }
    return shown;
}

std::string headingText(const Section& section, const Block& first)
{
    const bool leadsIn = std::holds_alternative<Paragraph>(first);
    return fmt::format("\n**{}{}**", section.title, !leadsIn || section.title.ends_with('?') ? "" : ".");
}

std::string sectionText(const Section& section, const std::string& imageStem, std::size_t room)
{
    const auto blocks = shownBlocks(section, imageStem);
    if (blocks.empty()) {
        return {};
    }
    auto text = headingText(section, *blocks.front());
    BlockMarkdown write {imageStem, room - std::min(room, text.size())};
    for (const auto* block : blocks) {
        text += std::visit(write, *block);
        write.first = false;
    }
    return text;
}

constexpr std::string_view foldBegin = "\n<details>\n<summary>Appendix</summary>\n";
constexpr std::string_view foldEnd = "\n</details>\n";

/// What was hidden says it of all the others, and is never left out.
std::string closingText(const Document& document)
{
    const auto found = std::ranges::find(document.sections, ReportSection::redactions, &Section::id);
    return found == document.sections.end() ? std::string {} : sectionText(*found, {}, maxReportCharacters);
}

std::string mainText(const Document& document, const std::string& imageStem, Page page)
{
    page.add("# " + phraseMarkdown(document.title) + "\n");
    for (const auto& section : document.sections) {
        if (!inAppendix(section.id)) {
            page.add(sectionText(section, imageStem, page.room()));
        }
    }
    return page.take();
}

std::string appendixText(const Document& document, const std::string& imageStem, Page page)
{
    for (const auto& section : document.sections) {
        if (inAppendix(section.id) && section.id != ReportSection::redactions) {
            page.add(sectionText(section, imageStem, page.room()));
        }
    }
    return page.take();
}

} // namespace

std::string toMarkdown(const Document& document, const std::string& imageStem)
{
    const auto closing = closingText(document);
    const auto kept = closing.size() + foldBegin.size() + foldEnd.size();
    auto text = mainText(document, imageStem, Page(maxReportCharacters - kept));
    const auto appendix = appendixText(document, imageStem, Page(maxReportCharacters - kept - text.size())) + closing;
    return appendix.empty() ? text : text + std::string(foldBegin) + appendix + std::string(foldEnd);
}

} // namespace nanscope::report
