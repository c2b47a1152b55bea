// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/cards.h"

#include <algorithm>
#include <iterator>

namespace nanscope::diagnose::cards {

namespace {

std::string_view name(Confidence confidence)
{
    switch (confidence) {
    case Confidence::low:
        return "low";
    case Confidence::medium:
        return "medium";
    case Confidence::high:
        return "high";
    }
    return "";
}

void append(std::vector<Card>& all, std::vector<Card> some)
{
    std::move(some.begin(), some.end(), std::back_inserter(all));
}

std::vector<Card> collect()
{
    std::vector<Card> all;
    for (const auto group : {infrastructureCards, precisionCards, lossScaleCards, nonFiniteCards, spikeCards,
             stabilityCards, layerCards, repeatCards, replicaCards, collectiveCards, sanitizerCards, honestyCards}) {
        append(all, group());
    }
    return all;
}

} // namespace

CardOutcome fired(Confidence confidence, std::string reason, std::vector<Evidence> evidence)
{
    CardOutcome outcome;
    outcome.state = FindingState::fired;
    outcome.confidence = confidence;
    outcome.reason = std::move(reason);
    outcome.evidence = std::move(evidence);
    return outcome;
}

CardOutcome clear(std::string reason)
{
    CardOutcome outcome;
    outcome.state = FindingState::clear;
    outcome.reason = std::move(reason);
    return outcome;
}

CardOutcome notCheckable(std::string reason)
{
    CardOutcome outcome;
    outcome.reason = std::move(reason);
    return outcome;
}

CardOutcome at(CardOutcome outcome, std::optional<std::int64_t> step, std::optional<int> rank)
{
    outcome.step = step;
    outcome.rank = rank;
    return outcome;
}

const std::vector<Card>& allCards()
{
    static const auto cards = collect();
    return cards;
}

std::vector<std::string_view> cardIds()
{
    std::vector<std::string_view> ids;
    std::transform(
        allCards().begin(), allCards().end(), std::back_inserter(ids), [](const Card& card) { return card.id; });
    return ids;
}

Finding findingOf(const Card& card, const CardOutcome& outcome)
{
    Finding finding;
    finding.id = card.id;
    finding.state = outcome.state;
    finding.title = card.title;
    finding.severity = card.severity;
    finding.reason = outcome.reason;
    finding.threshold = outcome.threshold.empty() ? std::string(card.threshold) : outcome.threshold;
    if (outcome.state != FindingState::fired) {
        return finding;
    }
    finding.confidence = outcome.confidence ? name(*outcome.confidence) : "";
    finding.step = outcome.step;
    finding.rank = outcome.rank;
    finding.evidence = outcome.evidence;
    finding.advice = outcome.advice;
    finding.advice.insert(finding.advice.end(), card.advice.begin(), card.advice.end());
    return finding;
}

} // namespace nanscope::diagnose::cards
