// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/replay/variants/variant.h"

namespace nanscope::replay {

/// The largest value that the iterate can have on entry of each step where it starts anywhere in (0, 1].
std::vector<double> largestOnEntry(std::span<const Coefficients> steps);

/// By how much the iterate may exceed its theoretical maximum on entry of the tightest step before the schedule
/// diverges, in per cent: 5.5 for gns-gram, 1.1 for polar-express, 0.0005 for emerging-cans (newton_schulz
/// section 1.7).
double slackOfSchedule(std::span<const Coefficients> steps);

} // namespace nanscope::replay
