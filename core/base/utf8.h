// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nanscope {

/// One line as a reader may see it, whoever wrote it: valid UTF-8 in which controls, line breaks included, are spaces,
/// and what is invisible or turns the direction of writing is U+FFFD. Every text that leaves the program goes through
/// this or one of the next two; a field of a line does where the line is built, or it could forge another line.
std::string printable(std::string_view text);

/// The same of text whose line breaks and tabs are its own layout.
std::string printableLines(std::string_view text);

/// JSON with those characters as \uXXXX: harmless on a terminal, the same to a parser.
std::string printableJson(std::string_view json);

/// Each byte that is no part of a UTF-8 character as a character of its own, so that a rule can match the whole of a
/// name in an old encoding; and back.
std::string withStandIns(const std::string& text);
std::string withoutStandIns(const std::string& text);

} // namespace nanscope
