// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What replays of the NaN detector and the what-if of guards say, sentence by sentence: the same on a terminal and in
// the window. For programs the same as JSON; docs/whatif.md has its fields.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/diagnose/whatif/detectorreplay.h"
#include "core/diagnose/whatif/guardwhatif.h"

namespace nanscope::diagnose {

/// A sentence of an answer, as every face of the program says it.
struct AnswerFact
{
    std::string label; ///< what it is about; empty where it goes on with what the one before is about
    std::string text;
    std::string source {}; ///< "file:line" of what shows it, or a capture; empty where nothing does
    std::string tail {}; ///< what follows the source in the sentence
    std::optional<std::int64_t> step {}; ///< that it speaks of, as the log prints it
};

/// "action=warn, max_consecutive=5".
std::string detectorSettings(const DetectorQuestion& question);

/// "console.log, ranks 0-1, process 1 of 2, steps 0-11".
std::string detectorTitle(const DetectorReplay& replay);

/// "stops at step 10", "never stops: no row is long enough".
std::string detectorAnswer(const DetectorReplay& replay);

/// The answer and all that it rests on; the first one is the answer.
std::vector<AnswerFact> detectorFacts(const DetectorReplay& replay);

/// False where every loss was finite: there is nothing to report then.
bool detectorSpeaks(const DetectorReplay& replay);

/// "every loss in 2 logs is finite: no setting would have stopped this run", where that is so of all of them; else
/// empty.
std::string detectorSilence(std::span<const DetectorReplay> replays);

/// Why there is no replay of this run.
std::string nothingToReplay(const RunData& run);

/// "37-39, 150, …"
std::string stepRanges(const std::vector<std::int64_t>& steps);

/// It went bad by itself; the others by contamination.
bool isCause(const GuardStep& step);

/// "1 update went bad by itself, 12 by contamination", or that none did.
std::string guardHeadline(const GuardWhatIf& whatIf);

/// "160x96 bf16, between the log lines of steps 5 and 6".
std::string guardStepTitle(const GuardStep& step);

/// "drift: only rank 0 skips", "all skip".
std::string guardOutcome(const GuardStep& step, const GuardOutcome& outcome);

/// What each rank's call returned, and what shows it.
std::vector<AnswerFact> guardRanks(const GuardStep& step);

/// What comes of it: drift, torn tensors, what a skip leaves changed, what was applied all the same.
std::vector<AnswerFact> guardAfter(const GuardStep& step);

/// Updates that only an earlier one made bad, by shape group.
std::vector<AnswerFact> guardContaminated(const GuardWhatIf& whatIf);

/// Each layout with what it is or what rules it out, and what the logs say for one or the other.
std::vector<AnswerFact> guardLayouts(const GuardWhatIf& whatIf);

/// Several layouts are possible, and neither captures nor logs tell which it is.
bool asksForLayout(const GuardWhatIf& whatIf);

/// What the three guards are.
std::vector<AnswerFact> guardScopes();

/// What no guard could have helped, and what the captures cannot show.
std::vector<AnswerFact> guardNoteFacts(const GuardWhatIf& whatIf);

/// Why there is no such what-if without captures.
std::string noCaptureToGuard();

nlohmann::ordered_json detectorJson(std::span<const DetectorReplay> replays, const DetectorQuestion& question);
nlohmann::ordered_json guardJson(const GuardWhatIf& whatIf);

} // namespace nanscope::diagnose
