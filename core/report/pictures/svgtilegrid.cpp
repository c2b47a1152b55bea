// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/svgtilegrid.h"

#include <algorithm>
#include <cmath>

namespace nanscope::report {

namespace {

constexpr int mostCells = 160;

int dividedUp(int value, int by)
{
    return (value + by - 1) / by;
}

} // namespace

double LogRange::place(double magnitude) const
{
    return (std::log10(magnitude) - low) / (high - low);
}

bool consistent(const TileMap& map)
{
    if (map.width <= 0 || map.height <= 0 || map.width > maxTiles || map.height > maxTiles) {
        return false;
    }
    const auto tiles = static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height);
    return map.classes.size() == tiles && map.absmax.size() == tiles && map.rows > 0 && map.cols > 0 && map.tileRows > 0
        && map.tileCols > 0;
}

Grid gridOf(const TileMap& map)
{
    Grid grid;
    grid.tilesAcross = std::max(1, dividedUp(map.width, mostCells));
    grid.tilesDown = std::max(1, dividedUp(map.height, mostCells));
    grid.width = dividedUp(map.width, grid.tilesAcross);
    grid.height = dividedUp(map.height, grid.tilesDown);
    grid.cells.resize(static_cast<std::size_t>(grid.width) * static_cast<std::size_t>(grid.height));
    for (int row = 0; row < map.height; ++row) {
        for (int col = 0; col < map.width; ++col) {
            const auto tile =
                static_cast<std::size_t>(row) * static_cast<std::size_t>(map.width) + static_cast<std::size_t>(col);
            const auto cell = static_cast<std::size_t>(row / grid.tilesDown) * static_cast<std::size_t>(grid.width)
                + static_cast<std::size_t>(col / grid.tilesAcross);
            grid.cells[cell].classes |= map.classes[tile];
            grid.cells[cell].absmax = std::max(grid.cells[cell].absmax, map.absmax[tile]);
        }
    }
    return grid;
}

LogRange rangeOf(const Grid& grid)
{
    std::vector<double> logs;
    for (const auto& cell : grid.cells) {
        if (cell.absmax > 0) {
            logs.push_back(std::log10(static_cast<double>(cell.absmax)));
        }
    }
    if (logs.empty()) {
        return {};
    }
    std::sort(logs.begin(), logs.end());
    const auto high = logs.back();
    return {std::min(logs[logs.size() / 100], high - 1), high};
}

int kindOf(const Patch& cell, const LogRange& range)
{
    if ((cell.classes & classNan) != 0) {
        return kindNan;
    }
    if ((cell.classes & classPosInf) != 0) {
        return kindPosInf;
    }
    if ((cell.classes & classNegInf) != 0) {
        return kindNegInf;
    }
    if (!(cell.absmax > 0)) {
        return kindZero;
    }
    const auto place = range.place(static_cast<double>(cell.absmax));
    return std::clamp(static_cast<int>(place * levels), 0, levels - 1);
}

std::vector<TileRun> runsOf(const Grid& grid, const LogRange& range)
{
    std::vector<TileRun> runs;
    for (int row = 0; row < grid.height; ++row) {
        for (int col = 0; col < grid.width; ++col) {
            const auto kind = kindOf(grid.at(row, col), range);
            if (col > 0 && runs.back().kind == kind) {
                ++runs.back().length;
            } else {
                runs.push_back({kind, row, col, 1});
            }
        }
    }
    return runs;
}

} // namespace nanscope::report
