// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/verdict/decide.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose::verdict {

/// Writes the lines that speak for and against a decision, what a capture can never show, and what to try next.
void collectEvidence(CaptureVerdict& verdict, const Considered& c, const Decision& decision);

/// Lines for what the user tried, of the experiments that `verdict` suggests.
void addExperiments(CaptureVerdict& verdict, const Considered& c);

/// Lines for the captured call made again: k of n went wrong.
void addCallsAgain(CaptureVerdict& verdict, const Facts& facts, const Decision& decision);

} // namespace nanscope::diagnose::verdict
