// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/whatif/whatifjson.h"

#include <nlohmann/json.hpp>

#include "core/base/json.h"

namespace nanscope::diagnose {

namespace {

using Json = nlohmann::ordered_json;

template <class Range, class Make>
Json each(const Range& range, Make make)
{
    auto array = Json::array();
    for (const auto& item : range) {
        array.push_back(make(item));
    }
    return array;
}

Json lineJson(const EvidenceLine& line)
{
    return {{"text", line.text}, {"source", line.source.empty() ? Json(nullptr) : Json(line.source)}};
}

Json streakJson(const NanStreak& streak)
{
    return {{"first", streak.first}, {"last", streak.last}, {"logged", streak.logged}, {"consecutive", streak.sure},
        {"ranks", streak.ranks}, {"another_rank", streak.elsewhere}, {"source", streak.begin.source}};
}

Json apartJson(const std::vector<SuspectedStep>& steps)
{
    auto array = Json::array();
    for (const auto& step : steps) {
        array.push_back({{"step", step.step}, {"why", step.line.text}, {"source", step.line.source}});
    }
    return array;
}

Json stopJson(const std::optional<DetectorStop>& stop)
{
    if (!stop) {
        return nullptr;
    }
    return {{"step", stop->step}, {"message", stop->message.empty() ? Json(nullptr) : Json(stop->message)},
        {"source", stop->line.source}};
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
        json["loss"] = after.loss ? jsonNumber(*after.loss) : Json(nullptr);
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
    const auto orNull = [](const std::optional<std::int64_t>& step) { return step ? Json(*step) : Json(nullptr); };
    return {{"sources", replay.sources}, {"ranks", replay.ranks}, {"process", replay.life}, {"processes", replay.lives},
        {"first_step", replay.firstStep}, {"last_step", replay.lastStep}, {"own_detector", replay.ownDetector},
        {"printed_step_offset", replay.offset}, {"log_interval", replay.interval}, {"checkable", replay.checkable},
        {"first_action", stopJson(replay.first)}, {"stop", stopJson(replay.stop)},
        {"stop_at_worst", orNull(replay.stopAtWorst)}, {"left_out", replay.total}, {"nan_steps", replay.skipped},
        {"left_out_by_gradients", replay.byGradients}, {"last_good", lastGoodJson(replay.lastGood)},
        {"afterwards", afterwardsJson(replay.afterwards)}, {"non_finite_steps", replay.badSteps},
        {"open_row", replay.openRow}, {"streaks", each(replay.streaks, streakJson)},
        {"stop_by_max_consecutive", each(replay.everySetting, orNull)}, {"suspected", apartJson(replay.suspected)},
        {"not_seen", apartJson(replay.unseen)}, {"notes", each(replay.notes, lineJson)}};
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
    return {{"rank", rank.rank ? Json(*rank.rank) : Json(nullptr)}, {"output", nameOf(rank.output)}, {"why", rank.why},
        {"input_non_finite", rank.inputBad}, {"only_zero_input", rank.onlyZeros}, {"captures", rank.captures}};
}

Json outcomeJson(const GuardOutcome& outcome)
{
    auto decisions = Json::array();
    for (const auto decision : outcome.decisions) {
        decisions.push_back(nameOf(decision));
    }
    return {{"layout", probe::name(outcome.layout)}, {"guard", probe::name(outcome.scope)}, {"stack", outcome.stack},
        {"decisions", std::move(decisions)}, {"consequence", name(outcome.consequence)}};
}

Json stepJson(const GuardStep& step)
{
    const auto between = step.step ? Json::array({step.step->first, step.step->second}) : Json(nullptr);
    return {{"group", step.group}, {"role", name(step.role)}, {"step", between}, {"step_source", name(step.stepSource)},
        {"caused_by", step.causedBy.empty() ? Json(nullptr) : Json(step.causedBy)},
        {"momentum_non_finite", step.momentumBad}, {"ranks", each(step.ranks, rankJson)},
        {"outcomes", each(step.outcomes, outcomeJson)}, {"applied_groups", step.otherGroups}};
}

} // namespace

Json detectorJson(std::span<const DetectorReplay> replays, const DetectorQuestion& question)
{
    const auto& options = question.options;
    return {{"schema", "nanscope.detector/1"},
        {"settings",
            {{"action", probe::name(options.action)}, {"max_consecutive", options.maxConsecutive},
                {"max_history", options.maxHistory}, {"check_gradients", question.checkGradients}}},
        {"runs", each(replays, replayJson)}};
}

Json guardJson(const GuardWhatIf& whatIf)
{
    const auto layoutJson = [](const GuardLayout& layout) {
        return Json {{"layout", probe::name(layout.layout)}, {"possible", layout.possible}, {"why", layout.why}};
    };
    return {{"schema", "nanscope.guard/1"}, {"updates", each(whatIf.steps, stepJson)},
        {"layouts", each(whatIf.layouts, layoutJson)}, {"layout_hints", each(whatIf.layoutHints, lineJson)},
        {"guard_lines_at_least", whatIf.guardLines}, {"notes", each(whatIf.notes, lineJson)}};
}

} // namespace nanscope::diagnose
