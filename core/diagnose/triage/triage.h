// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

/// The roles of a run's captures, from scans and events: cheap, no replay.
std::vector<CaptureVerdict> triage(const RunData& run);

/// Births first, then in order of update, and as they were: judging makes a birth of a finite output that is wrong.
void sortByRole(std::vector<CaptureVerdict>& verdicts);

/// Asks for the input before the call where what was dumped may be what the call left there: a function that works in
/// place, saved after it returned. Then input and output are one memory in the file or the same bits, or what is finite
/// of the input has the norm of what was divided by its own.
void doubtInput(
    CaptureVerdict& verdict, const tensorfile::CaptureFile& file, const Capture& scanned, const RunData& run);

/// Births that one cause can have brought about: alike in shape, pattern and verdict, and near each other, which means
/// of one process and at most a thousand updates after the one before, or of other ranks and at most two updates apart.
/// Births of different attempts of a run are of different causes, and so are those of ranks of which it is not known
/// whether they were of one attempt; the text says which. Empty where there are fewer than two births. Steps of ranks
/// are compared, clocks never.
std::vector<Cluster> clustersOf(const RunData& run, std::span<const CaptureVerdict> verdicts);

} // namespace nanscope::diagnose
