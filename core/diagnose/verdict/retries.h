// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The captured call made again: k of n calls went wrong, and what chance has to do with it. A count is the word of
// whoever made the calls.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/model.h"

namespace nanscope::diagnose {

/// At 95 % confidence fewer than this share of calls fails where none of `calls` did: 3 / n ("rule of three": Hanley
/// and Lippman-Hand, JAMA 1983).
double mostThatFail(std::int64_t calls);

/// At 95 % confidence more than this share of calls fails where all of `calls` did: 0.05^(1/n), the exact bound of
/// Clopper and Pearson (Biometrika 1934).
double fewestThatFail(std::int64_t calls);

/// How likely it is that so few or fewer of the changed calls fail, were the change without effect: Fisher's exact
/// test, one-sided (The Design of Experiments, 1935).
double chanceOfSoFew(const CallsAgain& before, const CallsAgain& changed);

/// "3 of 200 calls with the same input failed"
std::string callsText(const CallsAgain& called);

/// Every call failed on another GPU, too, as it ran: no one card did it, and no chance.
bool failsElsewhere(const CallsAgain& called);

/// At least one of the calls came out finite, as they ran and on the GPU of the capture.
bool cameOutFinite(const CallsAgain& called);

/// Every call failed with plain operations in place of the custom kernels.
bool failsWithoutKernels(const CallsAgain& called);

} // namespace nanscope::diagnose
