// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What finite values that no replay gives may be besides a fault: the user's own mask, or term.
#pragma once

#include <vector>

#include "core/diagnose/damage/provenance.h"
#include "core/diagnose/identify/element.h"
#include "core/model/facts.h"

namespace nanscope::diagnose {

/// True if what is wrong in this region can be a mask's doing: zeros in whole rows or columns, or here and there. A
/// tile that was never written is a rectangle of them.
bool looksMasked(const Element& element, const Region& region);

/// True if the output of this region may be the replay's with a term or a factor of the user's own. A term has nothing
/// in common with the replay there (a tile that was replaced lacks what should be in it), is no larger, and is not made
/// of other rows or columns of the result, as a wrong tile inside the iteration leaves it. A factor may differ from row
/// to row, or from column to column.
bool looksDeliberate(const Element& element, ValueView replay, const Region& region);

/// True if every damaged value is an Inf where the replay is among its largest, with its sign, or a NaN there as
/// formats without Inf have (float8_e4m3fn): a cast or a factor after the iteration that left its format.
bool endsLikeACast(const Element& element, ValueView replay);

// Finite, and wrong whatever roundings do: for inputs of which roundings of one function end so far apart that an
// output cannot be held against a replay value by value.

struct ExactLeftovers
{
    Leftover leftover = Leftover::none;
    Region region; ///< around all that hold it: tiles of 16 x 16, or of 8 x 8 where they stand elsewhere, too
    std::int64_t otherRow = 0; ///< Leftover::elsewhere: where the first of them stands, too
    std::int64_t otherCol = 0;
};

/// Tiles of a finite output, in this part of it, that hold zeros, the input, or another tile of the output, bit for
/// bit, where `replay`, row by row like the element, does not.
ExactLeftovers findExactLeftovers(const Element& element, ValueView replay, const Region& part);

} // namespace nanscope::diagnose
