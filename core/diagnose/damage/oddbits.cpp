// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/damage/oddbits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/diagnose/damage/provenance.h"
#include "core/diagnose/identify/fits.h"

namespace nanscope::diagnose {

namespace {

constexpr auto side = TileErrors::side;

// What stands twice is looked for in tiles of 8 x 8, the smallest that kernels write. Half of one, 32 values of bf16,
// is equal to another by chance in 1 of 10^64 cases (see recursBeyondChance()).
constexpr std::int64_t smallSide = 8;
constexpr int rowsNeeded = 4;
constexpr std::size_t differentNeeded = 6; // of a row: what repeats itself recurs by chance

struct Place
{
    std::int64_t row = 0;
    std::int64_t col = 0;
    bool operator==(const Place&) const = default;
};

bool operator<(const Place& left, const Place& right)
{
    return std::tie(left.row, left.col) < std::tie(right.row, right.col);
}

using TileRow = std::array<double, smallSide>;

struct RowHash
{
    std::size_t operator()(const TileRow& row) const
    {
        std::size_t hash = 0;
        for (const double value : row) {
            hash = hash * 1099511628211U + std::hash<double>()(value);
        }
        return hash;
    }
};

TileRow rowAt(ValueView values, std::int64_t cols, Place place)
{
    TileRow row {};
    std::copy_n(values.begin() + place.row * cols + place.col, smallSide, row.begin());
    return row;
}

Place tileOf(Place place)
{
    return {place.row / smallSide * smallSide, place.col};
}

/// For each tile that repeats an earlier one at least in part, the earlier one.
std::map<Place, Place> repeatedTiles(ValueView values, const MatrixShape& shape)
{
    std::unordered_map<TileRow, Place, RowHash> first;
    std::map<std::pair<Place, Place>, int> shared;
    for (std::int64_t row = 0; row < shape.rows; ++row) {
        for (std::int64_t col = 0; col + smallSide <= shape.cols; col += smallSide) {
            const auto at = rowAt(values, shape.cols, {row, col});
            if (std::set<double>(at.begin(), at.end()).size() < differentNeeded) {
                continue;
            }
            const auto [found, isNew] = first.try_emplace(at, Place {row, col});
            if (!isNew) {
                ++shared[{tileOf({row, col}), tileOf(found->second)}];
            }
        }
    }
    std::map<Place, Place> repeated;
    for (const auto& [tiles, rows] : shared) {
        if (rows >= rowsNeeded && tiles.first != tiles.second) {
            repeated.emplace(tiles);
        }
    }
    return repeated;
}

Region regionOf(Place tile, std::int64_t size, const MatrixShape& shape)
{
    return {tile.row, std::min(tile.row + size, shape.rows), tile.col, std::min(tile.col + size, shape.cols)};
}

void take(OddBits& found, Leftover leftover, const Region& tile)
{
    const auto region = found.leftover == Leftover::none ? tile : found.region;
    found.leftover = leftover;
    found.region = {std::min(region.rowBegin, tile.rowBegin), std::max(region.rowEnd, tile.rowEnd),
        std::min(region.colBegin, tile.colBegin), std::max(region.colEnd, tile.colEnd)};
}

/// Of all tiles, those that hold this in the output and not in the replay.
template <class Holds>
OddBits tilesThat(const Element& element, const Element& replayed, const Region& part, Leftover leftover, Holds holds)
{
    OddBits found;
    for (auto row = part.rowBegin / side * side; row < part.rowEnd; row += side) {
        for (auto col = part.colBegin / side * side; col < part.colEnd; col += side) {
            const auto tile = regionOf({row, col}, side, element.shape);
            if (holds(element, tile) && !holds(replayed, tile)) {
                take(found, leftover, tile);
            }
        }
    }
    return found;
}

OddBits tilesThatRepeat(const Element& element, const Element& replayed, const Region& part)
{
    OddBits found;
    const auto inReplay = repeatedTiles(replayed.output, replayed.shape);
    for (const auto& [tile, earlier] : repeatedTiles(element.output, element.shape)) {
        const bool here = tile.row < part.rowEnd && tile.row + smallSide > part.rowBegin && tile.col < part.colEnd
            && tile.col + smallSide > part.colBegin;
        if (!here || inReplay.contains(tile)) {
            continue;
        }
        if (found.leftover == Leftover::none) {
            found.otherRow = earlier.row;
            found.otherCol = earlier.col;
        }
        take(found, Leftover::elsewhere, regionOf(tile, smallSide, element.shape));
    }
    return found;
}

} // namespace

OddBits findOddBits(const Element& element, ValueView replay, const Region& part)
{
    if (!std::ranges::all_of(replay, [](double value) { return std::isfinite(value); })) {
        return {};
    }
    Element replayed;
    replayed.shape = element.shape;
    replayed.input = element.input;
    replayed.output = inFormatOf(element, replay);
    const auto zeros = tilesThat(element, replayed, part, Leftover::zeros, holdsZeros);
    if (zeros.leftover != Leftover::none) {
        return zeros;
    }
    const auto input = tilesThat(element, replayed, part, Leftover::input, holdsInput);
    return input.leftover != Leftover::none ? input : tilesThatRepeat(element, replayed, part);
}

} // namespace nanscope::diagnose
