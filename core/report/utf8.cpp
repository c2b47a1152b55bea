// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "core/report/redactwords.h"
#include "core/report/words.h"

namespace nanscope {

namespace {

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

bool allowed(std::uint32_t character)
{
    const auto within = [character](std::uint32_t first, std::uint32_t last) {
        return character >= first && character <= last;
    };
    const bool surrogate = within(0xD800, 0xDFFF);
    const bool noncharacter = within(0xFDD0, 0xFDEF) || (character & 0xFFFEU) == 0xFFFEU;
    const bool turnsDirection = within(0x202A, 0x202E) || within(0x2066, 0x2069);
    return !surrogate && !noncharacter && !turnsDirection && character <= 0x10FFFF;
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

} // namespace

std::string validText(std::string_view text)
{
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const auto length = lengthAt(text);
        const auto character = length > 0 ? characterOf(text.substr(0, length)) : 0;
        const bool good = length > 0 && shortestForm(character, length) && allowed(character);
        result += good ? text.substr(0, length) : std::string_view("\uFFFD");
        text.remove_prefix(length > 0 ? length : 1);
    }
    return result;
}

std::string withStandIns(const std::string& text)
{
    std::string result;
    result.reserve(text.size());
    for (auto rest = std::string_view(text); !rest.empty();) {
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
