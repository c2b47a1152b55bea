// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Calls that were given the same bits. Where one of them came out finite, the numbers did not do the other.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/diagnose/identify/captureindex.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::diagnose {

/// Could the two be one call with the same bits, made by the same code? By formats and the counts of their scans alone.
bool maybeTwins(const Capture& damaged, const Capture& clean);

/// A call with the very input of a damaged one that came out finite; null where there is none. Compares the bits of
/// those that could be one. A capture of the same rank and another process is none: that attempt may have run something
/// else. Where the verdict is on a finite output, one that is the same where this one is wrong is none either: it ended
/// no better.
const Capture* cleanCallOf(const CaptureVerdict& verdict, const Capture& damaged, const CaptureIndex& captures);

/// `fits` are the variants that the output of the clean call fits, none where it fits nothing.
DuplicateInput describeDuplicate(const Capture& damaged, const Capture& clean, std::vector<std::string> fits,
    const std::vector<MemberResult>& members, const replay::Catalogue& catalogue);

/// Counts for each rank how often it was damaged where another was right on the same bits, and judges again those of
/// the only rank that was so more than once.
void countWrongRanks(std::vector<CaptureVerdict>& verdicts, const CaptureIndex& captures);

} // namespace nanscope::diagnose
