// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/findings.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/base/guarded.h"
#include "core/base/try.h"
#include "core/diagnose/findings/cards.h"
#include "core/diagnose/recovery/teecopies.h"
#include "core/model/verdict.h"
#include "core/replay/variants/nearest.h"

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
cards::CardOutcome ask(const cards::Card& card, const cards::RunSummary& summary)
{
    auto outcome = guarded([&] { return Result<cards::CardOutcome>(card.check(summary)); });
    return outcome ? std::move(*outcome) : cards::notCheckable(sentence(outcome.error()));
}

bool isAmong(const auto& ids, std::string_view id)
{
    return std::ranges::find(ids, id) != ids.end();
}

std::vector<Finding> askAll(const std::vector<cards::Card>& all, const cards::RunSummary& summary,
    const std::vector<std::string>& silenced, const CancelToken& cancel)
{
    std::vector<Finding> findings;
    for (const auto& card : all) {
        if (cancel.cancelled()) {
            break;
        }
        findings.push_back(cards::findingOf(card, ask(card, summary)));
    }
    silence(findings, silenced);
    return findings;
}

const cards::SpikeRule& ruleOf(const FindingChoices& choices)
{
    const auto rule = cards::findSpikeRule(choices.spikeRule);
    return rule ? **rule : cards::defaultSpikeRule();
}

} // namespace

Result<FindingChoices> checked(FindingChoices choices)
{
    const auto ids = cards::cardIds();
    for (const auto& id : choices.silenced) {
        if (!isAmong(ids, id)) {
            return replay::unknownName("card", id, ids);
        }
    }
    if (!choices.spikeRule.empty()) {
        TRY(cards::findSpikeRule(choices.spikeRule));
    }
    std::ranges::sort(choices.silenced);
    choices.silenced.erase(std::unique(choices.silenced.begin(), choices.silenced.end()), choices.silenced.end());
    if (choices.spikeRule == cards::defaultSpikeRule().name) {
        choices.spikeRule.clear();
    }
    return choices;
}

FindingChoices withoutUnknown(const FindingChoices& choices)
{
    FindingChoices known {{}, checked({{}, choices.spikeRule}) ? choices.spikeRule : std::string()};
    std::ranges::copy_if(choices.silenced, std::back_inserter(known.silenced), [](const std::string& id) {
        return checked({{id}, {}}).has_value();
    });
    return checked(known).value_or(FindingChoices());
}

std::vector<Finding> findingsOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts,
    const FindingChoices& choices, const CancelToken& cancel)
{
    return askAll(cards::allCards(), cards::runSummaryOf(run, verdicts, ruleOf(choices)), choices.silenced, cancel);
}

void silence(std::vector<Finding>& findings, const std::vector<std::string>& silenced)
{
    for (auto& finding : findings) {
        if (finding.state == FindingState::fired || finding.state == FindingState::silenced) {
            finding.state = isAmong(silenced, finding.id) ? FindingState::silenced : FindingState::fired;
        }
    }
    const auto ids = cards::cardIds();
    const auto listed = [&ids](const Finding& finding) { return std::ranges::find(ids, finding.id) - ids.begin(); };
    std::ranges::stable_sort(
        findings, {}, [&](const Finding& finding) { return std::pair(placeOf(finding), listed(finding)); });
}

std::vector<Finding> earlyFindings(const RunData& run)
{
    const std::vector<CaptureVerdict> none;
    const cards::RunSummary summary {run, none, cards::defaultSpikeRule(), {}, {}, {}, {}, {}, eventsOnce(run)};
    return askAll(cards::infrastructureCards(), summary, {}, {});
}

} // namespace nanscope::diagnose
