// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// Logs that repeat another one, as a tee writes them: one without metrics of its own in the same folder or below it,
/// whose events are all in the other one, in the same order and of the same ranks. Logs whose names differ in numbers
/// only are of several attempts or tasks, and none repeats another. The views point into the run.
std::set<std::string_view> repeatingLogs(const RunData& run);

/// The events of a run without those of such logs: what one line says counts once. Points into the run.
std::vector<const Event*> eventsOnce(const RunData& run);

} // namespace nanscope::diagnose
