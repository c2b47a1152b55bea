// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Finding cards: what runs go wrong with, each looked for on the evidence at hand. A new finding is one card: an entry
// in the table of its theme and one function from the summary of a run to an outcome. A card states facts and
// what to try, never whose fault it is; where the data cannot show something it says what is missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnose/findings/spikerules.h"
#include "core/diagnose/recovery/failuretimeline.h"
#include "core/diagnose/recovery/trace.h"
#include "core/model/finding.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose::cards {

/// What every card looks at, put together once.
struct RunSummary
{
    const RunData& run;
    const std::vector<CaptureVerdict>& verdicts;
    const SpikeRule& spikeRule;
    Trace loss;
    Trace gradNorm;
    Trace lossScale;
    Trace lr;
    FailureTimeline timeline;
    std::vector<const Event*> events; ///< of the run, without those that a tee wrote twice
};

RunSummary runSummaryOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts, const SpikeRule& spikeRule);

using Evidence = Finding::Evidence;

enum class Confidence { low, medium, high };

struct CardOutcome
{
    FindingState state = FindingState::notCheckable;
    std::string reason; ///< one sentence, without a capital and a stop
    std::optional<Confidence> confidence;
    std::vector<Evidence> evidence;
    std::optional<std::int64_t> step;
    std::optional<int> rank;
    std::vector<std::string> advice; ///< for this case; said before the card's own
    std::string threshold; ///< where the rule was chosen, else the card's own
};

CardOutcome fired(Confidence confidence, std::string reason, std::vector<Evidence> evidence);
CardOutcome clear(std::string reason);
CardOutcome notCheckable(std::string reason);
CardOutcome at(CardOutcome outcome, std::optional<std::int64_t> step, std::optional<int> rank);

struct Card
{
    std::string_view id;
    std::string_view title;
    std::string_view severity; ///< "info", "warning", "error"
    std::string_view threshold;
    std::vector<std::string_view> advice;
    CardOutcome (*check)(const RunSummary& summary);
};

/// In the order they are listed: the infrastructure first, for it passes for a numerical fault from afar.
const std::vector<Card>& allCards();
std::vector<std::string_view> cardIds();

std::vector<Card> infrastructureCards(); ///< these need no points
std::vector<Card> precisionCards();
std::vector<Card> lossScaleCards();
std::vector<Card> nonFiniteCards();
std::vector<Card> spikeCards();
std::vector<Card> stabilityCards();
std::vector<Card> repeatCards();
std::vector<Card> replicaCards(); ///< reads captures
std::vector<Card> honestyCards();
std::vector<Card> layerCards();
std::vector<Card> collectiveCards();
std::vector<Card> sanitizerCards();

/// The card's words and the outcome as a finding.
Finding findingOf(const Card& card, const CardOutcome& outcome);

} // namespace nanscope::diagnose::cards
