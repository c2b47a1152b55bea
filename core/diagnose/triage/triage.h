// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/model/model.h"

namespace nanscope::diagnose {

/// The roles of a run's captures, from scans and events: cheap, no replay.
std::vector<CaptureVerdict> triage(const RunData& run);

} // namespace nanscope::diagnose
