// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Finite, and wrong whatever roundings do: for inputs of which roundings of one function end so far apart that an
// output cannot be held against a replay value by value.
#pragma once

#include <vector>

#include "core/diagnose/damage/region.h"
#include "core/diagnose/identify/element.h"
#include "core/model/facts.h"

namespace nanscope::diagnose {

struct OddBits
{
    Leftover leftover = Leftover::none;
    Region region; ///< around all that hold it: tiles of 16 x 16, or of 8 x 8 where they stand elsewhere, too
    std::int64_t otherRow = 0; ///< Leftover::elsewhere: where the first of them stands, too
    std::int64_t otherCol = 0;
};

/// Tiles of a finite output, in this part of it, that hold zeros, the input, or another tile of the output, bit for
/// bit, where `replay`, row by row like the element, does not.
OddBits findOddBits(const Element& element, ValueView replay, const Region& part);

} // namespace nanscope::diagnose
