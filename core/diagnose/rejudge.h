// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::diagnose {

/// A member of the plausible set that may be ticked or not.
struct Tick
{
    std::string name; ///< as in --ran: "VARIANT" in its own format, "VARIANT:PRECISION" where that leaves a doubt
    std::string variant;
    std::string precision;
    std::optional<double> fit; ///< where the output was compared
    std::vector<std::size_t> members; ///< of CaptureVerdict::members; none for a finite output, which takes no envelope
};

/// One tick per member that was replayed, in the order of the members; empty where no rule was asked.
std::vector<Tick> ticksOf(const CaptureVerdict& judged, const replay::Catalogue& catalogue);

/// Among the ticks: no code but the function's ran and it takes nothing but its input, the word that a sidecar's
/// "nothing_else" or --nothing-else gives as well.
constexpr std::string_view nothingElse = "nothing-else";
/// The opposite, as --other-code says it; where both are ticked it counts.
constexpr std::string_view otherCode = "other-code";

/// True if its first half answers the question of this verdict.
bool asksWhatElseRan(const CaptureVerdict& judged);
/// True if its second half does: the same bits ended in two ways.
bool asksWhatElseIsTaken(const CaptureVerdict& judged);

/// The verdict over what is still ticked, from the replays that were done: the same rules, and no new replay. All
/// ticks give the verdict as it is, unless nothingElse or otherCode is among them, and so does none, which says
/// nothing. A tick that leaves out the format stands for every format that was replayed. Fails with what to do where a
/// tick was not replayed.
///
/// A tick is the user's word like --ran, with one difference: an output that matches no known variant stays so until a
/// single one is left, because saying what did not run does not make an unknown function known.
Result<CaptureVerdict> rejudge(
    const CaptureVerdict& judged, const std::vector<std::string>& ticked, const replay::Catalogue& catalogue);

/// The verdict over what the user said ran of this capture. As it is where nothing was said, or where the replays that
/// were done cannot tell it.
CaptureVerdict withAnswers(CaptureVerdict judged, const Observations& observed, const replay::Catalogue& catalogue);

/// Fails with one sentence where these words of --ran name nothing that can run.
Result<void> checkRan(const std::string& ran, const replay::Catalogue& catalogue);

/// Leaves of each answer whether other code ran, and drops what is left without a word.
void dropVariants(std::vector<KeptAnswer>& answers);

/// What is said of one capture, said of the others that ask the same of the same function: each keeps of the ticks what
/// it has, and is left out where that is nothing. Captures that were answered already keep their answers.
std::vector<KeptAnswer> answersAlike(const std::vector<CaptureVerdict>& captures, const KeptAnswer& said,
    const std::vector<KeptAnswer>& kept, const replay::Catalogue& catalogue);

/// One answer to the deciding question: the ticks that stay.
struct Answer
{
    enum class Kind {
        castsFirst,
        normalizesFirst,
        oneOf,
        nothingElse,
        otherCode,
        inputAlone,
        takesMore,
        noEpsilon, ///< its ticks are still to be replayed
        otherSteps ///< the same
    } kind = Kind::oneOf;
    bool numbers = false; ///< what stays can end like the dump
    std::string precision; ///< castsFirst: the format it casts to
    std::vector<std::string> ticks;
};

/// The answers to the question of an undecided verdict; empty where it cannot be answered with ticks.
std::vector<Answer> answersOf(const CaptureVerdict& judged, const replay::Catalogue& catalogue);

/// The question of a verdict without the options of the command line that answer it.
std::string questionAlone(const CaptureVerdict& judged);

/// True if naming the function answers the question: not where a sidecar names it.
bool asksWhatRan(const CaptureVerdict& judged);

/// True if saying with which epsilon the function ran answers the question.
bool asksEpsilon(const CaptureVerdict& judged);

/// What is to be changed where the captured call made again answers the question: the id of an experiment, or nothing
/// for a call as it ran. None where no such call answers it.
std::optional<std::string_view> callThatAnswers(const CaptureVerdict& judged);

} // namespace nanscope::diagnose
