// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/diagnose/element.h"
#include "core/model/model.h"
#include "core/replay/replay.h"

namespace nanscope {

struct ElementFit
{
    Identification identification;
    bool compared = false; ///< false: too little of the output is finite, or the input is zero or damaged
    bool localDamage = false; ///< most tiles fit, some do not
    bool signalOnly = false; ///< only the directions that carry signal fit: a low-rank input
};

Result<ElementFit> identifyElement(
    const Element& element, std::optional<double> epsilon, Device& device, const CancelToken& cancel);

/// Relative error of the tile that fits worst, and where it starts.
double worstTile(const Element& element, const std::vector<double>& reference, std::int64_t& row, std::int64_t& col);

} // namespace nanscope
