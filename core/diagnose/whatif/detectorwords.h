// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a replay of the NaN detector says, sentence by sentence: the same on a terminal and in the window.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/diagnose/whatif/answerfact.h"
#include "core/diagnose/whatif/detectorreplay.h"

namespace nanscope::diagnose {

/// "action=warn, max_consecutive=5".
std::string detectorSettings(const DetectorQuestion& question);

/// "console.log, ranks 0-1, process 1 of 2, steps 0-11".
std::string detectorTitle(const DetectorReplay& replay);

/// "stops at step 10", "never stops: no row is long enough".
std::string detectorAnswer(const DetectorReplay& replay);

/// The answer and all that it rests on; the first one is the answer.
std::vector<AnswerFact> detectorFacts(const DetectorReplay& replay);

/// False where every loss was finite: there is nothing to tell then.
bool detectorSpeaks(const DetectorReplay& replay);

/// "every loss in 2 logs is finite: no setting would have stopped this run", where that is so of all of them; else
/// empty.
std::string detectorSilence(std::span<const DetectorReplay> replays);

/// Why there is no replay of this run.
std::string nothingToReplay(const RunData& run);

/// "37-39, 150, …"
std::string stepRanges(const std::vector<std::int64_t>& steps);

} // namespace nanscope::diagnose
