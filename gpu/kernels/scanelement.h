// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the CUDA scan kernel and its CPU twin do with each element, and the order in which they merge. C++17 and free
// of every other header of the project, because nvcc reads it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__CUDACC__)
#define NANSCOPE_BOTH __host__ __device__ __forceinline__
#else
#define NANSCOPE_BOTH inline
#endif

#if defined(__CUDA_ARCH__)
#define NANSCOPE_UNROLL _Pragma("unroll")
#define NANSCOPE_ROLLED _Pragma("unroll 1")
#else
#define NANSCOPE_UNROLL
#define NANSCOPE_ROLLED
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

/// A finite magnitude of 16 bits as a double, by integers and one exact product: a GPU has few units that convert
/// floats.
template <int fraction, int bias>
NANSCOPE_BOTH double widened(std::uint16_t bits)
{
    constexpr int doubleFraction = 52;
    // Two to the 1023 - bias.
    constexpr auto factor = static_cast<std::uint64_t>(2 * 1023 - bias) << doubleFraction;
    return bitsOf<double>(static_cast<std::uint64_t>(bits) << (doubleFraction - fraction)) * bitsOf<double>(factor);
}

/// The same of a normal number, by the upper half of a double.
template <int fraction, std::uint32_t bias>
NANSCOPE_BOTH double widenedNormal(std::uint32_t bits)
{
    constexpr int upperFraction = 20;
    const std::uint32_t upper = (bits << (upperFraction - fraction)) + ((1023 - bias) << upperFraction);
    return bitsOf<double>(static_cast<std::uint64_t>(upper) << 32);
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
    NANSCOPE_BOTH static double value(Bits bits) { return widened<7, 127>(bits); }
    NANSCOPE_BOTH static double normal(std::uint32_t bits) { return widenedNormal<7, 127>(bits); }
};

struct Fp16
{
    using Bits = std::uint16_t;
    static constexpr Bits magnitude = 0x7fff;
    static constexpr Bits infinity = 0x7c00;
    static constexpr Bits smallestNormal = 0x0400;
    NANSCOPE_BOTH static double value(Bits bits) { return widened<10, 15>(bits); }
    NANSCOPE_BOTH static double normal(std::uint32_t bits) { return widenedNormal<10, 15>(bits); }
};

/// Where an element of the memory lies in the capture's own orientation.
struct Layout
{
    std::int64_t rows = 0; ///< of the memory
    std::int64_t cols = 0;
    bool transposed = false;
};

constexpr int vectorBytes = 16;

/// What memory is read as: 16 bytes in words, a word for each element or, of 16 bits, for two.
template <class Format>
struct Vector
{
    using Bits = typename Format::Bits;
    using Word = std::conditional_t<sizeof(Bits) == 2, std::uint32_t, Bits>;
    static constexpr int elementsPerWord = sizeof(Bits) == 2 ? 2 : 1;
    static constexpr int wordCount = vectorBytes / sizeof(Word);
    static constexpr std::int64_t length = vectorBytes / sizeof(Bits);
    static constexpr Word magnitudes =
        elementsPerWord == 2 ? (static_cast<Word>(Format::magnitude) << 16 | Format::magnitude) : Format::magnitude;

    Word words[wordCount];

    /// One of the elements of a word.
    NANSCOPE_BOTH static Bits element(Word word, int i) { return static_cast<Bits>(i == 0 ? word : word >> 16); }
};

/// Largest and smallest magnitude of some vectors, by their bits, which order like magnitudes.
template <class Format>
struct Extremes
{
    typename Format::Bits largest = 0;
    typename Format::Bits smallest = Format::magnitude;
};

/// Words::greater() and lesser() compare words element by element; a GPU does so in one instruction.
template <class Format, class Words, int count>
NANSCOPE_BOTH Extremes<Format> extremesOf(const Vector<Format> (&vectors)[count])
{
    using V = Vector<Format>;
    typename V::Word largest = 0;
    typename V::Word smallest = V::magnitudes;
    NANSCOPE_UNROLL
    for (int u = 0; u < count; ++u) {
        NANSCOPE_UNROLL
        for (int w = 0; w < V::wordCount; ++w) {
            const auto sizes = vectors[u].words[w] & V::magnitudes;
            largest = Words::greater(largest, sizes);
            smallest = Words::lesser(smallest, sizes);
        }
    }
    if constexpr (V::elementsPerWord == 2) {
        largest = Words::greater(largest, largest >> 16);
        smallest = Words::lesser(smallest, smallest >> 16 | smallest << 16);
    }
    return {V::element(largest, 0), V::element(smallest, 0)};
}

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

    /// Vectors of normal numbers, which nearly all are.
    template <int count>
    NANSCOPE_BOTH void addNormal(const Vector<Format> (&vectors)[count], const Extremes<Format>& extremes)
    {
        largest = extremes.largest > largest ? extremes.largest : largest;
        smallest = extremes.smallest < smallest ? extremes.smallest : smallest;
        forEachSize(vectors, [this](auto size) { addSquare(Format::normal(size)); });
    }

    /// Vectors of finite numbers, without a branch for each: in fp16 many are subnormal.
    template <int count>
    NANSCOPE_BOTH void addFinite(const Vector<Format> (&vectors)[count])
    {
        forEachSize(vectors, [this](auto size) { addFinite(static_cast<Bits>(size)); });
    }

    /// Any element.
    NANSCOPE_BOTH void add(Bits bits, std::int64_t index)
    {
        const Bits size = bits & Format::magnitude;
        if (size < Format::infinity) {
            addFinite(size);
        } else if (size > Format::infinity) {
            ++nan;
            note(classNan, index);
        } else if (bits == size) {
            ++posInf;
            note(classPosInf, index);
        } else {
            ++negInf;
            note(classNegInf, index);
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
    /// f takes a magnitude's bits, as a number of at least 32.
    template <int count, class F>
    NANSCOPE_BOTH static void forEachSize(const Vector<Format> (&vectors)[count], const F& f)
    {
        using V = Vector<Format>;
        NANSCOPE_UNROLL
        for (int u = 0; u < count; ++u) {
            NANSCOPE_UNROLL
            for (int w = 0; w < V::wordCount; ++w) {
                const auto sizes = vectors[u].words[w] & V::magnitudes;
                if constexpr (V::elementsPerWord == 2) {
                    f(sizes & 0xffffU);
                    f(sizes >> 16);
                } else {
                    f(sizes);
                }
            }
        }
    }

    NANSCOPE_BOTH void addSquare(double value) { sumSquares = std::fma(value, value, sumSquares); }

    NANSCOPE_BOTH void addFinite(Bits size)
    {
        zero += size == 0 ? 1 : 0;
        subnormal += size != 0 && size < Format::smallestNormal ? 1 : 0;
        largest = size > largest ? size : largest;
        smallest = size != 0 && size < smallest ? size : smallest;
        addSquare(Format::value(size));
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

/// The elements of memory from `begin` to `end`, one after the other.
template <class Format>
NANSCOPE_BOTH void addEach(Partial<Format>& partial, const typename Format::Bits* data, const Layout& layout,
    std::int64_t begin, std::int64_t end)
{
    // One division, not one for each element.
    std::int64_t line = layout.transposed ? begin / layout.cols : 0;
    std::int64_t column = layout.transposed ? begin - line * layout.cols : 0;
    NANSCOPE_ROLLED
    for (std::int64_t at = begin; at < end; ++at) {
        partial.add(data[at], layout.transposed ? column * layout.rows + line : at);
        if (++column == layout.cols) {
            column = 0;
            ++line;
        }
    }
}

/// The vectors that a thread reads from `at` on, each a block's vectors after the one before. Vectors with a value that
/// is not finite are read a second time, in a loop: unrolled for each, their code was most of the kernel.
template <class Words, class Format, int count>
NANSCOPE_BOTH void addVectors(
    Partial<Format>& partial, const typename Format::Bits* data, const Layout& layout, std::int64_t at)
{
    constexpr std::int64_t length = Vector<Format>::length;
    constexpr std::int64_t stride = threads * length;
    Vector<Format> vectors[count];
    NANSCOPE_UNROLL
    for (int u = 0; u < count; ++u) {
        vectors[u] = Words::load(data + at + u * stride);
    }
    const Extremes<Format> extremes = extremesOf<Format, Words>(vectors);
    const bool finite = extremes.largest < Format::infinity;
    if (finite && extremes.smallest >= Format::smallestNormal) {
        partial.addNormal(vectors, extremes);
    } else if (finite) {
        partial.addFinite(vectors);
    } else {
        NANSCOPE_ROLLED
        for (int u = 0; u < count; ++u) {
            addEach(partial, data, layout, at + u * stride, at + u * stride + length);
        }
    }
}

/// Everything one thread reads: its vectors of every tile, the odd elements at the end, its share of the diagonal.
/// `Words` fetches and compares them.
template <class Format, class Words>
NANSCOPE_BOTH Totals scanShare(
    const typename Format::Bits* data, const Layout& layout, std::int64_t block, std::int64_t blocks, int thread)
{
    constexpr std::int64_t length = Vector<Format>::length;
    constexpr std::int64_t stride = threads * length;
    constexpr std::int64_t tile = unroll * stride;
    const std::int64_t elements = layout.rows * layout.cols;
    const std::int64_t ofVectors = elements / length * length;

    Partial<Format> partial;
    std::int64_t at = block * tile + thread * length;
    for (std::int64_t end = (block + 1) * tile; end <= elements; end += blocks * tile, at += blocks * tile) {
        addVectors<Words, Format, unroll>(partial, data, layout, at);
    }
    // What there is of the last tile.
    NANSCOPE_ROLLED
    for (; at < ofVectors; at += stride) {
        addVectors<Words, Format, 1>(partial, data, layout, at);
    }
    if (block == 0 && ofVectors + thread < elements) {
        addEach(partial, data, layout, ofVectors + thread, ofVectors + thread + 1);
    }
    const std::int64_t diagonal = layout.rows < layout.cols ? layout.rows : layout.cols;
    for (std::int64_t d = block * threads + thread; d < diagonal; d += blocks * threads) {
        partial.addDiagonal(data[d * (layout.cols + 1)]);
    }
    return partial.totals();
}

} // namespace nanscope::scan
