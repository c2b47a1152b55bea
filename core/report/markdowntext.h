// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/report/redaction.h"

namespace nanscope {

/// Turns foreign text into Markdown that shows it and does nothing else, redacting it first where asked to.
class MarkdownText
{
public:
    explicit MarkdownText(bool redact)
        : m_redact(redact)
    { }

    /// For running text and table cells.
    std::string plain(std::string_view text);
    /// A code span.
    std::string code(std::string_view text);
    /// A code block whose fence is longer than any run of backticks inside.
    std::string block(const std::vector<std::string>& lines, std::string_view language = {});
    /// A table; cells are Markdown already.
    static std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

    const RedactionCounts& counts() const { return m_counts; }
    bool redacts() const { return m_redact; }

private:
    std::string cleaned(std::string_view text, std::size_t characters);

    bool m_redact;
    RedactionCounts m_counts;
};

} // namespace nanscope
