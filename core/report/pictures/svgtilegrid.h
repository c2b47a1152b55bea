// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/model/scan.h"

namespace nanscope::report {

struct Patch
{
    unsigned classes = 0;
    float absmax = 0;
};

/// A tile map with a whole number of tiles merged into each cell, at most 160 x 160 cells.
struct Grid
{
    int width = 0;
    int height = 0;
    int tilesAcross = 1;
    int tilesDown = 1;
    std::vector<Patch> cells;
    const Patch& at(int row, int col) const
    {
        return cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(col)];
    }
};

/// False for a map whose arrays do not hold what its sizes say.
bool consistent(const TileMap& map);
Grid gridOf(const TileMap& map);

/// What a cell is drawn as: one of `levels` levels of the scale, or one of the kinds outside it.
constexpr int levels = 24;
enum Kind { kindNan = levels, kindPosInf, kindNegInf, kindZero, kinds };

struct LogRange
{
    double low = -1;
    double high = 0;
    double place(double magnitude) const;
};

/// From the 1st percentile of the finite magnitudes to their maximum; at least one decade.
LogRange rangeOf(const Grid& grid);
int kindOf(const Patch& cell, const LogRange& range);

/// Neighbours in a row that are drawn alike.
struct TileRun
{
    int kind = 0;
    int row = 0;
    int col = 0;
    int length = 0;
};
std::vector<TileRun> runsOf(const Grid& grid, const LogRange& range);

} // namespace nanscope::report
