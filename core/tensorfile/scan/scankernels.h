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

/// Extremes and classes of one tile while it is being gathered. `low` and `high` hold floats whose bits were
/// mapped to integers of the same order.
struct TileSums
{
    std::int32_t low = std::numeric_limits<std::int32_t>::max();
    std::int32_t high = std::numeric_limits<std::int32_t>::min();
    std::uint32_t largest = 0; ///< magnitude bits
    std::uint32_t classes = 0; ///< ClassBit
};

/// The loops that see every element, compiled once per instruction set. `subnormalBelow` is the bit pattern of
/// the smallest normal magnitude.
struct ScanKernels
{
    void (*bfloat16)(const std::uint16_t* bits, std::size_t count, std::uint16_t subnormalBelow, ScanSums& sums);
    void (*half)(const std::uint16_t* bits, std::size_t count, std::uint16_t subnormalBelow, ScanSums& sums);
    void (*single)(const std::uint32_t* bits, std::size_t count, std::uint32_t subnormalBelow, ScanSums& sums);
    void (*twofold)(const std::uint64_t* bits, std::size_t count, std::uint64_t subnormalBelow, ScanSums& sums);
    void (*tile)(const std::uint32_t* bits, std::size_t count, std::uint32_t subnormalBelow, TileSums& sums);
};

extern const ScanKernels baselineKernels;
extern const ScanKernels avx2Kernels;
extern const ScanKernels avx512Kernels;

/// The fastest that this CPU runs. NANSCOPE_ISA=baseline or avx2 asks for less.
const ScanKernels& scanKernels();

} // namespace nanscope::tensorfile
