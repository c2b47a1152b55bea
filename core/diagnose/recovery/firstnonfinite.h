// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/diagnose/recovery/logend.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// A logged value that is not finite.
struct NonFiniteValue
{
    const Series* series = nullptr;
    const Point* point = nullptr;
    std::int64_t count = 0; ///< values of that series that are not finite, those that were not read among them
    std::int64_t total = 0;
};

/// The first one over every series that is looked at: of one log by lines, of several by steps. Losses and gradient
/// norm count wherever they are not finite; any other series from where it is no longer finite to its end, since many
/// of them hold NaN where nothing was measured. Times and rates never count. Points into the run.
std::optional<NonFiniteValue> firstNonFinite(const RunData& run, const SourceFilter& isLookedAt);
/// The same of the loss alone.
std::optional<NonFiniteValue> firstNonFiniteLoss(const RunData& run, const SourceFilter& isLookedAt);

/// The same of one series with its points. None where it does not count, or its values came back.
const Point* firstNonFiniteOf(const Series& series);

/// "grad_norm is Inf at step 780 (train.log:781)"
std::string textOf(const NonFiniteValue& value);

} // namespace nanscope::diagnose
