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
template <class Bits>
constexpr std::size_t piece = 8192 / sizeof(Bits);

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

/// Of magnitudes, non-finite ones included.
template <class Format>
struct Extremes
{
    typename Format::Bits largest = 0;
    typename Format::Bits smallest = signMask<Format>;
};

template <class Bits>
struct SignedOf;
template <>
struct SignedOf<std::uint16_t>
{
    using Type = std::int16_t;
};
template <>
struct SignedOf<std::uint32_t>
{
    using Type = std::int32_t;
};
template <>
struct SignedOf<std::uint64_t>
{
    using Type = std::int64_t;
};

template <class Bits>
using Signed = typename SignedOf<Bits>::Type;

// What one register holds.
constexpr std::size_t registerBytes = 8 * width;
template <class Element>
struct RegisterOf
{
    typedef Element Type __attribute__((vector_size(registerBytes))); // an alias would lose the attribute
};
template <class Element>
using Register = typename RegisterOf<Element>::Type;

template <class Value>
inline __attribute__((always_inline)) Value lesser(Value a, Value b)
{
    return a < b ? a : b;
}

template <class Value>
inline __attribute__((always_inline)) Value greater(Value a, Value b)
{
    return a > b ? a : b;
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

/// The magnitudes of as many numbers as one register holds. Without their signs they order as signed integers do, which
/// every instruction set compares.
template <class Format>
class RunningExtremes
{
public:
    using Bits = typename Format::Bits;
    using Vector = Register<Signed<Bits>>;
    static constexpr std::size_t count = registerBytes / sizeof(Bits);

    inline __attribute__((always_inline)) void add(const Bits* bits)
    {
        const auto magnitudes = load<Vector>(bits) & static_cast<Signed<Bits>>(signMask<Format>);
        m_largest = greater(m_largest, magnitudes);
        m_smallest = lesser(m_smallest, magnitudes);
    }

    Extremes<Format> all() const
    {
        Extremes<Format> found;
        for (std::size_t i = 0; i < count; ++i) {
            found.largest = greater(found.largest, static_cast<Bits>(m_largest[i]));
            found.smallest = lesser(found.smallest, static_cast<Bits>(m_smallest[i]));
        }
        return found;
    }

private:
    Vector m_largest = Vector {};
    Vector m_smallest = Vector {} + static_cast<Signed<Bits>>(signMask<Format>);
};

/// Squares and extremes in one pass: two would wait for memory in the first and leave it idle in the second. Where
/// `rare` the sums take any value.
template <class Format, bool rare>
Extremes<Format> addSquares(const typename Format::Bits* bits, std::size_t count, double* lanes)
{
    using Bits = typename Format::Bits;
    Doubles sums[ScanSums::lanes / width];
    __builtin_memcpy(sums, lanes, sizeof(sums));
    RunningExtremes<Format> running;
    std::size_t i = 0;
    for (; i + ScanSums::lanes <= count; i += ScanSums::lanes) {
        addGroup<Format, rare>(bits + i, sums);
        for (std::size_t at = 0; at < ScanSums::lanes; at += RunningExtremes<Format>::count) {
            running.add(bits + i + at);
        }
    }
    __builtin_memcpy(lanes, sums, sizeof(sums));
    auto found = running.all();
    for (std::size_t lane = 0; i < count; ++i, ++lane) {
        const auto magnitude = static_cast<Bits>(bits[i] & signMask<Format>);
        const double value = magnitude < Format::infinity ? Format::magnitude(magnitude) : 0.0;
        lanes[lane] += value * value;
        found.largest = greater(found.largest, magnitude);
        found.smallest = lesser(found.smallest, magnitude);
    }
    return found;
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

/// Zeros, subnormals and the smallest magnitude that is not zero.
template <class Format>
void countSmallOnes(
    const typename Format::Bits* bits, std::size_t count, typename Format::Bits subnormalBelow, ScanSums& sums)
{
    using Bits = typename Format::Bits;
    Bits zeros = 0;
    // Zero minus one wraps to the largest number, so that zeros do not count as the smallest magnitude.
    Bits smallestLessOne = static_cast<Bits>(~Bits {0});
    for (std::size_t i = 0; i < count; ++i) {
        const auto magnitude = static_cast<Bits>(bits[i] & signMask<Format>);
        zeros = static_cast<Bits>(zeros + (magnitude == 0 ? 1 : 0));
        smallestLessOne = lesser(smallestLessOne, static_cast<Bits>(magnitude - 1));
    }
    sums.zero += static_cast<std::int64_t>(zeros);
    const auto smallest = static_cast<Bits>(smallestLessOne + 1);
    if (smallest != 0 && smallest < Format::infinity && smallest < sums.smallest) {
        sums.smallest = smallest;
    }
    if (smallest != 0 && smallest < subnormalBelow) {
        sums.subnormal += static_cast<std::int64_t>(countSmall<Format>(bits, count, subnormalBelow) - zeros);
    }
}

/// Most pieces hold ordinary numbers only, which their extremes prove; what is rare is looked at only where it is.
template <class Format>
void scanPiece(
    const typename Format::Bits* bits, std::size_t count, typename Format::Bits subnormalBelow, ScanSums& sums)
{
    using Bits = typename Format::Bits;
    double before[ScanSums::lanes];
    __builtin_memcpy(before, sums.squares.data(), sizeof(before));
    const auto found = addSquares<Format, false>(bits, count, sums.squares.data());
    const bool allFinite = found.largest < Format::infinity;
    const bool noneSmall = found.smallest != 0 && found.smallest >= subnormalBelow;
    if (!allFinite || (!Format::smallIsPlain && !noneSmall)) {
        __builtin_memcpy(sums.squares.data(), before, sizeof(before));
        addSquares<Format, true>(bits, count, sums.squares.data());
    }
    const Bits largest = allFinite ? found.largest : largestFinite<Format>(bits, count);
    sums.largest = greater<std::uint64_t>(largest, sums.largest);
    if (!noneSmall) {
        countSmallOnes<Format>(bits, count, subnormalBelow, sums);
    } else if (found.smallest < Format::infinity) {
        sums.smallest = lesser<std::uint64_t>(found.smallest, sums.smallest);
    }
    if (!allFinite) {
        countNonFinite<Format>(bits, count, sums);
    }
}

template <class Format>
void scan(const typename Format::Bits* bits, std::size_t count, typename Format::Bits subnormalBelow, ScanSums& sums)
{
    constexpr auto most = piece<typename Format::Bits>;
    for (std::size_t at = 0; at < count; at += most) {
        scanPiece<Format>(bits + at, lesser(most, count - at), subnormalBelow, sums);
    }
}

/// Numbers of one row of tiles on their way into the sums of each.
template <class Format>
class TileBand
{
public:
    using Bits = typename Format::Bits;
    using Integer = Signed<Bits>;
    using Vector = Register<Integer>;
    using Unsigned = Register<Bits>;

    TileBand(const TileLines& lines, Bits subnormalBelow, TileSums* tiles)
        : m_lines(lines)
        , m_subnormalBelow(subnormalBelow)
        , m_tiles(tiles)
    { }

    void add()
    {
        const auto tile = m_lines.tile;
        const auto whole = tile < blockColumns ? blockColumns / tile * tile : blockColumns;
        for (std::size_t at = 0; at < m_lines.positions;) {
            // Blocks begin with a tile, but for the first.
            const auto most = tile < blockColumns ? whole - (m_lines.offset + at) % tile : whole;
            const auto count = lesser(most, m_lines.positions - at);
            addBlock(at, count);
            at += count;
        }
    }

private:
    static constexpr Integer most = static_cast<Integer>(signMask<Format>);
    static constexpr Integer least = static_cast<Integer>(~signMask<Format>);
    // What is kept of each column fits the level 1 cache.
    static constexpr std::size_t blockColumns = 4096 / sizeof(Bits);
    static constexpr std::size_t perVector = registerBytes / sizeof(Bits);
    // A few lines at once, and the next ones asked for meanwhile: their runs are too short for the CPU to foresee. Into
    // level 2, because lines of a power of two would drive each other out of level 1.
    static constexpr std::size_t linesAtOnce = 4;
    static constexpr int intoLevel2 = 2;

    /// Extremes of bit patterns, as signed integers and as unsigned ones. They tell the extremes of the values and of
    /// the magnitudes, and with that nearly always the classes.
    struct Corners
    {
        Integer signedLow;
        Integer signedHigh;
        Bits low;
        Bits high;
    };

    const Bits* at(std::size_t line, std::size_t column) const
    {
        return static_cast<const Bits*>(m_lines.bits) + line * m_lines.stride + column;
    }

    void addBlock(std::size_t begin, std::size_t count)
    {
        std::size_t line = m_lines.lines % linesAtOnce;
        if (line == 0) {
            addLines<linesAtOnce, true>(0, begin, count);
            line = linesAtOnce;
        } else {
            addLines<1, true>(0, begin, count);
            for (std::size_t odd = 1; odd < line; ++odd) {
                addLines<1, false>(odd, begin, count);
            }
        }
        for (; line < m_lines.lines; line += linesAtOnce) {
            addLines<linesAtOnce, false>(line, begin, count);
        }
        takeTiles(begin, count);
    }

    template <std::size_t n, bool first>
    void addLines(std::size_t line, std::size_t begin, std::size_t count)
    {
        const Bits* from[n];
        for (std::size_t l = 0; l < n; ++l) {
            from[l] = at(line + l, begin);
        }
        const auto ahead = linesAtOnce * m_lines.stride;
        std::size_t done = 0;
        for (; done + perVector <= count; done += perVector) {
            addVectors<n, first>(from, done, ahead);
        }
        for (; done < count; ++done) {
            addColumn<n, first>(from, done);
        }
    }

    template <std::size_t n, bool first>
    inline __attribute__((always_inline)) void addVectors(
        const Bits* const* from, std::size_t column, std::size_t ahead)
    {
        for (std::size_t l = 0; l < n; ++l) {
            __builtin_prefetch(from[l] + ahead + column, 0, intoLevel2);
        }
        Vector bits = load<Vector>(from[0] + column);
        auto signedLow = first ? bits : lesser(load<Vector>(m_signedLow + column), bits);
        auto signedHigh = first ? bits : greater(load<Vector>(m_signedHigh + column), bits);
        auto low = first ? (Unsigned)bits : lesser(load<Unsigned>(m_low + column), (Unsigned)bits);
        auto high = first ? (Unsigned)bits : greater(load<Unsigned>(m_high + column), (Unsigned)bits);
        for (std::size_t l = 1; l < n; ++l) {
            bits = load<Vector>(from[l] + column);
            signedLow = lesser(signedLow, bits);
            signedHigh = greater(signedHigh, bits);
            low = lesser(low, (Unsigned)bits);
            high = greater(high, (Unsigned)bits);
        }
        __builtin_memcpy(m_signedLow + column, &signedLow, sizeof(signedLow));
        __builtin_memcpy(m_signedHigh + column, &signedHigh, sizeof(signedHigh));
        __builtin_memcpy(m_low + column, &low, sizeof(low));
        __builtin_memcpy(m_high + column, &high, sizeof(high));
    }

    template <std::size_t n, bool first>
    void addColumn(const Bits* const* from, std::size_t column)
    {
        for (std::size_t l = 0; l < n; ++l) {
            const auto bits = from[l][column];
            const auto number = static_cast<Integer>(bits);
            const bool begins = first && l == 0;
            m_signedLow[column] = begins ? number : lesser(m_signedLow[column], number);
            m_signedHigh[column] = begins ? number : greater(m_signedHigh[column], number);
            m_low[column] = begins ? bits : lesser(m_low[column], bits);
            m_high[column] = begins ? bits : greater(m_high[column], bits);
        }
    }

    template <bool greatest, class Value>
    static inline __attribute__((always_inline)) void fold(Value* values, std::size_t count)
    {
        constexpr std::size_t some = 64 / sizeof(Value);
        std::size_t i = 0;
        for (; i + some <= count; i += some) {
            Value half[some];
            for (std::size_t j = 0; j < some; ++j) {
                const auto even = values[2 * (i + j)];
                const auto odd = values[2 * (i + j) + 1];
                half[j] = greatest ? greater(even, odd) : lesser(even, odd);
            }
            __builtin_memcpy(values + i, half, sizeof(half));
        }
        for (; i < count; ++i) {
            values[i] = greatest ? greater(values[2 * i], values[2 * i + 1]) : lesser(values[2 * i], values[2 * i + 1]);
        }
    }

    /// Halves what is kept while tiles have an even number of columns: of many columns at once.
    std::size_t foldColumns(std::size_t begin, std::size_t count)
    {
        std::size_t folded = 1;
        if ((m_lines.offset + begin) % m_lines.tile != 0 || count % m_lines.tile != 0) {
            return folded;
        }
        for (auto tile = m_lines.tile; tile % 2 == 0; tile /= 2) {
            count /= 2;
            folded *= 2;
            fold<false>(m_signedLow, count);
            fold<true>(m_signedHigh, count);
            fold<false>(m_low, count);
            fold<true>(m_high, count);
        }
        return folded;
    }

    void takeTiles(std::size_t begin, std::size_t count)
    {
        const auto folded = foldColumns(begin, count);
        auto tile = (m_lines.offset + begin) / m_lines.tile;
        auto to = (tile + 1) * m_lines.tile - m_lines.offset - begin;
        for (std::size_t from = 0; from < count; ++tile, to += m_lines.tile) {
            to = lesser(to, count);
            const auto corners = cornersOf(from / folded, to / folded);
            if (!takeCorners(m_tiles[tile], corners, begin + from, to - from)) {
                takeEach(m_tiles[tile], begin + from, begin + to);
            }
            from = to;
        }
    }

    /// False where not all is finite: that is to be looked at one by one. `columns` are `count` of the lines.
    bool takeCorners(TileSums& tile, const Corners& all, std::size_t columns, std::size_t count) const
    {
        const bool anyPositive = all.signedHigh >= 0;
        const bool anyNegative = all.signedLow < 0;
        const auto lowest = static_cast<Bits>(anyNegative ? all.high : all.low);
        const auto highest = static_cast<Bits>(anyPositive ? all.signedHigh : all.signedLow);
        const auto far = [](Bits bits) { return static_cast<Bits>(bits & signMask<Format>); };
        const Bits largest = greater(far(lowest), far(highest));
        const Bits smallest = lesser(anyPositive ? all.low : signMask<Format>,
            anyNegative ? far(static_cast<Bits>(all.signedLow)) : signMask<Format>);
        if (largest >= Format::infinity) {
            return false;
        }
        tile.low = lesser(tile.low, orderOf(lowest));
        tile.high = greater(tile.high, orderOf(highest));
        tile.classes |= largest != 0 && largest >= m_subnormalBelow ? 1U : 0U;
        if (smallest == 0) {
            tile.classes |= 2U | (anySubnormal(columns, count) ? 4U : 0U);
        } else if (smallest < m_subnormalBelow) {
            tile.classes |= 4U;
        }
        return true;
    }

    bool anySubnormal(std::size_t begin, std::size_t count) const
    {
        if (m_subnormalBelow == 0) {
            return false;
        }
        const auto below = static_cast<Bits>(m_subnormalBelow - 1);
        Bits found = 0;
        for (std::size_t line = 0; line < m_lines.lines; ++line) {
            const auto* bits = at(line, begin);
            for (std::size_t i = 0; i < count; ++i) {
                // Zero minus one wraps to the largest number.
                const auto lessOne = static_cast<Bits>((bits[i] & signMask<Format>)-1);
                found |= mask(lessOne < below);
            }
        }
        return found != 0;
    }

    Corners cornersOf(std::size_t from, std::size_t to) const
    {
        auto signedLow = m_signedLow[from];
        auto signedHigh = m_signedHigh[from];
        auto low = m_low[from];
        auto high = m_high[from];
        for (auto i = from + 1; i < to; ++i) {
            signedLow = lesser(signedLow, m_signedLow[i]);
            signedHigh = greater(signedHigh, m_signedHigh[i]);
            low = lesser(low, m_low[i]);
            high = greater(high, m_high[i]);
        }
        return {signedLow, signedHigh, low, high};
    }

    static std::int64_t orderOf(Bits bits)
    {
        const auto sign = static_cast<Integer>(static_cast<Integer>(bits) >> (8 * sizeof(Bits) - 1));
        return static_cast<Integer>(static_cast<Integer>(bits) ^ (sign & most));
    }

    /// All bits where `condition` holds: choices in arithmetic, because gcc 12 vectorises no nested ones.
    static inline __attribute__((always_inline)) Bits mask(bool condition)
    {
        return static_cast<Bits>(-static_cast<Bits>(condition));
    }

    void takeEach(TileSums& tile, std::size_t from, std::size_t to) const
    {
        Integer low = most;
        Integer high = least;
        Bits classes = 0;
        for (std::size_t line = 0; line < m_lines.lines; ++line) {
            const auto* bits = at(line, 0);
            for (auto i = from; i < to; ++i) {
                const auto value = bits[i];
                const auto sign = mask(value > signMask<Format>);
                const auto magnitude = static_cast<Bits>(value & signMask<Format>);
                const auto finite = mask(magnitude < Format::infinity);
                const auto infinite = mask(magnitude == Format::infinity);
                const auto zero = mask(magnitude == 0);
                const auto small = static_cast<Bits>(mask(magnitude < m_subnormalBelow) & ~zero);
                const auto order = static_cast<Bits>((value ^ (sign & signMask<Format>)) & finite);
                low = lesser(low, static_cast<Integer>(order | (~finite & static_cast<Bits>(most))));
                high = greater(high, static_cast<Integer>(order | (~finite & static_cast<Bits>(least))));
                classes |= (finite & ~zero & ~small & 1U) | (zero & 2U) | (small & 4U) | (~finite & ~infinite & 8U)
                    | (infinite & ~sign & 16U) | (infinite & sign & 32U);
            }
        }
        // Where nothing is finite nothing is said of extremes.
        if ((classes & 7U) != 0) {
            tile.low = lesser<std::int64_t>(tile.low, low);
            tile.high = greater<std::int64_t>(tile.high, high);
        }
        tile.classes |= static_cast<std::uint32_t>(classes);
    }

    const TileLines& m_lines;
    Bits m_subnormalBelow;
    TileSums* m_tiles;
    alignas(64) Integer m_signedLow[blockColumns];
    alignas(64) Integer m_signedHigh[blockColumns];
    alignas(64) Bits m_low[blockColumns];
    alignas(64) Bits m_high[blockColumns];
};

template <class Format>
void tile(const TileLines& lines, typename Format::Bits subnormalBelow, TileSums* tiles)
{
    TileBand<Format>(lines, subnormalBelow, tiles).add();
}

} // namespace

const ScanKernels NANSCOPE_KERNELS {
    scan<Bfloat16>, scan<Half>, scan<Single>, scan<Twofold>, tile<Bfloat16>, tile<Half>, tile<Single>, tile<Twofold>};

} // namespace nanscope::tensorfile
