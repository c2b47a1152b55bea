// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/diagnose/identify/element.h"
#include "core/replay/engine/spectrum.h"

namespace nanscope::diagnose {

/// Relative Frobenius distances between a captured output and a replayed one, over the positions where the captured
/// one is finite. Infinite where the replay itself is not finite.
struct Fits
{
    double plain = std::numeric_limits<double>::infinity();
    double typical =
        std::numeric_limits<double>::infinity(); ///< of the median tile: blind to damage of fewer than half
    double signal = std::numeric_limits<double>::infinity(); ///< along the given singular directions only
    double exact = 0; ///< share of those positions where both are the same number in the format of the output
};

/// `reference` is row-major like the element.
Fits fitsOf(const Element& element, ValueView reference, const std::vector<replay::SingularDirection>& signal);

/// What a replay gives, in the format that the output was rounded to; as it is where that is another than ours.
Values inFormatOf(const Element& element, ValueView replay);
double inFormatOf(const Element& element, double replay);

/// Sums of squares of one tile, over the positions where the captured output is finite.
struct TileError
{
    double difference = 0;
    double reference = 0;

    /// Relative; a tile that should hold next to nothing is held against `floor` of its own kind.
    double relative(double floor = 0) const;
};

/// Square tiles, row by row; those at the edges may be smaller.
struct TileErrors
{
    static constexpr std::int64_t side = 16;
    std::int64_t across = 0;
    std::vector<TileError> tiles;

    std::int64_t rowOf(std::size_t tile) const { return static_cast<std::int64_t>(tile) / across * side; }
    std::int64_t colOf(std::size_t tile) const { return static_cast<std::int64_t>(tile) % across * side; }
};

TileErrors tileErrors(const Element& element, ValueView reference);

} // namespace nanscope::diagnose
