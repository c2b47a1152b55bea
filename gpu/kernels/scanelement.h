// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the CUDA scan kernel and its CPU twin do with each element, and the order in which they merge. C++17 and free
// of every other header of the project, because nvcc reads it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#define NANSCOPE_BOTH __host__ __device__ __forceinline__
#else
#define NANSCOPE_BOTH inline
#endif

#if defined(__CUDA_ARCH__)
#define NANSCOPE_UNROLL _Pragma("unroll")
#else
#define NANSCOPE_UNROLL
#endif

namespace nanscope::scan {

constexpr std::int64_t noIndex = INT64_MAX;

/// Values of nanscope::ValueClass for what is not finite.
enum Class : std::int64_t { classNormal = 0, classNan = 3, classPosInf = 4, classNegInf = 5 };

/// Facts about one matrix or a part of it. Eight-byte fields only: an array of these travels as int64 tensor.
struct Totals
{
    std::int64_t nan = 0;
    std::int64_t posInf = 0;
    std::int64_t negInf = 0;
    std::int64_t zero = 0;
    std::int64_t subnormal = 0;
    std::int64_t first = noIndex; ///< row-major in the capture's own orientation
    std::int64_t firstClass = classNormal;
    double absmax = 0;
    double minNonzero = INFINITY; ///< stays infinite when there is none
    double sumSquares = 0;
    double trace = 0;
};

constexpr std::int64_t totalsWords = sizeof(Totals) / sizeof(std::int64_t);
static_assert(sizeof(Totals) == 11 * 8);

NANSCOPE_BOTH void merge(Totals& into, const Totals& from)
{
    into.nan += from.nan;
    into.posInf += from.posInf;
    into.negInf += from.negInf;
    into.zero += from.zero;
    into.subnormal += from.subnormal;
    into.firstClass = from.first < into.first ? from.firstClass : into.firstClass;
    into.first = from.first < into.first ? from.first : into.first;
    into.absmax = from.absmax > into.absmax ? from.absmax : into.absmax;
    into.minNonzero = from.minNonzero < into.minNonzero ? from.minNonzero : into.minNonzero;
    into.sumSquares += from.sumSquares;
    into.trace += from.trace;
}

template <class To, class From>
NANSCOPE_BOTH To bitsOf(From value)
{
    static_assert(sizeof(To) == sizeof(From));
    To result;
    std::memcpy(&result, &value, sizeof(To));
    return result;
}

/// A normal number of 16 bits as a double, by integers: a GPU has few units that convert floats.
template <int fraction, std::uint64_t bias>
NANSCOPE_BOTH double widened(std::uint16_t bits)
{
    constexpr int doubleFraction = 52;
    constexpr std::uint64_t doubleBias = 1023;
    return bitsOf<double>(
        (static_cast<std::uint64_t>(bits) << (doubleFraction - fraction)) + ((doubleBias - bias) << doubleFraction));
}

/// Formats by their bits. value() takes the bits of a finite magnitude, normal() those of one that is a normal number.
struct Fp64
{
    using Bits = std::uint64_t;
    static constexpr Bits magnitude = 0x7fffffffffffffff;
    static constexpr Bits infinity = 0x7ff0000000000000;
    static constexpr Bits smallestNormal = 0x0010000000000000;
    NANSCOPE_BOTH static double value(Bits bits) { return bitsOf<double>(bits); }
    NANSCOPE_BOTH static double normal(Bits bits) { return value(bits); }
};

struct Fp32
{
    using Bits = std::uint32_t;
    static constexpr Bits magnitude = 0x7fffffff;
    static constexpr Bits infinity = 0x7f800000;
    static constexpr Bits smallestNormal = 0x00800000;
    NANSCOPE_BOTH static double value(Bits bits) { return bitsOf<float>(bits); }
    NANSCOPE_BOTH static double normal(Bits bits) { return value(bits); }
};

struct Bf16
{
    using Bits = std::uint16_t;
    static constexpr Bits magnitude = 0x7fff;
    static constexpr Bits infinity = 0x7f80;
    static constexpr Bits smallestNormal = 0x0080;
    NANSCOPE_BOTH static double value(Bits bits) { return bitsOf<float>(static_cast<std::uint32_t>(bits) << 16); }
    NANSCOPE_BOTH static double normal(Bits bits) { return widened<7, 127>(bits); }
};

struct Fp16
{
    using Bits = std::uint16_t;
    static constexpr Bits magnitude = 0x7fff;
    static constexpr Bits infinity = 0x7c00;
    static constexpr Bits smallestNormal = 0x0400;
    NANSCOPE_BOTH static double value(Bits bits)
    {
        if (bits < smallestNormal) {
            return static_cast<float>(bits) * 0x1p-24F;
        }
        return normal(bits);
    }
    NANSCOPE_BOTH static double normal(Bits bits) { return widened<10, 15>(bits); }
};

/// Where an element of the memory lies in the capture's own orientation.
struct Layout
{
    std::int64_t rows = 0; ///< of the memory
    std::int64_t cols = 0;
    bool transposed = false;

    NANSCOPE_BOTH std::int64_t index(std::int64_t inMemory) const
    {
        return transposed ? (inMemory % cols) * rows + inMemory / cols : inMemory;
    }
};

constexpr int vectorBytes = 16;

template <class Format>
constexpr std::int64_t vectorLength = vectorBytes / sizeof(typename Format::Bits);

/// Largest and smallest magnitude of one vector, by their bits, which order like magnitudes.
template <class Format>
struct Extremes
{
    typename Format::Bits largest = 0;
    typename Format::Bits smallest = Format::magnitude;
};

/// What one thread gathers: counts in 32 bits and extremes as bits, which order like magnitudes.
template <class Format>
struct Partial
{
    using Bits = typename Format::Bits;
    std::uint32_t nan = 0;
    std::uint32_t posInf = 0;
    std::uint32_t negInf = 0;
    std::uint32_t zero = 0;
    std::uint32_t subnormal = 0;
    Bits largest = 0;
    Bits smallest = Format::infinity;
    std::int64_t first = noIndex;
    std::int64_t firstClass = classNormal;
    double sumSquares = 0;
    double trace = 0;

    NANSCOPE_BOTH void add(Bits bits, std::int64_t inMemory, const Layout& layout)
    {
        const Bits size = bits & Format::magnitude;
        if (size >= Format::smallestNormal && size < Format::infinity) {
            addFinite(size);
        } else {
            addSpecial(bits, size, inMemory, layout);
        }
    }

    /// The same for each of a vector's elements. Nearly all vectors hold normal numbers alone.
    NANSCOPE_BOTH void addVector(
        const Bits* vector, const Extremes<Format>& extremes, std::int64_t inMemory, const Layout& layout)
    {
        if (extremes.smallest >= Format::smallestNormal && extremes.largest < Format::infinity) {
            largest = extremes.largest > largest ? extremes.largest : largest;
            smallest = extremes.smallest < smallest ? extremes.smallest : smallest;
            NANSCOPE_UNROLL
            for (int e = 0; e < vectorLength<Format>; ++e) {
                const double value = Format::normal(vector[e] & Format::magnitude);
                sumSquares = std::fma(value, value, sumSquares);
            }
        } else {
            for (int e = 0; e < vectorLength<Format>; ++e) {
                add(vector[e], inMemory + e, layout);
            }
        }
    }

    NANSCOPE_BOTH void addDiagonal(Bits bits)
    {
        const Bits size = bits & Format::magnitude;
        if (size < Format::infinity) {
            const double value = Format::value(size);
            trace += size == bits ? value : -value;
        }
    }

    NANSCOPE_BOTH Totals totals() const
    {
        Totals result;
        result.nan = nan;
        result.posInf = posInf;
        result.negInf = negInf;
        result.zero = zero;
        result.subnormal = subnormal;
        result.first = first;
        result.firstClass = firstClass;
        result.absmax = Format::value(largest);
        result.minNonzero = smallest == Format::infinity ? static_cast<double>(INFINITY) : Format::value(smallest);
        result.sumSquares = sumSquares;
        result.trace = trace;
        return result;
    }

private:
    NANSCOPE_BOTH void addFinite(Bits size)
    {
        largest = size > largest ? size : largest;
        smallest = size < smallest ? size : smallest;
        const double value = Format::value(size);
        sumSquares = std::fma(value, value, sumSquares);
    }

    NANSCOPE_BOTH void addSpecial(Bits bits, Bits size, std::int64_t inMemory, const Layout& layout)
    {
        if (size == 0) {
            ++zero;
        } else if (size < Format::smallestNormal) {
            ++subnormal;
            addFinite(size);
        } else if (size > Format::infinity) {
            ++nan;
            note(classNan, layout.index(inMemory));
        } else if (bits == size) {
            ++posInf;
            note(classPosInf, layout.index(inMemory));
        } else {
            ++negInf;
            note(classNegInf, layout.index(inMemory));
        }
    }

    NANSCOPE_BOTH void note(std::int64_t kind, std::int64_t index)
    {
        if (index < first) {
            first = index;
            firstClass = kind;
        }
    }
};

/// How a matrix is shared out. It depends on the shape alone, so that the order of every addition, and with it the
/// last bit of each sum, is the same on every GPU and in the twin.
constexpr int warpSize = 32;
constexpr int threads = 256;
constexpr int unroll = 4; ///< vectors in flight per thread
constexpr std::int64_t maxBlocks = 512; ///< four on each of 128 multiprocessors, all at once on an H100

NANSCOPE_BOTH std::int64_t blocksFor(std::int64_t elements, std::int64_t elementSize)
{
    const std::int64_t perBlock = static_cast<std::int64_t>(threads) * unroll * vectorBytes / elementSize;
    const std::int64_t blocks = (elements + perBlock - 1) / perBlock;
    return blocks < 1 ? 1 : blocks > maxBlocks ? maxBlocks : blocks;
}

/// Everything one thread reads: its vectors of every tile, the odd elements at the end, its share of the diagonal.
/// `vectors` fetches one vector and finds its extremes; the kernel does the first in one instruction.
template <class Format, class Vectors>
NANSCOPE_BOTH Totals scanShare(const typename Format::Bits* data, const Layout& layout, std::int64_t block,
    std::int64_t blocks, int thread, const Vectors& vectors)
{
    using Bits = typename Format::Bits;
    constexpr std::int64_t length = vectorLength<Format>;
    const std::int64_t elements = layout.rows * layout.cols;
    const std::int64_t count = elements / length;
    constexpr std::int64_t tile = static_cast<std::int64_t>(threads) * unroll;

    Partial<Format> partial;
    for (std::int64_t base = block * tile; base < count; base += blocks * tile) {
        Bits values[unroll][length];
        NANSCOPE_UNROLL
        for (int u = 0; u < unroll; ++u) {
            const std::int64_t vector = base + u * threads + thread;
            if (vector < count) {
                vectors.load(values[u], data + vector * length);
            }
        }
        NANSCOPE_UNROLL
        for (int u = 0; u < unroll; ++u) {
            const std::int64_t vector = base + u * threads + thread;
            if (vector < count) {
                partial.addVector(values[u], vectors.extremes(values[u]), vector * length, layout);
            }
        }
    }
    const std::int64_t odd = count * length + thread;
    if (block == 0 && odd < elements) {
        partial.add(data[odd], odd, layout);
    }
    const std::int64_t diagonal = layout.rows < layout.cols ? layout.rows : layout.cols;
    for (std::int64_t d = block * threads + thread; d < diagonal; d += blocks * threads) {
        partial.addDiagonal(data[d * (layout.cols + 1)]);
    }
    return partial.totals();
}

} // namespace nanscope::scan
