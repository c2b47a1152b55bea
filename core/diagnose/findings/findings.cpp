// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/findings.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/guarded.h"
#include "core/diagnose/findings/cards.h"

namespace nanscope::diagnose {

namespace {

int placeOf(const Finding& finding)
{
    if (finding.state != FindingState::fired) {
        return 3;
    }
    return finding.severity == "error" ? 0 : finding.severity == "warning" ? 1 : 2;
}

/// Some cards read captures; what one of these leads to costs the card alone.
cards::CardOutcome ask(const cards::Card& card, const cards::Story& story)
{
    auto outcome = guarded([&] { return Result<cards::CardOutcome>(card.check(story)); });
    return outcome ? std::move(*outcome) : cards::notCheckable(sentence(outcome.error()));
}

std::vector<Finding> askAll(const std::vector<cards::Card>& all, const cards::Story& story,
    const std::vector<std::string>& silenced, const CancelToken& cancel)
{
    std::vector<Finding> findings;
    for (const auto& card : all) {
        if (cancel.cancelled()) {
            break;
        }
        findings.push_back(cards::findingOf(card, ask(card, story), silenced));
    }
    std::stable_sort(
        findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return placeOf(a) < placeOf(b); });
    return findings;
}

} // namespace

Result<FindingOptions> findingOptions(const std::vector<std::string>& silence, const std::string& spikeRule)
{
    FindingOptions options {silence};
    const auto ids = cards::cardIds();
    for (const auto& id : silence) {
        if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
            return failure(
                ErrorKind::usage, fmt::format("there is no card '{}'; use one of {}", id, fmt::join(ids, ", ")));
        }
    }
    if (!spikeRule.empty()) {
        const auto rule = cards::findSpikeRule(spikeRule);
        if (!rule) {
            return tl::make_unexpected(rule.error());
        }
        options.spikeRule = *rule;
    }
    return options;
}

std::vector<Finding> findingsOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts,
    const FindingOptions& options, const CancelToken& cancel)
{
    const auto& rule = options.spikeRule != nullptr ? *options.spikeRule : cards::defaultSpikeRule();
    return askAll(cards::allCards(), cards::storyOf(run, verdicts, rule), options.silenced, cancel);
}

std::vector<Finding> earlyFindings(const RunData& run)
{
    const std::vector<CaptureVerdict> none;
    const cards::Story story {run, none, cards::defaultSpikeRule(), {}, {}, {}, {}, {}, {}};
    return askAll(cards::infrastructureCards(), story, {}, {});
}

} // namespace nanscope::diagnose
