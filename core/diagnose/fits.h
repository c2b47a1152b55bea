// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/diagnose/element.h"
#include "core/replay/spectrum.h"

namespace nanscope {

/// Relative Frobenius distances between a captured output and a replayed one, over the positions where the captured
/// one is finite. Infinite where the replay itself is not finite.
struct Fits
{
    double plain = std::numeric_limits<double>::infinity();
    double typical =
        std::numeric_limits<double>::infinity(); ///< of the median tile: blind to damage of fewer than half
    double signal = std::numeric_limits<double>::infinity(); ///< along the given singular directions only
};

/// `reference` is row-major like the element.
Fits fitsOf(const Element& element, const std::vector<double>& reference, const std::vector<SingularDirection>& signal);

/// Relative error of the tile that fits worst, and where it starts.
double worstTile(const Element& element, const std::vector<double>& reference, std::int64_t& row, std::int64_t& col);

} // namespace nanscope
