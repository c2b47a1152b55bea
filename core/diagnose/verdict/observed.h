// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What was tried with the run, and calls that were made again, as lines of evidence. An outcome is the word of whoever
// ran the experiment; none of these lines decides anything.
#pragma once

#include "core/diagnose/verdict/considered.h"
#include "core/diagnose/verdict/decision.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose::verdict {

/// Lines for what the user tried, of the experiments that `verdict` suggests.
void addExperiments(CaptureVerdict& verdict, const Considered& c);

/// Lines for the captured call made again: k of n went wrong.
void addCallsAgain(CaptureVerdict& verdict, const Facts& facts, const Decision& decision);

} // namespace nanscope::diagnose::verdict
