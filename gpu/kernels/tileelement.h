// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the CUDA kernel of tile maps and its CPU twin do with each element, as scanelement.h has it for scans. No result
// depends on an order: extremes and sets of classes are the same however they are merged.
#pragma once

#include <cstdint>

#include "gpu/kernels/scanelement.h"

namespace nanscope::scan {

/// Bits of nanscope::ClassBit.
enum TileClass : std::uint32_t {
    tileNormal = 1,
    tileZero = 2,
    tileSubnormal = 4,
    tileNan = 8,
    tilePosInf = 16,
    tileNegInf = 32,
};

/// One tile. `low` and `high` are floats whose bits were mapped to integers of the same order; low > high where the
/// tile has no finite value. Four-byte fields only: an array of these travels as int32 tensor.
struct Tile
{
    std::int32_t low = INT32_MAX;
    std::int32_t high = INT32_MIN;
    std::int32_t largest = 0; ///< magnitude bits of a float
    std::uint32_t classes = 0;
};

constexpr std::int64_t tileWords = sizeof(Tile) / sizeof(std::int32_t);
static_assert(sizeof(Tile) == 4 * 4);

NANSCOPE_BOTH std::int32_t lesser(std::int32_t a, std::int32_t b)
{
    return a < b ? a : b;
}

NANSCOPE_BOTH std::int32_t greater(std::int32_t a, std::int32_t b)
{
    return a > b ? a : b;
}

NANSCOPE_BOTH void merge(Tile& into, const Tile& from)
{
    into.low = lesser(into.low, from.low);
    into.high = greater(into.high, from.high);
    into.largest = greater(into.largest, from.largest);
    into.classes |= from.classes;
}

/// Magnitude bits of the nearest float, at most the largest one.
template <class Format>
NANSCOPE_BOTH std::int32_t floatBits(typename Format::Bits size)
{
    constexpr double largest = 0x1.fffffep127;
    const double value = Format::value(size);
    return bitsOf<std::int32_t>(static_cast<float>(value < largest ? value : largest));
}

template <class Format>
NANSCOPE_BOTH void add(Tile& tile, typename Format::Bits bits)
{
    using Bits = typename Format::Bits;
    const Bits size = bits & Format::magnitude;
    if (size > Format::infinity) {
        tile.classes |= tileNan;
        return;
    }
    const bool negative = size != bits;
    if (size == Format::infinity) {
        tile.classes |= negative ? tileNegInf : tilePosInf;
        return;
    }
    tile.classes |= size == 0 ? tileZero : size < Format::smallestNormal ? tileSubnormal : tileNormal;
    const std::int32_t magnitude = floatBits<Format>(size);
    // As a signed integer, a negative float with its other bits inverted orders like its value.
    const std::int32_t order = negative ? -1 - magnitude : magnitude;
    tile.low = lesser(tile.low, order);
    tile.high = greater(tile.high, order);
    tile.largest = greater(tile.largest, magnitude);
}

/// How a matrix is cut into tiles; rows and columns of tiles are those of the capture's own orientation.
struct TileGrid
{
    Layout layout;
    std::int64_t tileRows = 1; ///< elements per tile
    std::int64_t tileCols = 1;
    std::int64_t height = 0; ///< tiles
    std::int64_t width = 0;
};

constexpr int inFlight = 8; ///< elements per lane

/// The share of one of `lanes` lanes, a power of two, of one tile.
template <class Format>
NANSCOPE_BOTH Tile tileShare(
    const typename Format::Bits* data, const TileGrid& grid, std::int64_t number, int lane, int lanes)
{
    const Layout& layout = grid.layout;
    const std::int64_t down = number / grid.width;
    const std::int64_t across = number % grid.width;
    const std::int64_t lines = layout.transposed ? grid.tileCols : grid.tileRows;
    const std::int64_t positions = layout.transposed ? grid.tileRows : grid.tileCols;
    const std::int64_t line = (layout.transposed ? across : down) * lines;
    const std::int64_t position = (layout.transposed ? down : across) * positions;
    const std::int64_t endLine = line + lines < layout.rows ? line + lines : layout.rows;
    const std::int64_t length = position + positions < layout.cols ? positions : layout.cols - position;

    // Lanes stand side by side along a line; where it is short, on several lines.
    int along = 1;
    while (along < lanes && along < length) {
        along *= 2;
    }
    Tile tile;
    const int step = lanes / along;
    for (std::int64_t i = lane % along; i < length; i += along) {
        const auto* at = data + (line + lane / along) * layout.cols + position + i;
        const int count = static_cast<int>((endLine - line - lane / along + step - 1) / step);
        // Fetched together: each alone would wait for the one before to be looked at.
        typename Format::Bits values[inFlight];
        for (int l = 0; l < count; l += inFlight) {
            NANSCOPE_UNROLL
            for (int u = 0; u < inFlight; ++u) {
                values[u] = at[(l + u < count ? l + u : 0) * step * layout.cols];
            }
            NANSCOPE_UNROLL
            for (int u = 0; u < inFlight && l + u < count; ++u) {
                add<Format>(tile, values[u]);
            }
        }
    }
    return tile;
}

} // namespace nanscope::scan
