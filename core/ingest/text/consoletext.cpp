// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/consoletext.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "core/ingest/text/linereader.h"

namespace nanscope::ingest {

namespace {

constexpr char escape = '\x1b';
constexpr std::size_t longestNumber = 64;

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Length of the terminal sequence at the front, which begins with ESC.
std::size_t sequenceLength(std::string_view text)
{
    if (text.size() < 2) {
        return text.size();
    }
    if (text[1] == '[') {
        std::size_t at = 2;
        while (at < text.size() && (text[at] < '@' || text[at] > '~')) {
            ++at;
        }
        return std::min(at + 1, text.size());
    }
    if (text[1] == ']') {
        const auto end = text.find_first_of(std::string_view("\a\x1b", 2), 2);
        if (end == std::string_view::npos) {
            return text.size();
        }
        return std::min(end + (text[end] == escape ? 2 : 1), text.size());
    }
    return 2;
}

bool equalsIgnoringCase(std::string_view text, std::string_view lowered)
{
    return std::equal(
        text.begin(), text.end(), lowered.begin(), lowered.end(), [](char a, char b) { return lower(a) == b; });
}

std::optional<double> parseSpecial(std::string_view text)
{
    const bool negative = text.starts_with('-');
    const auto word = text.substr(negative || text.starts_with('+') ? 1 : 0);
    double value = 0;
    if (equalsIgnoringCase(word, "nan") || equalsIgnoringCase(word.substr(0, 4), "nan(")) {
        value = std::numeric_limits<double>::quiet_NaN();
    } else if (equalsIgnoringCase(word, "inf") || equalsIgnoringCase(word, "infinity")) {
        value = std::numeric_limits<double>::infinity();
    } else {
        return std::nullopt;
    }
    return negative ? -value : value;
}

std::optional<double> parsePlain(std::string_view text)
{
    double value = 0;
    text.remove_prefix(text.starts_with('+') ? 1 : 0);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size()) {
        return std::nullopt;
    }
    if (error == std::errc::result_out_of_range) {
        // Too large and too small look alike to from_chars; strtod tells them apart, rounding as everybody does.
        return std::strtod(std::string(text).c_str(), nullptr);
    }
    return error == std::errc {} ? std::optional(value) : std::nullopt;
}

/// True where commas stand before groups of three digits only: in "2,5" one stands for the decimal point of half the
/// world, and 25 would be a wrong value.
bool groupedByCommas(std::string_view text)
{
    text = text.substr(0, text.find_first_of(".eE"));
    text.remove_prefix(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
    constexpr std::size_t group = 4;
    const auto first = text.find(',');
    if (first == 0 || first >= group || (text.size() - first) % group != 0) {
        return false;
    }
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool comma = at >= first && (at - first) % group == 0;
        if ((text[at] == ',') != comma) {
            return false;
        }
    }
    return true;
}

std::optional<double> parseWithCommas(std::string_view text)
{
    if (!groupedByCommas(text)) {
        return std::nullopt;
    }
    std::array<char, longestNumber> digits {};
    const auto end = std::copy_if(text.begin(), text.end(), digits.begin(), [](char c) { return c != ','; });
    return parsePlain({digits.data(), static_cast<std::size_t>(end - digits.begin())});
}

/// Bytes of the valid UTF-8 character at the front, 0 if there is none.
std::size_t characterLength(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    const std::size_t length = lead < 0x80 ? 1
        : lead < 0xc2                      ? 0
        : lead < 0xe0                      ? 2
        : lead < 0xf0                      ? 3
        : lead < 0xf5                      ? 4
                                           : 0;
    if (length == 0 || length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) {
            return 0;
        }
    }
    const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
    const bool beyond = (lead == 0xed && byte(1) >= 0xa0) || (lead == 0xf4 && byte(1) >= 0x90);
    return overlong || beyond ? 0 : length;
}

} // namespace

std::string_view stripTerminal(std::string_view text, std::string& scratch)
{
    const bool coloured = std::memchr(text.data(), escape, text.size()) != nullptr;
    if (!coloured && std::memchr(text.data(), '\0', text.size()) == nullptr) {
        return text;
    }
    scratch.clear();
    scratch.reserve(text.size() + linePadding);
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == escape) {
            at += sequenceLength(text.substr(at));
            continue;
        }
        if (text[at] != '\0') {
            scratch += text[at];
        }
        ++at;
    }
    return scratch;
}

std::optional<double> parseNumber(std::string_view text)
{
    text = unquoted(trimmed(text));
    if (text.empty() || text.size() > longestNumber) {
        return std::nullopt;
    }
    const char first = text.front();
    if (isDigit(first) || isDigit(text.back()) || text.back() == '.') {
        return text.find(',') == std::string_view::npos ? parsePlain(text) : parseWithCommas(text);
    }
    return parseSpecial(text);
}

std::optional<double> parseQuantity(std::string_view text)
{
    text = text.substr(0, text.find('/'));
    const auto end = text.find_last_of("0123456789.");
    const auto unit = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (end == std::string_view::npos) {
        while (!text.empty() && (text.ends_with('%') || (text.ends_with('s') && text.size() > 3))) {
            text.remove_suffix(1);
        }
        return parseNumber(text.ends_with('m') ? text.substr(0, text.size() - 1) : text);
    }
    const auto digits = text.substr(0, end + 1);
    if (!std::all_of(unit.begin(), unit.end(), [](char c) { return isLetter(c) || c == '%'; })) {
        return std::nullopt;
    }
    // Scaled as text: 4.1 times a million is not the double nearest to 4,100,000.
    const int exponent = unit == "k" || unit == "K" ? 3 : unit == "M" ? 6 : unit == "B" ? 9 : 0;
    return exponent == 0 ? parseNumber(digits) : parseNumber(fmt::format("{}e{}", digits, exponent));
}

std::optional<std::int64_t> parseInteger(std::string_view text)
{
    const auto number = takeInteger(text);
    return text.empty() ? number : std::nullopt;
}

std::optional<std::int64_t> takeInteger(std::string_view& text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc {} || text.front() == '-') {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool takePrefix(std::string_view& text, std::string_view prefix)
{
    if (!text.starts_with(prefix)) {
        return false;
    }
    text.remove_prefix(prefix.size());
    return true;
}

std::string_view takeUntil(std::string_view& text, std::string_view separator)
{
    const auto end = std::min(text.find(separator), text.size());
    const auto part = text.substr(0, end);
    text.remove_prefix(std::min(end + separator.size(), text.size()));
    return part;
}

std::string readable(std::string_view text, std::size_t most)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto length = characterLength(text.substr(at));
        const auto next = length != 0 ? std::string(text.substr(at, length))
                                      : fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
        if (out.size() + next.size() > most) {
            break;
        }
        out += next;
        at += std::max<std::size_t>(length, 1);
    }
    return out;
}

std::string readableEnd(std::string_view text, std::size_t most)
{
    constexpr std::string_view left = "...\n";
    constexpr std::size_t longestEscape = 4;
    while (text.ends_with('\n')) {
        text.remove_suffix(1);
    }
    auto out = readable(text, text.size() * longestEscape);
    if (out.size() <= most) {
        return out;
    }
    auto begin = out.size() - (most - left.size());
    const auto line = out.find('\n', begin);
    begin = line != std::string::npos ? line + 1 : begin;
    while (begin < out.size() && (static_cast<unsigned char>(out[begin]) & 0xc0U) == 0x80U) {
        ++begin;
    }
    return std::string(left) + out.substr(begin);
}

} // namespace nanscope::ingest
