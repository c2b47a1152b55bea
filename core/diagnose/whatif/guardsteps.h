// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/diagnose/whatif/guardwhatif.h"

namespace nanscope::diagnose {

/// "160x96 bf16": what a capture shows of the shape group it belongs to.
std::string shapeGroupOf(const Capture& capture);

/// The ranks that logs and captures name, or as many as the user says.
std::vector<int> knownRanks(const RunData& run, const GuardQuestion& question);

/// Everything but the outcomes. A rank without a dump was finite where its process dumped later, and is unknown else.
std::vector<GuardStep> guardSteps(const RunData& run, const std::vector<int>& ranks);

/// A line shows that the capture raised: the other ranks were cut off then, and their silence says nothing.
bool raisedByCapture(const RunData& run);

} // namespace nanscope::diagnose
