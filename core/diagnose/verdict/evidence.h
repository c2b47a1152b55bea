// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/verdict/considered.h"
#include "core/diagnose/verdict/rules.h"
#include "core/model/fwd.h"

namespace nanscope::diagnose::verdict {

/// Writes the lines that speak for and against a decision, what a capture can never show, and what to try next.
void collectEvidence(CaptureVerdict& verdict, const Considered& c, const Decision& decision);

} // namespace nanscope::diagnose::verdict
