// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The words of a decision. Nothing reads them again: what decides is in Facts.
#pragma once

#include <optional>
#include <string>

#include "core/diagnose/verdict/considered.h"
#include "core/diagnose/verdict/rules.h"
#include "core/model/fwd.h"

namespace nanscope::diagnose::verdict {

/// What is said of a decision.
struct Words
{
    std::string kind; ///< finer than the blame: "finite corruption"
    std::string summary; ///< one sentence
    std::string question; ///< what would decide it, else empty
    std::string command {}; ///< how the command line is told the answer; the window has buttons
};

/// "the same process", "rank 1"
std::string duplicateName(const DuplicateInput& duplicate);

/// " (nearest: gns-gram, 34 % off)", empty where nothing was compared
std::string nearestText(const Identification& id);

/// "the output is keller-jordan times 2.53, to 0.4 %"; empty where it is not known what the output is.
std::string offOutputText(const Facts& facts);

/// What ran, as --ran has it, where the output is that of a variant in another number of steps, and no sidecar, which
/// counts before --ran, names one.
std::optional<std::string> ranInOtherSteps(const Considered& c);

/// An output that is off, where it is known what it is: the question that is left, and whom nobody accuses.
std::optional<Words> wordsOfOff(const Considered& c);

Words explain(const Considered& c, const Decision& decision);

/// What is asked is whether other code touched the input or the result, or is answered by that it did.
bool asksAboutOtherCode(const Considered& c, RuleId rule);

/// What is asked is answered by yes or no: whether other code than the function touched the input or the result.
bool asksWhetherOtherCode(const Facts& facts, RuleId rule);

/// Writes the lines that speak for and against a decision, what a capture can never show, and what to try next.
void collectEvidence(CaptureVerdict& verdict, const Considered& c, const Decision& decision);

} // namespace nanscope::diagnose::verdict
