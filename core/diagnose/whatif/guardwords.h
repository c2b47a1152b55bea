// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the what-if of guards says, sentence by sentence: the same on a terminal and in the window.
#pragma once

#include <string>
#include <vector>

#include "core/diagnose/whatif/answerfact.h"
#include "core/diagnose/whatif/guardwhatif.h"

namespace nanscope::diagnose {

/// It went bad by itself; the others by contamination.
bool isCause(const GuardStep& step);

/// "1 update went bad by itself, 12 by contamination", or that none did.
std::string guardHeadline(const GuardWhatIf& whatIf);

/// "160x96 bf16, after the line of step 5, before that of step 6".
std::string guardStepTitle(const GuardStep& step);

/// "drift: only rank 0 skips", "all skip".
std::string guardOutcome(const GuardStep& step, const GuardOutcome& outcome);

/// What each rank's call returned, and what shows it.
std::vector<AnswerFact> guardRanks(const GuardStep& step);

/// What comes of it: drift, torn tensors, what a skip leaves changed, what was applied all the same.
std::vector<AnswerFact> guardAfter(const GuardStep& step);

/// Updates that only an earlier one made bad, by shape group.
std::vector<AnswerFact> guardContaminated(const GuardWhatIf& whatIf);

/// Each layout with what it is or what rules it out, and what the logs say for one or the other.
std::vector<AnswerFact> guardLayouts(const GuardWhatIf& whatIf);

/// Several layouts are possible, and neither captures nor logs tell which it is.
bool asksForLayout(const GuardWhatIf& whatIf);

/// What the three guards are.
std::vector<AnswerFact> guardScopes();

/// What no guard could have helped, and what the captures cannot show.
std::vector<AnswerFact> guardNoteFacts(const GuardWhatIf& whatIf);

/// Why there is no such what-if without captures.
std::string noCaptureToGuard();

} // namespace nanscope::diagnose
