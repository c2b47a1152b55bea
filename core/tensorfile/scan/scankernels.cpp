// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Compiled once for each instruction set, as NANSCOPE_KERNELS, with compiler options of its own. Everything but the
// table is in an unnamed namespace and nothing of the standard library is called: an inline function compiled for
// AVX-512 must never be the copy that the linker keeps for other CPUs.

#include "core/tensorfile/scan/scankernels.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace nanscope::tensorfile {

namespace {

// As many doubles as one register holds; the compiler's own way to widen eight floats at once is slow.
#if defined(__AVX512F__)
constexpr std::size_t width = 8;
#elif defined(__AVX2__)
constexpr std::size_t width = 4;
#else
constexpr std::size_t width = 2;
#endif
using Words = std::uint32_t __attribute__((vector_size(4 * width)));
using Integers = std::int32_t __attribute__((vector_size(4 * width)));
using Floats = float __attribute__((vector_size(4 * width)));
using Doubles = double __attribute__((vector_size(8 * width)));
using LongWords = std::uint64_t __attribute__((vector_size(8 * width)));

inline __attribute__((always_inline)) Doubles widen(Words floatBits)
{
#if defined(__AVX512F__)
    // The plain intrinsic makes gcc 12 warn of an uninitialised value of its own.
    return (Doubles)_mm512_maskz_cvtps_pd(0xff, (__m256)floatBits);
#else
    return __builtin_convertvector((Floats)floatBits, Doubles);
#endif
}

template <class Vector>
inline __attribute__((always_inline)) Vector load(const void* from)
{
    Vector loaded;
    __builtin_memcpy(&loaded, from, sizeof(loaded));
    return loaded;
}

// Large enough to keep the loops long, small enough for the level 1 cache and for 16-bit counters.
constexpr std::size_t piece = 4096;

/// 16-bit numbers are taken in pairs: even(pair) and odd(pair) are the two as the bits of floats, their sign
/// perhaps kept. Where `rare`, infinities and NaN become 0; plain numbers need no such care.
struct Bfloat16
{
    using Bits = std::uint16_t;
    static constexpr Bits infinity = 0x7f80;
    static constexpr bool smallIsPlain = true;

    template <bool rare>
    static inline __attribute__((always_inline)) Words even(Words pair)
    {
        return keep<rare>(pair << 16);
    }
    template <bool rare>
    static inline __attribute__((always_inline)) Words odd(Words pair)
    {
        return keep<rare>(pair & 0xffff0000U);
    }
    template <bool rare>
    static inline __attribute__((always_inline)) Words keep(Words bits)
    {
        return rare ? bits & (Words)((bits & 0x7fffffffU) < 0x7f800000U) : bits;
    }
    static double magnitude(Bits bits) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16); }
};

struct Half
{
    using Bits = std::uint16_t;
    static constexpr Bits infinity = 0x7c00;
    static constexpr bool smallIsPlain = false;

    template <bool rare>
    static inline __attribute__((always_inline)) Words even(Words pair)
    {
        return toFloat<rare>(pair & 0x7fffU);
    }
    template <bool rare>
    static inline __attribute__((always_inline)) Words odd(Words pair)
    {
        return toFloat<rare>((pair >> 16) & 0x7fffU);
    }
    template <bool rare>
    static inline __attribute__((always_inline)) Words toFloat(Words bits)
    {
        const auto normal = (bits << 13) + 0x38000000U;
        if constexpr (!rare) {
            return normal;
        }
        const auto subnormal = (Words)(__builtin_convertvector((Integers)bits, Floats) * 0x1p-24F);
        const auto small = (Words)(bits < 0x400U);
        return ((small & subnormal) | (~small & normal)) & (Words)(bits < 0x7c00U);
    }
    static double magnitude(Bits bits)
    {
        const std::uint32_t wide = bits;
        const float normal = __builtin_bit_cast(float, (wide << 13) + 0x38000000U);
        return wide < 0x400U ? static_cast<float>(wide) * 0x1p-24F : normal;
    }
};

struct Single
{
    using Bits = std::uint32_t;
    static constexpr Bits infinity = 0x7f800000;
    static constexpr bool smallIsPlain = true;

    template <bool rare>
    static inline __attribute__((always_inline)) Doubles values(const Bits* bits)
    {
        return widen(Bfloat16::keep<rare>(load<Words>(bits)));
    }
    static double magnitude(Bits bits) { return __builtin_bit_cast(float, bits); }
};

struct Twofold
{
    using Bits = std::uint64_t;
    static constexpr Bits infinity = 0x7ff0000000000000;
    static constexpr bool smallIsPlain = true;

    template <bool rare>
    static inline __attribute__((always_inline)) Doubles values(const Bits* bits)
    {
        const auto loaded = load<LongWords>(bits);
        return (Doubles)(rare ? loaded & (LongWords)((loaded & (~std::uint64_t {0} >> 1)) < infinity) : loaded);
    }
    static double magnitude(Bits bits) { return __builtin_bit_cast(double, bits); }
};

template <class Format>
constexpr typename Format::Bits signMask = static_cast<typename Format::Bits>(~typename Format::Bits {0}) >> 1;

template <class Format>
struct Extremes
{
    typename Format::Bits largest = 0; ///< non-finite ones included
    typename Format::Bits smallestLessOne = static_cast<typename Format::Bits>(~typename Format::Bits {0});
};

// Zero minus one wraps to the largest number, so that zeros do not count as the smallest magnitude.
template <class Format>
Extremes<Format> extremes(const typename Format::Bits* bits, std::size_t count)
{
    using Bits = typename Format::Bits;
    Extremes<Format> found;
    Bits largest = 0;
    Bits smallest = found.smallestLessOne;
    for (std::size_t i = 0; i < count; ++i) {
        const auto magnitude = static_cast<Bits>(bits[i] & signMask<Format>);
        const auto lessOne = static_cast<Bits>(magnitude - 1);
        largest = magnitude > largest ? magnitude : largest;
        smallest = lessOne < smallest ? lessOne : smallest;
    }
    found.largest = largest;
    found.smallestLessOne = smallest;
    return found;
}

template <class Format>
typename Format::Bits largestFinite(const typename Format::Bits* bits, std::size_t count)
{
    using Bits = typename Format::Bits;
    Bits largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto magnitude = static_cast<Bits>(bits[i] & signMask<Format>);
        const auto finite = static_cast<Bits>(magnitude & -static_cast<Bits>(magnitude < Format::infinity));
        largest = finite > largest ? finite : largest;
    }
    return largest;
}

template <class Format>
std::size_t countSmall(const typename Format::Bits* bits, std::size_t count, typename Format::Bits below)
{
    using Bits = typename Format::Bits;
    Bits found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        found = static_cast<Bits>(found + ((bits[i] & signMask<Format>) < below ? 1 : 0));
    }
    return found;
}

template <class Format>
std::size_t countEqual(const typename Format::Bits* bits, std::size_t count, typename Format::Bits value)
{
    using Bits = typename Format::Bits;
    Bits found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        found = static_cast<Bits>(found + (bits[i] == value ? 1 : 0));
    }
    return found;
}

/// Adds the squares of one group, as many numbers as there are lanes.
template <class Format, bool rare>
inline __attribute__((always_inline)) void addGroup(const typename Format::Bits* bits, Doubles* sums)
{
    constexpr std::size_t vectors = ScanSums::lanes / width;
    if constexpr (sizeof(typename Format::Bits) == 2) {
        for (std::size_t v = 0; v < vectors / 2; ++v) {
            const auto pairs = load<Words>(bits + 2 * width * v);
            const auto even = widen(Format::template even<rare>(pairs));
            const auto odd = widen(Format::template odd<rare>(pairs));
            sums[v] += even * even;
            sums[vectors / 2 + v] += odd * odd;
        }
    } else {
        for (std::size_t v = 0; v < vectors; ++v) {
            const auto values = Format::template values<rare>(bits + width * v);
            sums[v] += values * values;
        }
    }
}

template <class Format, bool rare>
void addSquares(const typename Format::Bits* bits, std::size_t count, double* lanes)
{
    Doubles sums[ScanSums::lanes / width];
    __builtin_memcpy(sums, lanes, sizeof(sums));
    std::size_t i = 0;
    for (; i + ScanSums::lanes <= count; i += ScanSums::lanes) {
        addGroup<Format, rare>(bits + i, sums);
    }
    __builtin_memcpy(lanes, sums, sizeof(sums));
    for (std::size_t lane = 0; i < count; ++i, ++lane) {
        const auto magnitude = static_cast<typename Format::Bits>(bits[i] & signMask<Format>);
        const double value = magnitude < Format::infinity ? Format::magnitude(magnitude) : 0.0;
        lanes[lane] += value * value;
    }
}

template <class Format>
void countNonFinite(const typename Format::Bits* bits, std::size_t count, ScanSums& sums)
{
    using Bits = typename Format::Bits;
    constexpr auto negativeInfinity = static_cast<Bits>(Format::infinity | ~signMask<Format>);
    const auto finite = countSmall<Format>(bits, count, Format::infinity);
    const auto positive = countEqual<Format>(bits, count, Format::infinity);
    const auto negative = countEqual<Format>(bits, count, negativeInfinity);
    sums.posInf += static_cast<std::int64_t>(positive);
    sums.negInf += static_cast<std::int64_t>(negative);
    sums.nan += static_cast<std::int64_t>(count - finite - positive - negative);
}

/// Most pieces hold ordinary numbers only, which their extremes prove; what is rare is counted only where it is.
template <class Format>
void scanPiece(
    const typename Format::Bits* bits, std::size_t count, typename Format::Bits subnormalBelow, ScanSums& sums)
{
    using Bits = typename Format::Bits;
    const auto found = extremes<Format>(bits, count);
    const bool allFinite = found.largest < Format::infinity;
    const Bits largest = allFinite ? found.largest : largestFinite<Format>(bits, count);
    sums.largest = largest > sums.largest ? largest : sums.largest;
    const auto smallest = static_cast<Bits>(found.smallestLessOne + 1);
    if (smallest != 0 && smallest < Format::infinity && smallest < sums.smallest) {
        sums.smallest = smallest;
    }
    const auto zeros = countSmall<Format>(bits, count, 1);
    sums.zero += static_cast<std::int64_t>(zeros);
    if (smallest != 0 && smallest < subnormalBelow) {
        sums.subnormal += static_cast<std::int64_t>(countSmall<Format>(bits, count, subnormalBelow) - zeros);
    }
    if (allFinite && (Format::smallIsPlain || (zeros == 0 && smallest >= subnormalBelow))) {
        addSquares<Format, false>(bits, count, sums.squares.data());
    } else {
        addSquares<Format, true>(bits, count, sums.squares.data());
    }
    if (!allFinite) {
        countNonFinite<Format>(bits, count, sums);
    }
}

template <class Format>
void scan(const typename Format::Bits* bits, std::size_t count, typename Format::Bits subnormalBelow, ScanSums& sums)
{
    for (std::size_t at = 0; at < count; at += piece) {
        scanPiece<Format>(bits + at, count - at < piece ? count - at : piece, subnormalBelow, sums);
    }
}

/// All bits where `condition` holds: choices in arithmetic, because gcc 12 vectorises no nested ones.
inline __attribute__((always_inline)) std::uint32_t mask(bool condition)
{
    return -static_cast<std::uint32_t>(condition);
}

void tile(const std::uint32_t* bits, std::size_t count, std::uint32_t subnormalBelow, TileSums& sums)
{
    auto low = sums.low;
    auto high = sums.high;
    auto largest = sums.largest;
    std::uint32_t classes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto value = bits[i];
        const auto sign = static_cast<std::uint32_t>(static_cast<std::int32_t>(value) >> 31);
        const auto magnitude = value & 0x7fffffffU;
        const auto finite = mask(magnitude < Single::infinity);
        const auto infinite = mask(magnitude == Single::infinity);
        const auto zero = mask(magnitude == 0);
        const auto small = mask(magnitude < subnormalBelow) & ~zero;
        const auto order = (value ^ (sign & 0x7fffffffU)) & finite;
        const auto down = static_cast<std::int32_t>(order | (~finite & 0x7fffffffU));
        const auto up = static_cast<std::int32_t>(order | (~finite & 0x80000000U));
        const auto kept = magnitude & finite;
        low = down < low ? down : low;
        high = up > high ? up : high;
        largest = kept > largest ? kept : largest;
        classes |= (finite & ~zero & ~small & 1U) | (zero & 2U) | (small & 4U) | (~finite & ~infinite & 8U)
            | (infinite & ~sign & 16U) | (infinite & sign & 32U);
    }
    sums.low = low;
    sums.high = high;
    sums.largest = largest;
    sums.classes |= classes;
}

} // namespace

const ScanKernels NANSCOPE_KERNELS {scan<Bfloat16>, scan<Half>, scan<Single>, scan<Twofold>, tile};

} // namespace nanscope::tensorfile
