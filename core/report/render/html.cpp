// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Well-formed XML that is HTML as well; nothing in it loads, runs or leads anywhere.
#include "core/report/document/document.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/report/style/stylesheets.h"

namespace nanscope::report {

namespace {

std::string wordsHtml(const Words& words)
{
    auto text = escaped(words.text);
    switch (words.voice) {
    case Voice::code:
        return "<code>" + text + "</code>";
    case Voice::strong:
        return "<strong>" + text + "</strong>";
    case Voice::own:
    case Voice::foreign:
        break;
    }
    return text;
}

std::string phraseHtml(const Phrase& phrase)
{
    std::string text;
    for (const auto& words : phrase.words) {
        text += wordsHtml(words);
    }
    return text;
}

/// A label as a class: "go back to" is `go-back-to`.
std::string labelClass(std::string label)
{
    std::replace(label.begin(), label.end(), ' ', '-');
    return label;
}

std::string tableRow(const std::vector<Phrase>& row)
{
    std::string text = "<tr>";
    for (const auto& cell : row) {
        text += "<td>" + phraseHtml(cell) + "</td>";
    }
    return text + "</tr>\n";
}

std::string tableHead(const std::vector<std::string>& head)
{
    std::string text = "<thead><tr>";
    for (const auto& cell : head) {
        text += R"(<th scope="col">)" + escaped(cell) + "</th>";
    }
    return text + "</tr></thead>\n";
}

struct BlockHtml
{
    std::string operator()(const Paragraph& block) const { return "<p>" + phraseHtml(block.text) + "</p>\n"; }

    std::string operator()(const ItemList& block) const
    {
        const auto* tag = block.numbered ? "ol" : "ul";
        const bool labelled = !block.items.empty() && !block.items.front().label.empty();
        auto text = fmt::format("<{}{}>\n", tag, labelled ? R"( class="labelled")" : "");
        for (const auto& item : block.items) {
            const auto label = item.label.empty()
                ? std::string {}
                : fmt::format(R"(<span class="label {}">{}</span> )", labelClass(item.label), escaped(item.label));
            text += fmt::format("<li>{}<span>{}</span></li>\n", label, phraseHtml(item.text));
        }
        return text + fmt::format("</{}>\n", tag);
    }

    std::string operator()(const Table& block) const
    {
        // A page with more rows than this is slow to open and read by nobody.
        constexpr std::size_t most = 2000;
        auto text = R"(<div class="wide"><table>)" + tableHead(block.head) + "<tbody>\n";
        const auto shown = std::min(block.rows.size(), most);
        for (std::size_t i = 0; i < shown; ++i) {
            text += tableRow(block.rows[i]);
        }
        text += "</tbody></table></div>\n";
        const auto left = static_cast<std::int64_t>(block.rows.size() - shown);
        return left == 0
            ? text
            : text + fmt::format("<p class=\"note\">{} more {}s left out.</p>\n", countText(left), block.rowNoun);
    }

    std::string operator()(const CodeBlock& block) const
    {
        std::string text = "<pre><code>";
        for (const auto& line : block.lines) {
            text += escaped(line) + "\n";
        }
        return text + "</code></pre>\n";
    }

    std::string operator()(const Figure& block) const
    {
        return fmt::format("<figure id=\"figure-{}\">{}<figcaption>{}</figcaption></figure>\n", block.id,
            block.svg.inlined(block.alt), phraseHtml(block.caption));
    }
};

std::string sectionText(const Section& section)
{
    auto text = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", name(section.id), escaped(section.title));
    for (const auto& block : section.blocks) {
        text += std::visit(BlockHtml {}, block);
    }
    return text + "</section>\n";
}

std::string contents(const Document& document)
{
    std::string text = "<nav aria-label=\"Sections\"><ol>\n";
    bool appendix = false;
    for (const auto& section : document.sections) {
        if (inAppendix(section.id) && !appendix) {
            text += R"(<li class="part">Appendix</li>)";
            appendix = true;
        }
        text += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", name(section.id), escaped(section.title));
    }
    return text + "</ol></nav>\n";
}

std::string sectionTexts(const Document& document)
{
    std::string screen;
    std::string appendix;
    for (const auto& section : document.sections) {
        (inAppendix(section.id) ? appendix : screen) += sectionText(section);
    }
    if (!appendix.empty()) {
        appendix = "<details class=\"appendix\">\n<summary>Appendix</summary>\n" + appendix + "</details>\n";
    }
    return "<div class=\"screen\">\n" + screen + "</div>\n" + appendix;
}

std::string plainText(const Phrase& phrase)
{
    std::string text;
    for (const auto& words : phrase.words) {
        text += words.text;
    }
    return escaped(text);
}

std::string head(const Document& document)
{
    return fmt::format(R"(<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta name="referrer" content="no-referrer"/>
<title>{}</title>
<style>{}</style>
</head>
)",
        pageStyleHash(), plainText(document.title), pageStyle());
}

} // namespace

std::string toHtml(const Document& document)
{
    return "<!DOCTYPE html>\n<html lang=\"en\">\n" + head(document) + "<body>\n" + contents(document)
        + fmt::format("<main>\n<header><p class=\"kicker\">Nanscope report{}{}</p>\n<h1>{}</h1></header>\n",
            document.run.empty() ? "" : " · ", escaped(document.run), phraseHtml(document.title))
        + sectionTexts(document) + "</main>\n</body>\n</html>\n";
}

} // namespace nanscope::report
