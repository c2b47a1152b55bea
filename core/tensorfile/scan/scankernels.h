// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace nanscope::tensorfile {

/// What one pass over a run of numbers adds up to. Magnitudes are bit patterns without the sign: they order like
/// the numbers they stand for.
struct ScanSums
{
    static constexpr std::size_t lanes = 32;

    std::int64_t nan = 0;
    std::int64_t posInf = 0;
    std::int64_t negInf = 0;
    std::int64_t zero = 0;
    std::int64_t subnormal = 0;
    std::uint64_t largest = 0; ///< finite
    std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max(); ///< finite and not zero
    /// Squares, added in double precision; a product of two floats is exact in it, so only the additions round.
    /// The lanes are the same on every CPU: equal input gives equal sums (for float64, up to fused rounding).
    alignas(64) std::array<double, lanes> squares {};

    std::int64_t nonFinite() const { return nan + posInf + negInf; }
};

/// Extremes and classes of one tile while it is being gathered. `low` and `high` are bits of the format, mapped to
/// integers of the same order; low > high where nothing is finite.
struct TileSums
{
    std::int64_t low = std::numeric_limits<std::int64_t>::max();
    std::int64_t high = std::numeric_limits<std::int64_t>::min();
    std::uint32_t classes = 0; ///< ClassBit
};

/// A part of a matrix that lies in one row of tiles, lines being columns of the original where it is transposed.
struct TileLines
{
    const void* bits = nullptr;
    std::size_t stride = 0; ///< elements from one line to the next
    std::size_t lines = 0; ///< at least one
    std::size_t positions = 0; ///< in each line
    std::size_t tile = 1; ///< positions of a tile
    std::size_t offset = 0; ///< of the first position in its tile, which is the first that is added to
};

/// The loops that see every element, compiled once per instruction set. `subnormalBelow` is the bit pattern of
/// the smallest normal magnitude.
struct ScanKernels
{
    void (*bfloat16)(const std::uint16_t* bits, std::size_t count, std::uint16_t subnormalBelow, ScanSums& sums);
    void (*half)(const std::uint16_t* bits, std::size_t count, std::uint16_t subnormalBelow, ScanSums& sums);
    void (*single)(const std::uint32_t* bits, std::size_t count, std::uint32_t subnormalBelow, ScanSums& sums);
    void (*twofold)(const std::uint64_t* bits, std::size_t count, std::uint64_t subnormalBelow, ScanSums& sums);
    void (*tileBfloat16)(const TileLines& lines, std::uint16_t subnormalBelow, TileSums* tiles);
    void (*tileHalf)(const TileLines& lines, std::uint16_t subnormalBelow, TileSums* tiles);
    void (*tileSingle)(const TileLines& lines, std::uint32_t subnormalBelow, TileSums* tiles);
    void (*tileTwofold)(const TileLines& lines, std::uint64_t subnormalBelow, TileSums* tiles);
};

extern const ScanKernels baselineKernels;
extern const ScanKernels avx2Kernels;
extern const ScanKernels avx512Kernels;

/// The fastest that this CPU runs. NANSCOPE_ISA=baseline or avx2 asks for less.
const ScanKernels& scanKernels();

} // namespace nanscope::tensorfile
