// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The words of a decision. Nothing reads them again: what decides is in Facts.
#pragma once

#include <string>

#include "core/diagnose/verdict/considered.h"
#include "core/diagnose/verdict/rules.h"
#include "core/diagnose/verdict/words.h"
#include "core/model/fwd.h"

namespace nanscope::diagnose::verdict {

/// "the same process", "rank 1"
std::string duplicateName(const DuplicateInput& duplicate);

/// " (nearest: gns-gram, 34 % off)", empty where nothing was compared
std::string nearestText(const Identification& id);

Words explain(const Considered& c, const Decision& decision);

/// Writes the lines that speak for and against a decision, what a capture can never show, and what to try next.
void collectEvidence(CaptureVerdict& verdict, const Considered& c, const Decision& decision);

} // namespace nanscope::diagnose::verdict
