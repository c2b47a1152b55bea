// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/cell.h"
#include "core/model/experiment.h"
#include "core/model/facts.h"
#include "core/model/finding.h"

namespace nanscope {

/// Answer to "whose fault". A wrong accusation is worse than none.
enum class Blame { undecided, upstream, downstream, numerics, implementation, nondeterministic, machine };

std::string_view name(Blame blame);
std::optional<Blame> parseBlame(std::string_view name);

/// The capture gives it in its sidecar, its dict or its name; the console by the lines around the one that names it.
enum class StepSource { capture, console, mtime, unknown };
std::string_view name(StepSource source);

/// Where in a replay a value can have gone bad.
struct SpreadPlace
{
    std::string variant;
    int iteration = 0;
    OpName op = OpName::input;
    bool mirrored = false; ///< by a kernel that computes one triangle and writes it twice
    bool operator==(const SpreadPlace&) const = default;
};

/// The rule that a verdict is by; core/diagnose/verdict/rules.cpp has the table. Stored by their names.
enum class RuleId {
    unjudged, ///< no rule was asked: not readable, too large, a part of a tensor
    noOutput, ///< an input alone
    callRaised, ///< the same, because the function raised an exception
    inputMayBeResult,
    damagedInput,
    contaminated,
    duplicateMayHaveOtherState,
    duplicateOfTheProcess,
    duplicateOnAnotherRank,
    calledAgainFinite,
    nothingToCompare,
    damageOnZeros,
    nameContradicted,
    dependsOnEpsilon,
    dependsOnFunction,
    castOverflows,
    replaysEndAlike,
    zeroInAllBadOut,
    matricesTakenTogether,
    zeroInSomethingOut,
    noKnownVariant,
    functionUnknown,
    lostAmongLargest,
    normMayVanish,
    edgeInOnePlace,
    atTheEdge,
    failsWithoutKernels,
    withoutMargin,
    someReplaysFail,
    inputMayBeLate,
    codeBesides,
    noReplayEndsLikeThis,
    somethingForNothing,
    zeroInFiniteOut,
    zeroInZeroOut,
    allZero,
    allZeroOfSome,
    allZeroOfAll,
    outputOfEarlierCall,
    staleOutput,
    unlikeItsControl,
    wrongBesideItsControl,
    finiteOfNoKnownVariant,
    notWhatWasSaid,
    offUnlessAnotherForm,
    zeroInPlaces,
    offByTermOrFactor,
    offInPlaces,
    finiteCorruption,
    fitsInPart,
    fits,
    tooLittleToCompare,
    hardwareErrorLogged,
    rankWrongAgain,
    cameAgainWithoutTheCast,
    movesWithTheCard,
};

inline constexpr RuleId lastRule = RuleId::movesWithTheCard;

/// "no-replay-ends-like-this"
std::string_view name(RuleId rule);

/// The judgement of one capture.
struct CaptureVerdict
{
    std::int64_t captureId = 0;
    std::string capture; ///< its name
    Role role = Role::birth; ///< that of the facts, but for a finite output that was found wrong
    std::optional<int> rank;
    std::optional<std::pair<std::int64_t, std::int64_t>> step; ///< between the lines of these two steps
    StepSource stepSource = StepSource::unknown;
    Facts facts; ///< what all that follows is drawn from, but for the places below
    RuleId rule = RuleId::unjudged;
    Blame blame = Blame::undecided;
    bool marginal = false;
    std::string kind; ///< finer than blame: "kernel or launch order", "finite corruption", ...
    std::string summary; ///< one sentence
    std::string question; ///< for undecided: what would decide it, else empty
    Identification variant; ///< what is taken to have run, with the user's answers
    std::vector<MemberResult> members; ///< those of the facts that the answers leave
    std::vector<EvidenceLine> speaksFor;
    std::vector<EvidenceLine> speaksAgainst;
    std::vector<EvidenceLine> notTestable;
    std::vector<Experiment> next; ///< most informative first
    std::string causedBy; ///< downstream: name of the birth it descends from
    std::string layer {}; ///< "rank 3, element 0: one of 6 mlp.fc2 [512,1408]"; empty where no parameters are known
    std::vector<std::string> layerCandidates {}; ///< parameters it may be, the likeliest first
    std::vector<SpreadPlace> origins {}; ///< a tile gone bad there ends with exactly this pattern
    int originsTried = 0; ///< places tried, 0 where none were
    int originVariants = 0; ///< whose places these are; 0 also in sessions of before
    std::string unread {}; ///< one sentence: why its file could not be judged; empty where it was
};

/// Captures that one cause can have damaged.
struct Cluster
{
    std::string text; ///< "3 births: rank 0, steps 5-7, [512,1408], rows 32-63"
    std::vector<std::string> captures; ///< names, in order of update and call
};

struct Triage
{
    int captures = 0;
    int births = 0;
    int upstream = 0;
    int downstream = 0;
    int padding = 0;
};

struct Diagnosis
{
    std::string run;
    Triage triage;
    std::string stopped {}; ///< why not all captures were judged: "cancelled", "the time limit of 60 s"; empty if all
    std::string replayedOn {}; ///< "torch 2.11.0, cuda:0 (..)"; empty for core's own CPU device
    std::vector<EvidenceLine> logs {}; ///< what each log tells, where they are several and no captures are there
    std::string headline; ///< "25 captures, 1 birth: rank 0, between the log lines of steps 5 and 6"
    std::vector<CaptureVerdict> captures; ///< births first, then in order of update and call
    std::vector<Cluster> clusters; ///< of births; none where there are fewer than two births
    std::vector<Finding> findings;
    std::vector<AdvisoryMatch> advisories;
    std::optional<Rollback> rollback; ///< none where nothing went wrong, or no checkpoint is known
    Observations observed; ///< what withObservations() has put into the verdicts
};

} // namespace nanscope
