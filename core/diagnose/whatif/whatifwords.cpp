// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/whatif/whatifwords.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/diagnose/triage/steplink.h"
#include "core/model/words.h"

namespace nanscope::diagnose {

namespace {

constexpr std::size_t mostRows = 8; ///< of anything; the JSON answer has them all

std::string rangeText(std::int64_t first, std::int64_t last)
{
    return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

/// Puts the sentences of one replay together.
class Teller
{
public:
    explicit Teller(const DetectorReplay& replay)
        : m_replay(replay)
    { }

    std::vector<AnswerFact> all()
    {
        answer();
        worst();
        leftOut();
        lastGood();
        afterwards();
        streaks();
        settings();
        apart("suspected", "may not have been finite, counted apart", m_replay.suspected);
        apart(m_replay.checkGradients ? "not counted" : "not seen", "finite loss beside a gradient norm that is not",
            m_replay.unseen);
        for (std::size_t i = 0; i < m_replay.notes.size(); ++i) {
            say(i == 0 ? "know that" : "", m_replay.notes[i].text).source = m_replay.notes[i].source;
        }
        return std::move(m_facts);
    }

private:
    AnswerFact& say(std::string_view label, std::string text)
    {
        return m_facts.emplace_back(AnswerFact {std::string(label), std::move(text)});
    }

    std::int64_t printed(std::int64_t step) const { return step + m_replay.offset; }

    void answer()
    {
        auto& fact = say("answer", detectorAnswer(m_replay));
        if (!m_replay.stop) {
            return;
        }
        fact.source = m_replay.stop->line.source;
        fact.step = printed(m_replay.stop->step);
        if (!m_replay.stop->message.empty()) {
            say("it says", m_replay.stop->message);
        }
    }

    void worst()
    {
        if (m_replay.stopAtWorst) {
            say("at worst",
                fmt::format(
                    "stops at step {}, if what this log cannot show was not finite either", *m_replay.stopAtWorst))
                .step = printed(*m_replay.stopAtWorst);
        }
    }

    void leftOut()
    {
        if (m_replay.total > 0) {
            const bool warns = m_replay.options.action == probe::NanAction::warn;
            say("left out",
                fmt::format("{}: {}{}", counted(m_replay.total, "update"), stepRanges(m_replay.skipped),
                    !warns                    ? ""
                        : m_replay.total == 1 ? " (warn leaves it out as skip does)"
                                              : " (warn leaves them out as skip does)"));
        }
        if (!m_replay.byGradients.empty()) {
            say(m_replay.total > 0 ? "" : "left out",
                fmt::format("{} by the gradient check, which counts nothing: {}",
                    counted(std::ssize(m_replay.byGradients), "update"), stepRanges(m_replay.byGradients)));
        }
    }

    void lastGood()
    {
        if (m_replay.badSteps == 0) {
            return;
        }
        if (!m_replay.lastGood) {
            say("last good", "none in this log");
            return;
        }
        const auto& good = *m_replay.lastGood;
        auto& fact = say("last good", fmt::format("{:.6g} at step {}", good.loss, good.step));
        fact.source = good.line.source;
        fact.tail = good.exact ? "" : "; later steps may have been good too";
        fact.step = printed(good.step);
    }

    void finiteAgain(std::string_view label, std::string_view before, std::string_view after)
    {
        const auto& then = m_replay.afterwards;
        auto& fact = say(label,
            fmt::format("{}finite again from step {}{}", before, then.step,
                then.loss ? fmt::format(" ({:.6g})", *then.loss) : ""));
        fact.source = then.line.source;
        fact.step = printed(then.step);
        fact.tail = fmt::format(" for {}{}; {} of this run would not have been made", counted(then.finiteSteps, "step"),
            after, counted(then.stepsLost, "later step"));
    }

    void afterwards()
    {
        const auto& then = m_replay.afterwards;
        switch (then.outcome) {
        case Afterwards::notStopped:
            break;
        case Afterwards::recovered:
            finiteAgain("but then", "a false alarm: ", "");
            break;
        case Afterwards::relapsed:
            finiteAgain("and then", "", " only");
            break;
        case Afterwards::stayedBad:
            say("and then", fmt::format("never finite again: a stop here saves {}", counted(then.stepsLost, "step")));
            break;
        case Afterwards::unknown:
            say("and then", "the log does not tell whether the run would have recovered");
            break;
        }
    }

    static std::string whoText(const NanStreak& streak)
    {
        if (streak.ranks.empty()) {
            return streak.elsewhere ? ", on another rank" : "";
        }
        constexpr std::size_t listed = 8;
        const auto which =
            streak.ranks.size() > listed ? fmt::format("{} ranks", streak.ranks.size()) : rankList(streak.ranks);
        return fmt::format(", {}{}", which, streak.elsewhere ? " and another" : "");
    }

    static std::string rowText(const NanStreak& streak)
    {
        const auto steps = streak.last - streak.first + 1;
        if (steps == streak.sure) {
            return steps == 1 ? "alone" : fmt::format("{} in a row", steps);
        }
        return fmt::format("{} logged, {} in a row for certain", streak.logged, streak.sure);
    }

    void streaks()
    {
        for (std::size_t i = 0; i < std::min(m_replay.streaks.size(), mostRows); ++i) {
            const auto& streak = m_replay.streaks[i];
            auto& fact = say(i == 0 ? "in the log" : "",
                fmt::format("{}: {}{}", rangeText(streak.first, streak.last), rowText(streak), whoText(streak)));
            fact.source = streak.begin.source;
            fact.step = printed(streak.first);
        }
        if (m_replay.streaks.size() > mostRows) {
            say("", fmt::format("and {} more rows", m_replay.streaks.size() - mostRows));
        }
    }

    void settings()
    {
        if (m_replay.badSteps == 0 || m_replay.options.action == probe::NanAction::raise) {
            return;
        }
        std::vector<std::string> stops;
        const auto& all = m_replay.everySetting;
        const auto* const last = m_replay.openRow > 0 ? "not in this log" : "never";
        for (std::size_t i = 0; i < std::min(all.size(), mostRows); ++i) {
            stops.push_back(
                all[i] ? fmt::format("{}: step {}", i + 1, *all[i]) : fmt::format("{} and more: {}", i + 1, last));
        }
        if (all.size() > mostRows) {
            stops.push_back(all.back() ? "…" : fmt::format("… {} and more: {}", all.size(), last));
        }
        say("every setting",
            fmt::format(
                "max_consecutive {}{}", fmt::join(stops, ", "), m_replay.checkable ? "" : "; certain ones only"));
    }

    void apart(std::string_view label, std::string_view noun, const std::vector<SuspectedStep>& steps)
    {
        if (steps.empty()) {
            return;
        }
        std::vector<std::int64_t> numbers;
        for (const auto& step : steps) {
            numbers.push_back(step.step);
        }
        auto& fact = say(label, fmt::format("{}: {}", noun, stepRanges(numbers)));
        fact.source = steps.front().line.source;
        fact.step = printed(numbers.front());
    }

    const DetectorReplay& m_replay;
    std::vector<AnswerFact> m_facts;
};

} // namespace

std::string stepRanges(const std::vector<std::int64_t>& steps)
{
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < steps.size();) {
        auto end = i + 1;
        while (end < steps.size() && steps[end] == steps[end - 1] + 1) {
            ++end;
        }
        ranges.push_back(rangeText(steps[i], steps[end - 1]));
        i = end;
    }
    if (ranges.size() > mostRows) {
        ranges.resize(mostRows);
        ranges.emplace_back("…");
    }
    return fmt::format("{}", fmt::join(ranges, ", "));
}

std::string detectorSettings(const DetectorQuestion& question)
{
    const auto& options = question.options;
    auto text = options.action == probe::NanAction::raise
        ? std::string("action=raise")
        : fmt::format("action={}, max_consecutive={}", probe::name(options.action), options.maxConsecutive);
    return question.checkGradients ? text + ", gradients checked" : text;
}

std::string detectorTitle(const DetectorReplay& replay)
{
    auto title = fmt::format("{}", fmt::join(replay.sources, ", "));
    if (!replay.ranks.empty()) {
        title += fmt::format(
            ", rank{} {}", replay.ranks.size() > 1 ? "s" : "", stepRanges({replay.ranks.begin(), replay.ranks.end()}));
    }
    if (replay.processes > 1) {
        title += fmt::format(", process {} of {}", replay.process + 1, replay.processes);
    }
    return printable(title) + fmt::format(", steps {}", rangeText(replay.firstStep, replay.lastStep));
}

std::string detectorAnswer(const DetectorReplay& replay)
{
    if (replay.stop) {
        return fmt::format("stops at step {}", replay.stop->step);
    }
    if (replay.badSteps == 0 && replay.suspected.empty()) {
        return "never stops: no logged loss is anything but finite";
    }
    if (!replay.checkable || !replay.suspected.empty()) {
        return fmt::format("not checkable: {} {} not finite for certain, in no row long enough",
            counted(replay.badSteps, "step"), replay.badSteps == 1 ? "was" : "were");
    }
    if (replay.openRow > 0) {
        return fmt::format("would not have stopped: the log ends after {} in a row that are not finite",
            counted(replay.openRow, "step"));
    }
    return "never stops: no row is long enough";
}

std::vector<AnswerFact> detectorFacts(const DetectorReplay& replay)
{
    return Teller(replay).all();
}

bool detectorSpeaks(const DetectorReplay& replay)
{
    return replay.badSteps > 0 || !replay.suspected.empty() || !replay.unseen.empty();
}

std::string detectorSilence(std::span<const DetectorReplay> replays)
{
    return std::ranges::any_of(replays, detectorSpeaks)
        ? std::string()
        : fmt::format(
            "every loss in {} is finite: no setting would have stopped this run", counted(std::ssize(replays), "log"));
}

std::string nothingToReplay(const RunData& run)
{
    std::int64_t without = 0;
    for (const auto& series : run.series) {
        without += series.name == "loss" ? series.missing : 0;
    }
    return without > 0 ? fmt::format("the logs report {} without a loss and none with one", counted(without, "step"))
                       : "neither a loss nor a detector warning was found";
}

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

constexpr std::string_view others = "others"; ///< ranks that nothing names

/// "rank 0", "ranks 0, 2", "8 ranks".
std::string ranksWith(probe::Decision wanted, const GuardStep& step, const GuardOutcome& outcome)
{
    constexpr std::size_t most = 3;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outcome.decisions.size(); ++i) {
        if (outcome.decisions[i] == wanted) {
            names.push_back(step.ranks[i].rank ? std::to_string(*step.ranks[i].rank) : std::string(others));
        }
    }
    if (names.size() > most) {
        return counted(std::ssize(names), "rank");
    }
    const auto* const noun = names == std::vector {std::string(others)} ? "" : names.size() == 1 ? "rank " : "ranks ";
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
    return fmt::format("{} went bad by {}, {} by contamination", counted(causes, "update"),
        causes == 1 ? "itself" : "themselves", countText(std::ssize(whatIf.steps) - causes));
}

std::string guardStepTitle(const GuardStep& step)
{
    return fmt::format("{}, {}", step.group, stepText(step.step));
}

std::string guardOutcome(const GuardStep& step, const GuardOutcome& outcome)
{
    const auto skipping = std::ranges::count(outcome.decisions, probe::Decision::skip);
    const auto skipped = [&] {
        const auto who = ranksWith(probe::Decision::skip, step, outcome);
        return fmt::format("{} skip{}", who, skipping == 1 && who != others ? "s" : "");
    };
    switch (outcome.agreement) {
    case probe::Agreement::allSkip:
        return "all skip";
    case probe::Agreement::allApply:
        return "none skips";
    case probe::Agreement::split:
        return fmt::format("{}: only {}", outcome.consequence == Consequence::drift ? "drift" : "torn", skipped());
    case probe::Agreement::unknown:
        break;
    }
    return skipping > 0 ? skipped() + ", others unknown" : "not known";
}

std::vector<AnswerFact> guardRanks(const GuardStep& step)
{
    std::vector<AnswerFact> facts;
    for (const auto& rank : step.ranks) {
        facts.push_back({rank.rank ? fmt::format("rank {}", *rank.rank) : std::string(others), rankText(rank)});
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
    struct Updates
    {
        std::int64_t count = 0;
        std::pair<std::int64_t, std::int64_t> steps; ///< from before the first to after the last
    };
    std::map<std::string, Updates> groups;
    for (const auto& step : whatIf.steps) {
        if (!isCause(step) && step.step) {
            auto& updates = groups[step.group];
            const auto [first, last] = *step.step;
            updates.steps = ++updates.count == 1
                ? *step.step
                : std::pair(std::min(updates.steps.first, first), std::max(updates.steps.second, last));
        }
    }
    std::vector<AnswerFact> facts;
    for (const auto& [group, updates] : groups) {
        facts.push_back({facts.empty() ? "contaminated" : "",
            fmt::format("{}: {} {}", group, counted(updates.count, "update"), stepText(updates.steps))});
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

namespace {

using Json = nlohmann::ordered_json;

Json lineJson(const EvidenceLine& line)
{
    return {{"text", line.text}, {"source", orNull(line.source)}};
}

Json streakJson(const NanStreak& streak)
{
    return {{"first", streak.first}, {"last", streak.last}, {"logged", streak.logged}, {"consecutive", streak.sure},
        {"ranks", streak.ranks}, {"another_rank", streak.elsewhere}, {"source", streak.begin.source}};
}

Json apartJson(const std::vector<SuspectedStep>& steps)
{
    return jsonArray(steps, [](const SuspectedStep& step) -> Json {
        return {{"step", step.step}, {"why", step.line.text}, {"source", step.line.source}};
    });
}

Json stopJson(const std::optional<DetectorStop>& stop)
{
    if (!stop) {
        return nullptr;
    }
    return {{"step", stop->step}, {"message", orNull(stop->message)}, {"source", stop->line.source}};
}

Json lastGoodJson(const std::optional<LastGood>& good)
{
    return good ? Json {{"step", good->step}, {"loss", jsonNumber(good->loss)}, {"exact", good->exact},
               {"source", good->line.source}}
                : Json(nullptr);
}

Json afterwardsJson(const Recovery& after)
{
    Json json {{"outcome", name(after.outcome)}};
    if (after.outcome == Afterwards::recovered || after.outcome == Afterwards::relapsed) {
        json["step"] = after.step;
        json["loss"] = numberOrNull(after.loss);
        json["finite_steps"] = after.finiteSteps;
        json["source"] = after.line.source;
    }
    if (after.outcome != Afterwards::notStopped) {
        json["steps_lost"] = after.stepsLost;
    }
    return json;
}

Json replayJson(const DetectorReplay& replay)
{
    return {{"sources", replay.sources}, {"ranks", replay.ranks}, {"process", replay.process},
        {"processes", replay.processes}, {"first_step", replay.firstStep}, {"last_step", replay.lastStep},
        {"own_detector", replay.ownDetector}, {"printed_step_offset", replay.offset}, {"log_interval", replay.interval},
        {"checkable", replay.checkable}, {"first_action", stopJson(replay.first)}, {"stop", stopJson(replay.stop)},
        {"stop_at_worst", orNull(replay.stopAtWorst)}, {"left_out", replay.total}, {"nan_steps", replay.skipped},
        {"left_out_by_gradients", replay.byGradients}, {"last_good", lastGoodJson(replay.lastGood)},
        {"afterwards", afterwardsJson(replay.afterwards)}, {"non_finite_steps", replay.badSteps},
        {"open_row", replay.openRow}, {"streaks", jsonArray(replay.streaks, streakJson)},
        {"stop_by_max_consecutive", jsonArray(replay.everySetting, orNull<std::int64_t>)},
        {"suspected", apartJson(replay.suspected)}, {"not_seen", apartJson(replay.unseen)},
        {"notes", jsonArray(replay.notes, lineJson)}};
}

std::string_view nameOf(probe::Sight sight)
{
    return sight == probe::Sight::finite ? "finite" : sight == probe::Sight::nonFinite ? "non-finite" : "unknown";
}

std::string_view nameOf(probe::Decision decision)
{
    return decision == probe::Decision::apply ? "apply" : decision == probe::Decision::skip ? "skip" : "unknown";
}

Json rankJson(const GuardRank& rank)
{
    return {{"rank", orNull(rank.rank)}, {"output", nameOf(rank.output)}, {"why", rank.why},
        {"input_non_finite", rank.inputBad}, {"only_zero_input", rank.onlyZeros}, {"captures", rank.captures}};
}

Json outcomeJson(const GuardOutcome& outcome)
{
    auto decisions = jsonArray(outcome.decisions, [](probe::Decision decision) { return nameOf(decision); });
    return {{"layout", probe::name(outcome.layout)}, {"guard", probe::name(outcome.scope)}, {"stack", outcome.stack},
        {"decisions", std::move(decisions)}, {"consequence", name(outcome.consequence)}};
}

Json stepJson(const GuardStep& step)
{
    const auto between = step.step ? Json::array({step.step->first, step.step->second}) : Json(nullptr);
    return {{"group", step.group}, {"role", name(step.role)}, {"step", between}, {"step_source", name(step.stepSource)},
        {"caused_by", orNull(step.causedBy)}, {"momentum_non_finite", step.momentumBad},
        {"ranks", jsonArray(step.ranks, rankJson)}, {"outcomes", jsonArray(step.outcomes, outcomeJson)},
        {"applied_groups", step.otherGroups}};
}

} // namespace

Json detectorJson(std::span<const DetectorReplay> replays, const DetectorQuestion& question)
{
    const auto& options = question.options;
    return {{"schema", "nanscope.detector/1"},
        {"settings",
            {{"action", probe::name(options.action)}, {"max_consecutive", options.maxConsecutive},
                {"max_history", options.maxHistory}, {"check_gradients", question.checkGradients}}},
        {"runs", jsonArray(replays, replayJson)}};
}

Json guardJson(const GuardWhatIf& whatIf)
{
    const auto layoutJson = [](const GuardLayout& layout) {
        return Json {{"layout", probe::name(layout.layout)}, {"possible", layout.possible}, {"why", layout.why}};
    };
    return {{"schema", "nanscope.guard/1"}, {"updates", jsonArray(whatIf.steps, stepJson)},
        {"layouts", jsonArray(whatIf.layouts, layoutJson)}, {"layout_hints", jsonArray(whatIf.layoutHints, lineJson)},
        {"guard_lines_at_least", whatIf.guardLines}, {"notes", jsonArray(whatIf.notes, lineJson)}};
}

} // namespace nanscope::diagnose
