// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/whatif/guardwords.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/diagnose/triage/steplink.h"
#include "core/model/words.h"

namespace nanscope::diagnose {

namespace {

std::string rankText(const GuardRank& rank)
{
    switch (rank.output) {
    case probe::Sight::nonFinite:
        return fmt::format("not finite{}{}: {}", rank.inputBad ? ", and so was its input" : "",
            rank.onlyZeros ? ", only where the input is all zero" : "", fmt::join(rank.captures, ", "));
    case probe::Sight::finite:
        return "finite: " + rank.why;
    case probe::Sight::unknown:
        break;
    }
    return "not known: " + rank.why;
}

/// "rank 0", "ranks 0, 2", "8 ranks".
std::string ranksWith(probe::Decision wanted, const GuardStep& step, const GuardOutcome& outcome)
{
    constexpr std::size_t most = 3;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outcome.decisions.size(); ++i) {
        if (outcome.decisions[i] == wanted) {
            names.push_back(step.ranks[i].rank ? std::to_string(*step.ranks[i].rank) : "others");
        }
    }
    if (names.size() > most) {
        return counted(std::ssize(names), "rank");
    }
    const auto* const noun = names == std::vector<std::string> {"others"} ? "" : names.size() == 1 ? "rank " : "ranks ";
    return fmt::format("{}{}", noun, fmt::join(names, ", "));
}

bool ends(const GuardStep& step, Consequence consequence)
{
    return std::ranges::any_of(
        step.outcomes, [&](const GuardOutcome& outcome) { return outcome.consequence == consequence; });
}

} // namespace

bool isCause(const GuardStep& step)
{
    return step.role != Role::downstream;
}

std::string guardHeadline(const GuardWhatIf& whatIf)
{
    if (whatIf.steps.empty()) {
        return "no captured Newton-Schulz output is anything but finite: no guard would have skipped what is captured";
    }
    const auto causes = std::ranges::count_if(whatIf.steps, isCause);
    return fmt::format("{} went bad by itself, {} by contamination", counted(causes, "update"),
        countText(std::ssize(whatIf.steps) - causes));
}

std::string guardStepTitle(const GuardStep& step)
{
    return fmt::format("{}, {}", step.group, stepText(step.step));
}

std::string guardOutcome(const GuardStep& step, const GuardOutcome& outcome)
{
    const auto skipping = std::ranges::count(outcome.decisions, probe::Decision::skip);
    switch (outcome.agreement) {
    case probe::Agreement::allSkip:
        return "all skip";
    case probe::Agreement::allApply:
        return "none skips";
    case probe::Agreement::split:
        return fmt::format("{}: only {} skip{}", outcome.consequence == Consequence::drift ? "drift" : "torn",
            ranksWith(probe::Decision::skip, step, outcome), skipping == 1 ? "s" : "");
    case probe::Agreement::unknown:
        break;
    }
    return skipping > 0 ? fmt::format("{} skips, others unknown", ranksWith(probe::Decision::skip, step, outcome))
                        : "not known";
}

std::vector<AnswerFact> guardRanks(const GuardStep& step)
{
    std::vector<AnswerFact> facts;
    for (const auto& rank : step.ranks) {
        facts.push_back({rank.rank ? fmt::format("rank {}", *rank.rank) : "others", rankText(rank)});
    }
    return facts;
}

std::vector<AnswerFact> guardAfter(const GuardStep& step)
{
    std::vector<AnswerFact> facts;
    if (ends(step, Consequence::drift)) {
        facts.push_back({"drift",
            "who skips keeps the old parameters of the whole group, not of the damaged matrix alone, and the others "
            "move on; gradients are averaged, weights never, so they stay apart"});
    }
    if (ends(step, Consequence::torn)) {
        facts.push_back({"torn", "of one logical tensor some parts have moved and others have not"});
    }
    if (ends(step, Consequence::unknown)) {
        facts.push_back(
            {"unknown", "a rank whose own output was finite would apply the update and be out of step with who skips"});
    }
    facts.push_back({"a skip",
        "leaves parameter and variance as they were, without weight decay; the momentum has taken the gradient in "
        "already and keeps it"});
    if (step.momentumBad) {
        facts.push_back({"", "here that gradient or the momentum was not finite, so the next update is not either"});
    }
    if (!step.otherGroups.empty()) {
        facts.push_back({"same step",
            fmt::format(
                "{}: finite on every rank, so applied with or without a guard", fmt::join(step.otherGroups, ", "))});
    }
    return facts;
}

std::vector<AnswerFact> guardContaminated(const GuardWhatIf& whatIf)
{
    std::map<std::string, std::vector<std::int64_t>> updates;
    for (const auto& step : whatIf.steps) {
        if (!isCause(step) && step.step) {
            updates[step.group].push_back(step.step->first);
        }
    }
    std::vector<AnswerFact> facts;
    for (const auto& [group, steps] : updates) {
        facts.push_back({facts.empty() ? "contaminated" : "",
            fmt::format("{}: {} from behind the line of step {}{}", group, counted(std::ssize(steps), "update"),
                steps.front(), steps.size() > 1 ? fmt::format(" to {}", steps.back()) : "")});
    }
    return facts;
}

std::vector<AnswerFact> guardLayouts(const GuardWhatIf& whatIf)
{
    std::vector<AnswerFact> facts;
    for (const auto& layout : whatIf.layouts) {
        facts.push_back(
            {std::string(probe::name(layout.layout)), layout.possible ? layout.why : "ruled out: " + layout.why});
    }
    for (const auto& hint : whatIf.layoutHints) {
        facts.push_back({"hint", hint.text, hint.source});
    }
    return facts;
}

bool asksForLayout(const GuardWhatIf& whatIf)
{
    return whatIf.layoutHints.empty() && std::ranges::count_if(whatIf.layouts, &GuardLayout::possible) > 1;
}

std::vector<AnswerFact> guardScopes()
{
    return {{std::string(probe::name(probe::GuardScope::local)), "each rank decides for itself"},
        {std::string(probe::name(probe::GuardScope::group)),
            "all ranks that exchange these matrices decide together; without an exchange, local"},
        {std::string(probe::name(probe::GuardScope::full)),
            "all ranks of the optimizer's group decide together, as dion's nan_guard_fallback does"}};
}

std::vector<AnswerFact> guardNoteFacts(const GuardWhatIf& whatIf)
{
    std::vector<AnswerFact> facts;
    for (const auto& note : whatIf.notes) {
        facts.push_back({facts.empty() ? "know that" : "", note.text, note.source});
    }
    return facts;
}

std::string noCaptureToGuard()
{
    return "no capture was found; a guard's decision is told from dumps";
}

} // namespace nanscope::diagnose
