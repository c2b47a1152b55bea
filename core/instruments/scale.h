// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/instruments/measurement.h"

namespace nanscope::instruments {

/// Newton-Schulz does not depend on the scale of its input, until its number format does. Between which scales does the
/// watched matrix end as it does at its own?
struct ScaleRequest
{
    /// What the scaled doubles are rounded to before they are handed over. None: to nothing, which only a cell takes.
    std::optional<DType> roundedTo;
    double precision = 1e-5; ///< relative, of an edge
    int coarse = 12; ///< calls that look for edges
    int perEdge = 16; ///< calls that narrow one edge
};

struct ScalePoint
{
    double scale = 1;
    std::optional<Outcome> outcome; ///< none: there was no output
};

/// Two scales between which the outcome changes.
struct ScaleEdge
{
    Outcome inside = Outcome::finite; ///< on the side of the capture's own scale
    Outcome outside = Outcome::finite;
    double lastInside = 1;
    double firstOutside = 1;
    double absmax = 0; ///< of what was handed over at firstOutside
    double frobenius = 0;
    bool up = true; ///< firstOutside > 1
    double width() const; ///< |firstOutside / lastInside - 1|
    double headroom() const; ///< binades from the capture's own scale to the edge
};

struct ScaleAnswer
{
    std::int64_t batch = 0;
    double absmax = 0; ///< of the matrix as it was captured
    double frobenius = 0;
    std::optional<DType> roundedTo;
    double lowest = 1; ///< scales that were looked at: beyond them no number of the input's type lies
    double highest = 1;
    std::vector<ScalePoint> points; ///< ascending, the coarse ones only
    std::vector<ScaleEdge> edges; ///< from the capture's own scale outwards, downwards first
};

/// Fails for a matrix that is zero or not finite.
Result<ScaleAnswer> bisectScale(Measurement& measurement, const ScaleRequest& request);

/// Rounding moves a norm by less than this beside where arithmetic puts it.
constexpr double closedFormWidth = 1e-3;

/// Of the places between the two scales of an edge the nearest, in words; empty where no format explains it. `epsilon`
/// is what was added to the norm, where that is known.
std::string_view closedFormOf(const ScaleEdge& edge, std::optional<double> epsilon);

} // namespace nanscope::instruments
