// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The captured call made again: k of n calls went wrong, and what that says of the verdict. A count is the word of
// whoever made the calls. One call alone, from cold, meets no race with what ran beside it in the training: that
// none of n went wrong lowers nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model.h"

namespace nanscope {

/// Fails with one sentence where a count cannot be: no calls, more failures than calls, an unknown experiment.
Result<void> check(const CallsAgain& called);

/// At 95 % confidence fewer than this share of calls fails where none of `calls` did: 3 / n ("rule of three": Hanley
/// and Lippman-Hand, JAMA 1983).
double mostThatFail(std::int64_t calls);

/// At 95 % confidence more than this share of calls fails where all of `calls` did: 0.05^(1/n), the exact bound of
/// Clopper and Pearson (Biometrika 1934).
double fewestThatFail(std::int64_t calls);

/// How likely it is that so few or fewer of the changed calls fail, were the change without effect: Fisher's exact
/// test, one-sided (The Design of Experiments, 1935).
double chanceOfSoFew(const CallsAgain& before, const CallsAgain& changed);

/// The verdict with what was counted of its capture. None of n changes nothing. Some but not all of n, on the GPU it
/// ran on, make an `implementation` that the numbers cannot explain `nondeterministic`; of any other verdict they are a
/// line. All of n call nothing but a chance into doubt. A changed setting is held against the calls as they ran, and is
/// a line only where chance explains the difference in less than 1 of 20 cases.
CaptureVerdict withRetries(CaptureVerdict verdict, const std::vector<CallsAgain>& called);

} // namespace nanscope
