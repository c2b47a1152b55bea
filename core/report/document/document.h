// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/json.h"
#include "core/report/input/reportoptions.h"
#include "core/report/pictures/svg.h"

namespace nanscope::report {

struct ReportInput;

/// Whose words these are. `own` is ours and safe; everything else may come from a log, a file name or a session of a
/// stranger and is redacted, cleaned and escaped.
enum class Voice { own, foreign, code, strong };

struct Words
{
    Voice voice = Voice::own;
    std::string text;
};

/// Running text in several voices.
struct Phrase
{
    std::vector<Words> words;
};

inline Phrase own(std::string text)
{
    return {{{Voice::own, std::move(text)}}};
}

inline Phrase foreign(std::string text)
{
    return {{{Voice::foreign, std::move(text)}}};
}

inline Phrase code(std::string text)
{
    return {{{Voice::code, std::move(text)}}};
}

inline Phrase strong(std::string text)
{
    return {{{Voice::strong, std::move(text)}}};
}

inline Phrase operator+(Phrase left, const Phrase& right)
{
    left.words.insert(left.words.end(), right.words.begin(), right.words.end());
    return left;
}

struct Paragraph
{
    Phrase text;
};

struct ListItem
{
    std::string label; ///< "for", "against", "neither", or empty
    Phrase text;
};

struct ItemList
{
    bool numbered = false;
    std::vector<ListItem> items;
};

struct Table
{
    std::vector<std::string> head;
    std::vector<std::vector<Phrase>> rows;
    std::string rowNoun; ///< "captures": rows from the end may be left out where room is short; empty: all or none
};

struct CodeBlock
{
    std::string language;
    std::vector<std::string> lines;
};

struct Figure
{
    std::string id; ///< in a page
    std::string alt; ///< our words
    Phrase caption;
    Svg svg;
    int number = 0; ///< in the order of the document, from 1; part of a file name
};

/// "report-1.png"
std::string pictureFile(const Figure& figure, const std::string& stem);

using Block = std::variant<Paragraph, ItemList, Table, CodeBlock, Figure>;

struct Section
{
    ReportSection id = ReportSection::claim;
    std::string title;
    std::vector<Block> blocks;
};

/// The report before it is Markdown or HTML: both are written from this, so that they cannot tell two stories.
struct Document
{
    Phrase title;
    std::string run; ///< name of the run
    std::vector<Section> sections;
    std::vector<Redaction> redactions; ///< what was replaced in it
};

/// Every foreign word in it is redacted as the options say, without control characters and valid UTF-8.
/// `beside`: the reproducer that lies in the same folder, or null.
Document documentOf(const ReportInput& input, const ReportOptions& options, const Reproducer* beside = nullptr);

std::string toHtml(const Document& document);

} // namespace nanscope::report
