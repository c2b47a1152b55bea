// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/tiletext.h"

#include <algorithm>
#include <cmath>

namespace nanscope::report {

namespace {

struct Patch
{
    unsigned classes = 0;
    float absmax = 0;
};

struct Span
{
    int begin;
    int end;
};

Span part(int index, int parts, int of)
{
    return {index * of / parts, (index + 1) * of / parts};
}

Patch patch(const TileMap& map, Span rows, Span cols)
{
    Patch result;
    for (int row = rows.begin; row < rows.end; ++row) {
        for (int col = cols.begin; col < cols.end; ++col) {
            const auto at =
                static_cast<std::size_t>(row) * static_cast<std::size_t>(map.width) + static_cast<std::size_t>(col);
            result.classes |= map.classes[at];
            result.absmax = std::max(result.absmax, map.absmax[at]);
        }
    }
    return result;
}

const char* shade(float absmax, float largest)
{
    const auto binades = std::log2(largest / absmax);
    if (!(binades >= 1)) {
        return "█";
    }
    if (binades < 2) {
        return "▓";
    }
    return binades < 4 ? "▒" : "░";
}

const char* mark(const Patch& patch, float largest)
{
    if ((patch.classes & classNan) != 0) {
        return "╳";
    }
    if ((patch.classes & classPosInf) != 0) {
        return "▲";
    }
    if ((patch.classes & classNegInf) != 0) {
        return "▼";
    }
    return patch.absmax > 0 ? shade(patch.absmax, largest) : "·";
}

bool consistent(const TileMap& map)
{
    const auto tiles =
        static_cast<std::size_t>(std::max(map.width, 0)) * static_cast<std::size_t>(std::max(map.height, 0));
    return tiles > 0 && map.classes.size() == tiles && map.absmax.size() == tiles;
}

} // namespace

std::vector<std::string> tileText(const TileMap& map, int width, int height)
{
    if (!consistent(map)) {
        return {};
    }
    const auto across = std::min(width, map.width);
    const auto down = std::min(height, map.height);
    const auto largest = *std::max_element(map.absmax.begin(), map.absmax.end());
    std::vector<std::string> lines(static_cast<std::size_t>(down));
    for (int row = 0; row < down; ++row) {
        for (int col = 0; col < across; ++col) {
            lines[static_cast<std::size_t>(row)] +=
                mark(patch(map, part(row, down, map.height), part(col, across, map.width)), largest);
        }
    }
    return lines;
}

} // namespace nanscope::report
