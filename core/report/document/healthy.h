// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/verdict.h"

namespace nanscope::report {

/// A control: finite in and out, and nothing about it is suspect. A finite output that is not what the variants give
/// has that role, too, but is of another kind.
inline bool isHealthy(const CaptureVerdict& verdict)
{
    return verdict.role == Role::healthy && verdict.blame == Blame::undecided
        && (verdict.rule == RuleId::fits || verdict.rule == RuleId::fitsInPart || verdict.rule == RuleId::zeroInZeroOut
            || verdict.rule == RuleId::tooLittleToCompare);
}

} // namespace nanscope::report
