// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace nanscope {

enum class ValueClass : std::uint8_t { normal, zero, subnormal, nan, posInf, negInf };

/// "nan", "inf" and "-inf" for the non-finite classes, as in every JSON answer.
std::string_view name(ValueClass value);

/// Facts about one matrix (rows x cols, one batch element), gathered in a single pass.
/// Counts are of elements; magnitudes are over the finite ones only.
struct Scan
{
    std::int64_t count = 0;
    std::int64_t nan = 0;
    std::int64_t posInf = 0;
    std::int64_t negInf = 0;
    std::int64_t zero = 0;
    std::int64_t subnormal = 0; ///< in the format the data is held in
    double absmax = 0; ///< 0 when nothing is finite
    double minNonzero = 0; ///< smallest non-zero finite magnitude, 0 when there is none
    double sumSquares = 0; ///< accumulated in fp64
    double trace = 0; ///< sum of the finite diagonal elements
    std::int64_t firstNonFinite = -1; ///< row-major in the capture's own orientation, -1 when all are finite
    ValueClass firstClass = ValueClass::normal;

    std::int64_t nonFinite() const { return nan + posInf + negInf; }
    bool finite() const { return nonFinite() == 0; }
    bool allZero() const { return count > 0 && zero == count; }
    bool operator==(const Scan&) const = default;
};

/// Adds the facts of `part` to those of `whole`. `first` is where the first non-finite value of the part lies in the
/// whole, -1 where it has none; the smaller of both stays. The trace is left
/// out: diagonals of parts are not that of the whole.
void addScan(Scan& whole, const Scan& part, std::int64_t first);

/// Bits of TileMap::classes: which kinds of value a tile holds.
enum ClassBit : std::uint8_t {
    classNormal = 1,
    classZero = 2,
    classSubnormal = 4,
    classNan = 8,
    classPosInf = 16,
    classNegInf = 32,
};

/// A matrix reduced to at most 256 x 256 tiles that keep the extreme and the non-finite of what they cover.
/// Arrays are row-major, height x width; absmax is the larger of |min| and |max|, and a tile without a finite value has
/// all three 0.
struct TileMap
{
    std::int64_t rows = 0; ///< of the matrix
    std::int64_t cols = 0;
    std::int64_t tileRows = 1; ///< elements per tile; the last row and column of tiles may cover fewer
    std::int64_t tileCols = 1;
    std::int32_t height = 0;
    std::int32_t width = 0;
    std::vector<float> min;
    std::vector<float> max;
    std::vector<float> absmax;
    std::vector<std::uint8_t> classes;
    bool operator==(const TileMap&) const = default;
};

constexpr std::int32_t maxTiles = 256;

} // namespace nanscope
