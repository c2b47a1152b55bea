// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/verdict.h"

namespace nanscope::diagnose::verdict {

/// What the rules say of a call.
struct Decision
{
    RuleId rule = RuleId::tooLittleToCompare; ///< that spoke last
    RuleId first = RuleId::tooLittleToCompare; ///< before it was refined
    Blame blame = Blame::undecided;
    Blame firstBlame = Blame::undecided;
    bool marginal = false;
    Role role = Role::birth;
};

} // namespace nanscope::diagnose::verdict
