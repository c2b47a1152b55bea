// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/instruments/scale.h"

namespace nanscope::instruments {

/// Where a number format ends, as one value of the scaled matrix meets it.
struct FormatPlace
{
    bool ofNorm = false; ///< the value is of the Frobenius norm, else of the largest element
    double value = 0;
    std::string_view words; ///< "the norm rounds to Inf in fp16"
};

std::span<const FormatPlace> formatPlaces();

/// Rounding moves a norm by less than this beside where arithmetic puts it.
constexpr double closedFormWidth = 1e-3;

/// Of the places between the two scales of an edge the nearest, in words; empty where no format explains it. `epsilon`
/// is what was added to the norm, where that is known.
std::string_view closedFormOf(const ScaleEdge& edge, std::optional<double> epsilon);

} // namespace nanscope::instruments
