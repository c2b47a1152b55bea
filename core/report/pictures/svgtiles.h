// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/model/scan.h"
#include "core/report/pictures/svg.h"

namespace nanscope::report {

/// A tile map on the scale of log10|x|. NaN, the infinities and zero stand outside the scale: hatched, in their own
/// colours, and named in lanes above the columns that hold them. `damage` is framed where it has an extent. Empty
/// where the map contradicts itself.
Svg tilePicture(const TileMap& map, const DamagePattern* damage);

/// Elements one cell of that picture stands for, rows x columns.
MatrixShape tilePictureCell(const TileMap& map);

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

/// What a tile or a pixel shows of the values in it, in the window as in a report: no NaN is hidden by an Inf, and no
/// Inf by a number.
ValueClass shownClass(unsigned classes, double absmax);

/// From the 1st percentile of the finite magnitudes to their maximum; at least one decade.
LogRange rangeOf(std::span<const float> magnitudes);
LogRange rangeOf(const Grid& grid);
int kindOf(const Patch& cell, const LogRange& range);

/// "#rrggbb" at `place` in [0, 1] of a map from dark indigo over green to pale yellow that grows evenly in perceived
/// lightness. Red, orange, blue, magenta and black stay free for what is not on the scale.
std::string magnitudeColour(double place);

} // namespace nanscope::report
