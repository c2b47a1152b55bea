// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/whatifanswers.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/nanscope/table.h"
#include "app/nanscope/words.h"
#include "core/diagnose/steplink.h"
#include "core/report/words.h"

namespace nanscope {

namespace {

bool isCause(const GuardStep& step)
{
    return step.role != Role::downstream;
}

std::string rankName(const GuardRank& rank)
{
    return rank.rank ? fmt::format("rank {}", *rank.rank) : "others";
}

std::string rankText(const GuardRank& rank)
{
    switch (rank.output) {
    case Sight::nonFinite:
        return fmt::format("not finite{}{}: {}", rank.inputBad ? ", and so was its input" : "",
            rank.onlyZeros ? ", only where the input is all zero" : "", fmt::join(rank.captures, ", "));
    case Sight::finite:
        return "finite: " + rank.why;
    case Sight::unknown:
        break;
    }
    return "not known: " + rank.why;
}

/// "rank 0", "ranks 0, 2", "8 ranks".
std::string ranksWith(Decision wanted, const GuardStep& step, const GuardOutcome& outcome)
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

std::string outcomeText(const GuardStep& step, const GuardOutcome& outcome)
{
    const bool some =
        std::find(outcome.decisions.begin(), outcome.decisions.end(), Decision::skip) != outcome.decisions.end();
    switch (outcome.agreement) {
    case Agreement::allSkip:
        return "all skip";
    case Agreement::allApply:
        return "none skips";
    case Agreement::split:
        return fmt::format("{}: only {} skip", outcome.consequence == Consequence::drift ? "drift" : "torn",
                   ranksWith(Decision::skip, step, outcome))
            + (std::count(outcome.decisions.begin(), outcome.decisions.end(), Decision::skip) == 1 ? "s" : "");
    case Agreement::unknown:
        break;
    }
    return some ? fmt::format("{} skips, others unknown", ranksWith(Decision::skip, step, outcome)) : "not known";
}

std::string tableText(const GuardStep& step)
{
    std::vector<Table::Column> columns {{"layout"}, {"guard sees"}};
    std::vector<std::vector<std::string>> rows;
    for (const auto& outcome : step.outcomes) {
        if (rows.empty() || rows.back().front() != name(outcome.layout)) {
            rows.push_back({std::string(name(outcome.layout)), outcome.stack});
        }
        rows.back().push_back(outcomeText(step, outcome));
        if (rows.size() == 1) {
            columns.push_back({fmt::format("{} guard", name(outcome.scope))});
        }
    }
    Table table(std::move(columns));
    for (auto& row : rows) {
        table.add(std::move(row));
    }
    return "\n" + table.text(2) + "\n";
}

bool ends(const GuardStep& step, Consequence consequence)
{
    return std::any_of(step.outcomes.begin(), step.outcomes.end(),
        [&](const GuardOutcome& outcome) { return outcome.consequence == consequence; });
}

std::string afterText(const GuardStep& step)
{
    std::string text;
    if (ends(step, Consequence::drift)) {
        text += fact("drift",
            "who skips keeps the old parameters of the whole group, not of the damaged matrix alone, "
            "and the others move on; gradients are averaged, weights never, so they stay apart");
    }
    if (ends(step, Consequence::torn)) {
        text += fact("torn", "of one logical tensor some parts have moved and others have not");
    }
    if (ends(step, Consequence::unknown)) {
        text += fact("unknown",
            "a rank whose own output was finite would apply the update and be out of step with who "
            "skips");
    }
    text += fact("a skip",
        "leaves parameter and variance as they were, without weight decay; the momentum has taken "
        "the gradient in already and keeps it");
    if (step.momentumBad) {
        text += fact("", "here that gradient or the momentum was not finite, so the next update is not either");
    }
    if (!step.otherGroups.empty()) {
        text += fact("same step",
            fmt::format(
                "{}: finite on every rank, so applied with or without a guard", fmt::join(step.otherGroups, ", ")));
    }
    return text;
}

std::string causeText(const GuardStep& step)
{
    auto text = fmt::format("{}  {}, {}\n", name(step.role), step.group, stepText(step.step));
    for (const auto& rank : step.ranks) {
        text += fact(rankName(rank), rankText(rank));
    }
    return text + tableText(step) + afterText(step);
}

std::string layoutsText(const GuardWhatIf& whatIf)
{
    std::string text = "\nwhich layout\n";
    for (const auto& layout : whatIf.layouts) {
        text += paragraph(fmt::format("  {:<16}", name(layout.layout)),
            layout.possible ? layout.why : "ruled out: " + layout.why, 18, 100);
    }
    for (const auto& hint : whatIf.layoutHints) {
        text += fact("hint", fmt::format("{} [{}]", hint.text, hint.source));
    }
    if (whatIf.layoutHints.empty()
        && std::count_if(whatIf.layouts.begin(), whatIf.layouts.end(), [](const auto& l) { return l.possible; }) > 1) {
        text += fact("hint", "neither captures nor logs tell; say it with --layout");
    }
    text += "\nwhich guard\n";
    text += "  local           each rank decides for itself\n";
    text += "  group           all ranks that exchange these matrices decide together; without an exchange, local\n";
    text += "  full            all ranks of the optimizer's group decide together, as dion's nan_guard_fallback does\n";
    return text;
}

std::string contaminatedText(const GuardWhatIf& whatIf)
{
    std::map<std::string, std::vector<std::int64_t>> updates;
    for (const auto& step : whatIf.steps) {
        if (!isCause(step) && step.step) {
            updates[step.group].push_back(step.step->first);
        }
    }
    std::string text;
    for (const auto& [group, steps] : updates) {
        text += fact(text.empty() ? "contaminated" : "",
            fmt::format("{}: {} from behind the line of step {}{}", group, counted(std::ssize(steps), "update"),
                steps.front(), steps.size() > 1 ? fmt::format(" to {}", steps.back()) : ""));
    }
    return text.empty() ? text : "\n" + text;
}

} // namespace

std::string guardText(const GuardWhatIf& whatIf)
{
    constexpr std::size_t most = 5;
    const auto causes = static_cast<std::size_t>(std::count_if(whatIf.steps.begin(), whatIf.steps.end(), isCause));
    if (whatIf.steps.empty()) {
        return "No captured Newton-Schulz output is anything but finite: no guard would have skipped what is "
               "captured.\n";
    }
    auto text = fmt::format("{} went bad by itself, {} by contamination\n",
        counted(static_cast<std::int64_t>(causes), "update"),
        countText(static_cast<std::int64_t>(whatIf.steps.size() - causes)));
    for (std::size_t i = 0; i < std::min(causes, most); ++i) {
        text += "\n" + causeText(whatIf.steps[i]);
    }
    if (causes > most) {
        text += fmt::format("\nand {} more like these (--json has them all)\n", causes - most);
    }
    text += contaminatedText(whatIf) + layoutsText(whatIf) + "\n";
    for (std::size_t i = 0; i < whatIf.notes.size(); ++i) {
        const auto& note = whatIf.notes[i];
        text += fact(i == 0 ? "know that" : "", note.text + (note.source.empty() ? "" : " [" + note.source + "]"));
    }
    return text;
}

} // namespace nanscope
