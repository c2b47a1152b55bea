// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/verdict/considered.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose::verdict {

struct Decision
{
    RuleId rule = RuleId::tooLittleToCompare; ///< that spoke last
    RuleId first = RuleId::tooLittleToCompare; ///< before it was refined
    Blame blame = Blame::undecided;
    Blame firstBlame = Blame::undecided;
    bool marginal = false;
    Role role = Role::birth;
};

/// The verdict on a call that was replayed: the first rule that holds, refined. No text and no file is read.
Decision decide(const Considered& considered);

/// Draws the verdict of `verdict.facts` again, with its words; triage's own verdicts stay as they are.
void judgeAgain(CaptureVerdict& verdict);

} // namespace nanscope::diagnose::verdict
