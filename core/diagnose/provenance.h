// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Values that recur from elsewhere: a tile of an output that holds the input, another matrix of the batch, an earlier
// dump or a neighbouring tile was read or written in the wrong place, or never written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/element.h"
#include "core/diagnose/oddtiles.h"
#include "core/model/model.h"

namespace nanscope {

/// "every value in it is zero", "it holds the input, bit for bit", "it is also at [0, 64] of the same output"; empty
/// where the values are new.
std::string recursInside(const Element& element, const OddBox& region);

/// The same for another matrix of the same size: "the output of element 1", as `what` names it.
std::string recursIn(
    const Element& element, const OddBox& region, const std::vector<double>& other, const std::string& what);

/// The output is the input: nothing was computed, or it was written elsewhere.
bool isCopyOfInput(const Element& element);

} // namespace nanscope
