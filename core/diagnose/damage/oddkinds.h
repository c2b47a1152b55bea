// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What finite values that no replay gives may be besides a fault: the user's own mask, or term.
#pragma once

#include <vector>

#include "core/diagnose/damage/region.h"
#include "core/diagnose/identify/element.h"

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

} // namespace nanscope::diagnose
