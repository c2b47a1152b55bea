// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A report as Markdown, and foreign text as Markdown that shows it and does nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/report/document/document.h"

namespace nanscope::report::markdown {

/// For running text and table cells.
std::string plain(std::string_view text);
/// A code span.
std::string code(std::string_view text);
/// A code block whose fence is longer than any run of backticks inside.
std::string block(const std::vector<std::string>& lines, std::string_view language = {});
/// One row of a table; cells are Markdown already.
std::string tableRow(const std::vector<std::string>& cells);
/// A link destination or a part of one.
std::string destination(std::string_view path);

} // namespace nanscope::report::markdown

namespace nanscope::report {

/// What an issue body holds.
constexpr std::size_t maxReportCharacters = 65536;

std::string toMarkdown(const Document& document, const std::string& imageStem);

} // namespace nanscope::report
