// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace nanscope {

/// "15,360".
std::string countText(std::int64_t count);

/// Four significant digits; "NaN", "Inf" and "-Inf" for what is not finite.
std::string numberText(double value);

/// The number that the whole text is; none where it is not one.
template <class Number>
std::optional<Number> numberIn(std::string_view text)
{
    Number number {};
    const auto* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

/// The text with small letters for the capital ones of ASCII.
std::string lowered(std::string_view text);

/// The text without the spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

/// The text without the same quotes, single or double, at both ends.
std::string_view unquoted(std::string_view text);

/// "1 capture", "2 captures".
std::string counted(std::int64_t count, std::string_view noun);

/// With a capital at the front and a stop at the end.
std::string asSentence(const std::string& text);

/// At most so many characters, cut at a character with "…".
std::string clipped(std::string_view text, std::size_t characters);

/// Of what a program says before it fails, the last line mostly tells why: at most 300 bytes of it.
std::string lastLine(std::string text);

/// Columns a text takes on a terminal, counting code points.
std::size_t textWidth(std::string_view text);

/// `label` and the words of `words`, printable and broken at spaces to fit `columns`; further lines start `indent`
/// columns in.
std::string paragraph(std::string_view label, std::string_view words, std::size_t indent, std::size_t columns);

/// Orders names as people number them: "attempt_2" before "attempt_10".
bool naturalLess(std::string_view a, std::string_view b);

/// Two names that differ in nothing but their numbers, as those of two attempts do.
bool sameButForNumbers(std::string_view a, std::string_view b);

} // namespace nanscope
