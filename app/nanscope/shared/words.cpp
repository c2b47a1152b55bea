// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/words.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/replay/variants/nearest.h"

namespace nanscope {

std::vector<std::string> listOf(std::string_view text)
{
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        if (const auto part = trimmed(text.substr(begin, end - begin)); !part.empty()) {
            parts.emplace_back(part);
        }
        begin = end + 1;
    }
    return parts;
}

Result<std::size_t> oneOf(std::string_view what, std::string_view word, const std::vector<std::string_view>& known)
{
    const auto found = std::find(known.begin(), known.end(), word);
    if (found != known.end()) {
        return static_cast<std::size_t>(found - known.begin());
    }
    return replay::unknownName(what, word, known);
}

std::string durationText(double seconds)
{
    return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string bytesText(std::int64_t bytes)
{
    constexpr std::array units {"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return fmt::format("{:.3g} {}", value, units[unit]);
}

std::string fact(std::string_view label, const std::string& text)
{
    constexpr std::size_t columns = 100;
    constexpr std::size_t indent = 16;
    return paragraph(fmt::format("  {:<{}}", label, indent - 2), text, indent, columns);
}

} // namespace nanscope
