// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "core/base/utf8.h"

namespace nanscope {

namespace {

bool continues(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

} // namespace

std::string countText(std::int64_t count)
{
    auto digits = std::to_string(count);
    const std::size_t begin = count < 0 ? 1 : 0;
    for (auto at = digits.size(); at > begin + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string numberText(double value)
{
    if (std::isnan(value)) {
        return "NaN";
    }
    if (std::isinf(value)) {
        return value > 0 ? "Inf" : "-Inf";
    }
    return fmt::format("{:.4g}", value);
}

std::string lowered(std::string_view text)
{
    std::string result(text);
    std::ranges::transform(
        result, result.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return result;
}

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view blanks = " \t";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::string_view unquoted(std::string_view text)
{
    const bool quoted =
        text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
    return quoted ? text.substr(1, text.size() - 2) : text;
}

std::string counted(std::int64_t count, std::string_view noun)
{
    return fmt::format("{} {}{}", countText(count), noun, count == 1 || noun == "series" ? "" : "s");
}

std::string clipped(std::string_view text, std::size_t characters)
{
    std::size_t seen = 0;
    std::size_t lastFit = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (continues(text[i])) {
            continue;
        }
        if (++seen == characters) {
            lastFit = i;
        }
        if (seen > characters) {
            return std::string(text.substr(0, lastFit)) + "…";
        }
    }
    return std::string(text);
}

std::string lastLine(std::string text)
{
    constexpr std::size_t most = 300;
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    return text.substr(text.find_last_of('\n') + 1).substr(0, most);
}

std::size_t textWidth(std::string_view text)
{
    std::size_t width = 0;
    for (const auto byte : text) {
        width += continues(byte) ? 0 : 1;
    }
    return width;
}

std::string paragraph(std::string_view label, std::string_view words, std::size_t indent, std::size_t columns)
{
    auto result = printable(label);
    auto column = textWidth(result);
    const auto shown = printable(words);
    const std::string_view text = shown;
    bool lineStart = true;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find(' ', begin), text.size());
        const auto word = text.substr(begin, end - begin);
        if (!lineStart && column + 1 + textWidth(word) > columns) {
            result += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (!lineStart) {
            result += " ";
            ++column;
        }
        result += word;
        column += textWidth(word);
        lineStart = false;
        begin = end + 1;
    }
    return result + "\n";
}

std::string asSentence(const std::string& text)
{
    if (text.empty()) {
        return text;
    }
    auto result = text;
    const auto first = static_cast<unsigned char>(result.front());
    result.front() = first < 0x80 ? static_cast<char>(std::toupper(first)) : result.front();
    constexpr std::string_view ends = ".?!";
    return ends.find(result.back()) == std::string_view::npos ? result + "." : result;
}

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// Takes the digits at the front, without zeros before them.
std::string_view takeNumber(std::string_view& text)
{
    const auto end = std::min(
        text.size(), static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), isDigit) - text.begin()));
    auto digits = text.substr(0, end);
    text.remove_prefix(end);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

std::string withoutNumbers(std::string_view text)
{
    std::string rest;
    while (!text.empty()) {
        if (isDigit(text.front())) {
            takeNumber(text);
            rest += '#';
        } else {
            rest += text.front();
            text.remove_prefix(1);
        }
    }
    return rest;
}

} // namespace

bool naturalLess(std::string_view a, std::string_view b)
{
    while (!a.empty() && !b.empty()) {
        if (isDigit(a.front()) && isDigit(b.front())) {
            const auto x = takeNumber(a);
            const auto y = takeNumber(b);
            if (x != y) {
                return x.size() != y.size() ? x.size() < y.size() : x < y;
            }
            continue;
        }
        if (a.front() != b.front()) {
            return a.front() < b.front();
        }
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    return a.size() < b.size();
}

bool sameButForNumbers(std::string_view a, std::string_view b)
{
    return withoutNumbers(a) == withoutNumbers(b);
}

} // namespace nanscope
