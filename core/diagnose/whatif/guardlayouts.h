// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/diagnose/whatif/guardwhatif.h"

namespace nanscope::diagnose {

/// Every layout, with whether the captures leave it possible. What the user says is the only one.
std::vector<GuardLayout> guardLayouts(const RunData& run, const GuardQuestion& question, std::size_t ranks);

/// Whether the damage of one rank reached the others with the results or only with the next gradients: the steps at
/// which their own losses went bad tell.
std::vector<EvidenceLine> layoutHints(const RunData& run, const GuardStep& step);

/// How many matrices a gathered stack holds, whose parts have `perRank` each: the last part may be padded.
std::pair<std::int64_t, std::int64_t> gatheredCount(std::int64_t perRank, std::int64_t ranks);

/// "(2, 160, 96)": what the guard and its warning see where a capture shows one rank's part of it.
std::string stackText(const Capture& capture, probe::Layout layout, std::int64_t ranks);

} // namespace nanscope::diagnose
