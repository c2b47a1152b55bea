// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/text.h"

namespace nanscope::ingest {

constexpr std::int64_t largestRank = 9'999'999;
constexpr std::string_view byteOrderMark = "\xef\xbb\xbf";

constexpr bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

constexpr bool isDigitAt(std::string_view text, std::size_t at)
{
    return at < text.size() && isDigit(text[at]);
}

constexpr bool isLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Removes colour codes, other terminal sequences and zero bytes. Returns `text` itself where there is nothing to
/// remove, else a view of `scratch`.
std::string_view stripTerminal(std::string_view text, std::string& scratch);

/// A whole number in every spelling of reference logs: nan, inf, infinity in any case, quoted or not, "1,234.5".
std::optional<double> parseNumber(std::string_view text);

/// The same with a unit or a scale behind it: "52.3%", "1.25s", "71.2/80GB", "1.5k". The scale k, M, B is applied.
std::optional<double> parseQuantity(std::string_view text);

std::optional<std::int64_t> parseInteger(std::string_view text);

/// None for a fraction, and for what a double cannot tell from its neighbour.
inline std::optional<std::int64_t> wholeNumber(double value)
{
    constexpr double largest = 9e15;
    const bool whole = std::abs(value) <= largest && value == std::floor(value);
    return whole ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
}

/// Takes digits off the front; none if there are none or too many.
std::optional<std::int64_t> takeInteger(std::string_view& text);

bool takePrefix(std::string_view& text, std::string_view prefix);

/// Takes what stands before the separator off the front, and drops the separator; all of it where there is none.
std::string_view takeUntil(std::string_view& text, std::string_view separator);

/// Valid UTF-8 of at most `most` bytes: bad bytes become \xNN, the cut never splits a character.
std::string readable(std::string_view text, std::size_t most);

/// The same of what is at the end, from the start of a line where there is one; "..." stands for what is missing.
std::string readableEnd(std::string_view text, std::size_t most);

} // namespace nanscope::ingest
