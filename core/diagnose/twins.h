// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Calls that were given the same bits. Where one of them came out finite, the numbers did not do the other.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/diagnose/captureindex.h"
#include "core/model/model.h"

namespace nanscope {

/// CaptureVerdict::kind of a call whose bits once came out well; undecided where it may have been given more than them.
constexpr std::string_view otherOutputKind = "the same input, another output";

/// A finite output for the very input of a damaged one.
struct Twin
{
    const Capture* clean = nullptr;
    bool sameProcess = false; ///< else of another rank
    bool inputAlone = false; ///< the damaged call took nothing but its input
};

/// Could these two have been given the same bits? By formats and the counts of their scans alone.
bool sameInputCounts(const Capture& a, const Capture& b);
bool maybeTwins(const Capture& damaged, const Capture& clean);

/// Compares the bits of those that could be one. A capture of the same rank and another process is none: that attempt
/// may have run something else. Where the verdict is on a finite output, one that is the same where this one is wrong
/// is none either: it ended no better.
std::optional<Twin> twinOf(const CaptureVerdict& verdict, const Capture& damaged, const CaptureIndex& captures);

/// `ran` are the variants that the clean output fits, none where it fits nothing. What a twin makes of the verdict on
/// the damaged one: `nondeterministic` within one process; across ranks a line, and the question which of kernel,
/// launch order or machine it was. A question where weights, moments or a coefficient may have differed.
void letTwinSpeak(CaptureVerdict& verdict, const Twin& twin, const std::vector<std::string>& ran);

/// What the twin of `before`, if it had one, makes of the same capture judged again over what is said to have run.
void letTwinSpeakAgain(CaptureVerdict& verdict, const CaptureVerdict& before);

/// A rank that was wrong twice where another was right is the machine.
void blameRanks(std::vector<CaptureVerdict>& verdicts, const CaptureIndex& captures);

} // namespace nanscope
