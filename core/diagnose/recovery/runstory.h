// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/diagnose/recovery/failuretimeline.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// What the logs of a run tell, in clauses with their places: the first value that is not finite, what a guard left
/// out, dumps that are named and not there, and how the run ended. "loss is NaN at step 21 (train.log:121), and no
/// number after it; died after step 30: RuntimeError: ... (train.log:140)".
std::string failureText(const RunData& run, const FailureTimeline& timeline);

/// The same of every log by itself, with the log as its source: where a folder holds several, they may be of several
/// runs. Logs of the ranks and of the attempts of one run are one. Empty where there is one log only.
std::vector<EvidenceLine> logStories(const RunData& run, const FailureTimeline& timeline);

} // namespace nanscope::diagnose
