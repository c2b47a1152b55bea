// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

namespace nanscope {

namespace {

constexpr std::string_view replacement = "\uFFFD";

/// Length of the character that begins here, 0 where none does.
std::size_t lengthAt(std::string_view text)
{
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80 ? 1
        : lead >= 0xC2 && lead < 0xE0      ? 2
        : lead >= 0xE0 && lead < 0xF0      ? 3
        : lead >= 0xF0 && lead < 0xF5      ? 4
                                           : 0;
    if (length == 0 || length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
            return 0;
        }
    }
    return length;
}

std::uint32_t characterOf(std::string_view bytes)
{
    constexpr std::uint32_t leadMask[] {0, 0x7F, 0x1F, 0x0F, 0x07};
    std::uint32_t value = static_cast<unsigned char>(bytes.front()) & leadMask[bytes.size()];
    for (const auto byte : bytes.substr(1)) {
        value = value << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
    }
    return value;
}

bool shortestForm(std::uint32_t character, std::size_t length)
{
    constexpr std::uint32_t least[] {0, 0, 0x80, 0x800, 0x10000};
    return character >= least[length];
}

struct CharacterRange
{
    std::uint32_t first;
    std::uint32_t last;
};

bool within(std::uint32_t character, const CharacterRange& range)
{
    return character >= range.first && character <= range.last;
}

/// C0, DEL and C1, which a terminal obeys, and the separators at which some programs break lines.
bool isControl(std::uint32_t character)
{
    return character < 0x20 || within(character, {0x7F, 0x9F}) || within(character, {0x2028, 0x2029});
}

/// What shows nothing, or turns the direction of its neighbours, so that two texts look alike or one reads otherwise
/// than it is: characters of format, fillers, tags, noncharacters. Selectors of variation stay: emoji are full of them.
bool isUnseen(std::uint32_t character)
{
    constexpr CharacterRange unseen[] {{0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x17B4, 0x17B5},
        {0x180B, 0x180F}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFDD0, 0xFDEF},
        {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
        {0xE0000, 0xE0FFF}};
    return (character & 0xFFFEU) == 0xFFFEU
        || std::any_of(std::begin(unseen), std::end(unseen),
            [character](const CharacterRange& range) { return within(character, range); });
}

bool isScalar(std::uint32_t character)
{
    return character <= 0x10FFFF && !within(character, {0xD800, 0xDFFF});
}

// U+10F780 to U+10F7FF, of the private ones, stand for the bytes 0x80 to 0xFF.
constexpr std::string_view standInPlane = "\xF4\x8F";
constexpr std::size_t standInSize = 4;

bool standsIn(std::uint32_t character)
{
    return character >= 0x10F780 && character <= 0x10F7FF;
}

std::string standIn(unsigned char byte)
{
    return std::string(standInPlane) + static_cast<char>(0x9CU | byte >> 6U)
        + static_cast<char>(0x80U | (byte & 0x3FU));
}

/// Length of the character that begins here and stands for itself, 0 for a byte that does not.
std::size_t plainLength(std::string_view text)
{
    const auto length = lengthAt(text);
    const auto character = length > 0 ? characterOf(text.substr(0, length)) : 0;
    return length > 0 && shortestForm(character, length) && !standsIn(character) ? length : 0;
}

bool isPlainAscii(char byte)
{
    return byte >= ' ' && byte <= '~';
}

/// The text with what may not be shown replaced by what `instead` makes of it; bytes that are no UTF-8 by U+FFFD.
template <class Instead>
std::string shown(std::string_view text, std::string_view layout, Instead instead)
{
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const auto* plainEnd = std::find_if_not(text.begin(), text.end(), isPlainAscii);
        result.append(text.begin(), plainEnd);
        text.remove_prefix(static_cast<std::size_t>(plainEnd - text.begin()));
        if (text.empty()) {
            break;
        }
        const auto length = lengthAt(text);
        const auto character = length > 0 ? characterOf(text.substr(0, length)) : 0;
        if (length == 0 || !shortestForm(character, length) || !isScalar(character)) {
            result += replacement;
        } else if (layout.find(text.front()) == std::string_view::npos
            && (isControl(character) || isUnseen(character))) {
            result += instead(character);
        } else {
            result += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return result;
}

std::string_view inText(std::uint32_t character)
{
    return isControl(character) ? " " : replacement;
}

} // namespace

std::string printable(std::string_view text)
{
    return shown(text, {}, inText);
}

std::string printableLines(std::string_view text)
{
    return shown(text, "\n\t", inText);
}

std::string printableJson(std::string_view json)
{
    return shown(json, "\n", [](std::uint32_t character) {
        if (character < 0x10000) {
            return fmt::format("\\u{:04x}", character);
        }
        const auto beyond = character - 0x10000;
        return fmt::format("\\u{:04x}\\u{:04x}", 0xD800U | beyond >> 10U, 0xDC00U | (beyond & 0x3FFU));
    });
}

std::string withStandIns(const std::string& text)
{
    std::string result;
    result.reserve(text.size());
    for (auto rest = std::string_view(text); !rest.empty();) {
        const auto ascii = std::find_if(rest.begin(), rest.end(), [](char byte) { return (byte & 0x80) != 0; });
        if (ascii != rest.begin()) {
            result.append(rest.begin(), ascii);
            rest.remove_prefix(static_cast<std::size_t>(ascii - rest.begin()));
            continue;
        }
        const auto length = plainLength(rest);
        result += length > 0 ? std::string(rest.substr(0, length)) : standIn(static_cast<unsigned char>(rest.front()));
        rest.remove_prefix(length > 0 ? length : 1);
    }
    return result;
}

std::string withoutStandIns(const std::string& text)
{
    std::string result;
    std::size_t at = 0;
    for (auto found = text.find(standInPlane); found != std::string::npos; found = text.find(standInPlane, at)) {
        const auto character = characterOf(std::string_view(text).substr(found, standInSize));
        result.append(text, at, found - at);
        result += standsIn(character) ? std::string(1, static_cast<char>(character & 0xFFU))
                                      : text.substr(found, standInSize);
        at = found + standInSize;
    }
    return result.append(text, at);
}

} // namespace nanscope
