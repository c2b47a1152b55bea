// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/model/scan.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/scan/scankernels.h"

namespace nanscope::tensorfile {

struct BfloatBits
{
    using Bits = std::uint16_t;
    static constexpr Bits infinity = 0x7f80;
    static double value(Bits bits) { return bfloat16ToFloat(bits); }
    static auto kernel() { return scanKernels().bfloat16; }
};

struct HalfBits
{
    using Bits = std::uint16_t;
    static constexpr Bits infinity = 0x7c00;
    static double value(Bits bits) { return halfToFloat(bits); }
    static auto kernel() { return scanKernels().half; }
};

struct SingleBits
{
    using Bits = std::uint32_t;
    static constexpr Bits infinity = 0x7f800000;
    static double value(Bits bits) { return std::bit_cast<float>(bits); }
    static auto kernel() { return scanKernels().single; }
};

struct DoubleBits
{
    using Bits = std::uint64_t;
    static constexpr Bits infinity = 0x7ff0000000000000;
    static double value(Bits bits) { return std::bit_cast<double>(bits); }
    static auto kernel() { return scanKernels().twofold; }
};

/// Gathers the scan of one matrix from dense blocks of its lines. Lines are the columns of the original where
/// `transposed`; `lineLength` is how many elements each has, `lines` how many there are.
template <class Format>
class MatrixScan
{
public:
    using Bits = typename Format::Bits;

    MatrixScan(std::int64_t lines, std::int64_t lineLength, bool transposed, Bits subnormalBelow)
        : m_lines(lines)
        , m_length(lineLength)
        , m_transposed(transposed)
        , m_subnormalBelow(subnormalBelow)
    { }

    void add(const Bits* bits, std::int64_t firstLine, std::int64_t lines, std::int64_t firstPosition,
        std::int64_t positions)
    {
        const auto before = m_sums.nonFinite();
        Format::kernel()(bits, static_cast<std::size_t>(lines * positions), m_subnormalBelow, m_sums);
        addDiagonal(bits, firstLine, lines, firstPosition, positions);
        if (m_sums.nonFinite() != before && (m_transposed || m_first < 0)) {
            findFirst(bits, firstLine, lines, firstPosition, positions);
        }
    }

    Scan finish() const
    {
        Scan scan;
        scan.count = m_lines * m_length;
        scan.nan = m_sums.nan;
        scan.posInf = m_sums.posInf;
        scan.negInf = m_sums.negInf;
        scan.zero = m_sums.zero;
        scan.subnormal = m_sums.subnormal;
        scan.absmax = Format::value(static_cast<Bits>(m_sums.largest));
        const bool any = m_sums.smallest < Format::infinity;
        scan.minNonzero = any ? Format::value(static_cast<Bits>(m_sums.smallest)) : 0;
        for (const auto lane : m_sums.squares) {
            scan.sumSquares += lane;
        }
        scan.trace = m_trace;
        scan.firstNonFinite = m_first;
        scan.firstClass = m_class;
        return scan;
    }

private:
    static Bits magnitude(Bits bits) { return static_cast<Bits>(bits & static_cast<Bits>(~Bits {0}) >> 1); }

    static ValueClass classOf(Bits bits)
    {
        if (magnitude(bits) != Format::infinity) {
            return ValueClass::nan;
        }
        return bits == Format::infinity ? ValueClass::posInf : ValueClass::negInf;
    }

    void addDiagonal(const Bits* bits, std::int64_t firstLine, std::int64_t lines, std::int64_t firstPosition,
        std::int64_t positions)
    {
        const auto begin = std::max(firstLine, firstPosition);
        const auto end = std::min(firstLine + lines, firstPosition + positions);
        for (auto at = begin; at < end; ++at) {
            const auto value = bits[(at - firstLine) * positions + (at - firstPosition)];
            if (magnitude(value) < Format::infinity) {
                m_trace += Format::value(value);
            }
        }
    }

    void findFirst(const Bits* bits, std::int64_t firstLine, std::int64_t lines, std::int64_t firstPosition,
        std::int64_t positions)
    {
        for (std::int64_t line = 0; line < lines; ++line) {
            // In a later column only an earlier row can come first.
            const auto end =
                m_transposed && m_first >= 0 ? std::min(positions, m_first / m_lines - firstPosition) : positions;
            for (std::int64_t position = 0; position < end; ++position) {
                const auto value = bits[line * positions + position];
                if (magnitude(value) >= Format::infinity) {
                    note(firstLine + line, firstPosition + position, value);
                    break;
                }
            }
            if (!m_transposed && m_first >= 0) {
                return;
            }
        }
    }

    void note(std::int64_t line, std::int64_t position, Bits value)
    {
        m_first = m_transposed ? position * m_lines + line : line * m_length + position;
        m_class = classOf(value);
    }

    std::int64_t m_lines;
    std::int64_t m_length;
    bool m_transposed;
    Bits m_subnormalBelow;
    ScanSums m_sums;
    double m_trace = 0;
    std::int64_t m_first = -1;
    ValueClass m_class = ValueClass::normal;
};

} // namespace nanscope::tensorfile
