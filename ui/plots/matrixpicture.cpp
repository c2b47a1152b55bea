// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/matrixpicture.h"

#include <algorithm>
#include <cmath>

#include "core/tensorfile/convert.h"

namespace nanscope {

bool MatrixPatch::covers(const replay::Region& part) const
{
    return part.row >= region.row && part.col >= region.col && part.row + part.rows <= region.row + region.rows
        && part.col + part.cols <= region.col + region.cols;
}

std::optional<double> MatrixPatch::elementAt(std::int64_t row, std::int64_t col) const
{
    if (!covers({row, col, 1, 1})) {
        return std::nullopt;
    }
    const auto at = static_cast<std::size_t>((row - region.row) * region.cols + col - region.col);
    if (at < doubles.size()) {
        return doubles[at];
    }
    return at < floats.size() ? std::optional<double>(floats[at]) : std::nullopt;
}

std::optional<double> MatrixPicture::elementAt(std::int64_t row, std::int64_t col) const
{
    if (row < 0 || col < 0 || row >= tiles.rows || col >= tiles.cols) {
        return std::nullopt;
    }
    const auto at = static_cast<std::size_t>(row * tiles.cols + col);
    if (at < doubles.size()) {
        return doubles[at];
    }
    if (at < floats.size()) {
        return floats[at];
    }
    return patch ? patch->elementAt(row, col) : std::nullopt;
}

ValueClass classOf(double value, DType dtype)
{
    if (std::isnan(value)) {
        return ValueClass::nan;
    }
    if (std::isinf(value)) {
        return value > 0 ? ValueClass::posInf : ValueClass::negInf;
    }
    if (value == 0) {
        return ValueClass::zero;
    }
    return isFloating(dtype) && std::abs(value) < tensorfile::smallestNormalOf(dtype) ? ValueClass::subnormal
                                                                                      : ValueClass::normal;
}

LogScale scaleOf(const TileMap& tiles)
{
    std::vector<double> logs;
    logs.reserve(tiles.absmax.size());
    for (const float magnitude : tiles.absmax) {
        if (magnitude > 0 && std::isfinite(magnitude)) {
            logs.push_back(std::log10(static_cast<double>(magnitude)));
        }
    }
    if (logs.empty()) {
        return {};
    }
    const double high = *std::ranges::max_element(logs);
    const auto percentile = logs.begin() + static_cast<std::ptrdiff_t>(logs.size() / 100);
    std::ranges::nth_element(logs, percentile);
    return {std::min(*percentile, high - 1), high};
}

} // namespace nanscope
