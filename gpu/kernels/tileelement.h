// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the CUDA kernel of tile maps and its CPU twin do with each element, as scanelement.h has it for scans. No result
// depends on an order: extremes and sets of classes are the same however they are merged.
#pragma once

#include <cstdint>
#include <type_traits>

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

/// What one lane gathers of a tile. Finite values are compared as integers that order like them: a signed number of
/// their magnitude's bits, inverted of a negative one. low > high where there is none.
template <class Format>
struct TilePart
{
    using Bits = typename Format::Bits;
    using Order = std::conditional_t<sizeof(Bits) == 8, std::int64_t, std::int32_t>;
    static constexpr Order greatest = sizeof(Bits) == 8 ? INT64_MAX : INT32_MAX;

    Order low = greatest;
    Order high = -1 - greatest;
    std::uint32_t classes = 0;

    template <int count>
    NANSCOPE_BOTH void add(const Bits (&values)[count])
    {
        Extremes<Format> extremes;
        NANSCOPE_UNROLL
        for (int u = 0; u < count; ++u) {
            const Bits size = values[u] & Format::magnitude;
            extremes.largest = size > extremes.largest ? size : extremes.largest;
            extremes.smallest = size < extremes.smallest ? size : extremes.smallest;
        }
        if (extremes.smallest >= Format::smallestNormal && extremes.largest < Format::infinity) {
            classes |= tileNormal;
            NANSCOPE_UNROLL
            for (int u = 0; u < count; ++u) {
                addFinite(values[u]);
            }
            return;
        }
        NANSCOPE_UNROLL
        for (int u = 0; u < count; ++u) {
            add(values[u]);
        }
    }

    NANSCOPE_BOTH Tile tile() const
    {
        Tile result;
        result.classes = classes;
        if (low <= high) {
            const std::int32_t least = magnitude(low);
            const std::int32_t most = magnitude(high);
            result.low = low < 0 ? -1 - least : least;
            result.high = high < 0 ? -1 - most : most;
            result.largest = greater(least, most);
        }
        return result;
    }

private:
    NANSCOPE_BOTH void add(Bits bits)
    {
        const Bits size = bits & Format::magnitude;
        if (size > Format::infinity) {
            classes |= tileNan;
        } else if (size == Format::infinity) {
            classes |= size == bits ? tilePosInf : tileNegInf;
        } else {
            classes |= size == 0 ? tileZero : size < Format::smallestNormal ? tileSubnormal : tileNormal;
            addFinite(bits);
        }
    }

    NANSCOPE_BOTH void addFinite(Bits bits)
    {
        const Bits size = bits & Format::magnitude;
        const Order order = size == bits ? static_cast<Order>(size) : -1 - static_cast<Order>(size);
        low = order < low ? order : low;
        high = order > high ? order : high;
    }

    NANSCOPE_BOTH static std::int32_t magnitude(Order order)
    {
        return floatBits<Format>(static_cast<Bits>(order < 0 ? -1 - order : order));
    }
};

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
    TilePart<Format> part;
    const int step = lanes / along;
    const std::int64_t below = step * layout.cols;
    const int count = static_cast<int>((endLine - line - lane / along + step - 1) / step);
    for (std::int64_t i = lane % along; i < length; i += along) {
        const auto* at = data + (line + lane / along) * layout.cols + position + i;
        for (int l = 0; l < count; l += inFlight) {
            // Fetched together: each alone would wait for the one before to be looked at. The last element fills up.
            typename Format::Bits values[inFlight];
            NANSCOPE_UNROLL
            for (int u = 0; u < inFlight; ++u) {
                values[u] = *at;
                at += l + u + 1 < count ? below : 0;
            }
            part.add(values);
        }
    }
    return part.tile();
}

} // namespace nanscope::scan
