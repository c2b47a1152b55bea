// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/skips.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "core/diagnose/context/settings.h"
#include "core/diagnose/findings/cardevidence.h"
#include "core/diagnose/recovery/detectorsteps.h"

namespace nanscope::diagnose::cards {

namespace {

std::int64_t stepsBefore(const Trace& trace, std::size_t i)
{
    if (i > 0) {
        return trace.points[i].step - trace.points[i - 1].step;
    }
    return std::min(std::max<std::int64_t>(intervalOf(trace), 1), std::max<std::int64_t>(trace.points[i].step, 1));
}

/// A counter under this name is DeepSpeed's, which counts from the start. A column of one's own may say of each row
/// whether it was skipped, or how often since the row before: then it falls again behind nearly every skip, where a
/// counter falls only where training began anew.
bool countsFromStart(const Trace& counter)
{
    std::int64_t skips = 0;
    std::int64_t falls = 0;
    const auto points = finitePoints(counter);
    for (std::size_t i = 0; i < points.size(); ++i) {
        skips += points[i].value > 0 ? 1 : 0;
        falls += i > 0 && points[i].value < points[i - 1].value ? 1 : 0;
    }
    return falls * 3 < skips || falls == 0;
}

/// Megatron counts them since the line before, DeepSpeed since the start.
std::vector<SkipCount> fromCounter(const Trace& trace, bool cumulative)
{
    std::vector<SkipCount> counts;
    double before = 0;
    for (std::size_t i = 0; i < trace.points.size(); ++i) {
        const auto& point = trace.points[i];
        if (point.state != PointState::finite) {
            continue;
        }
        const double since = cumulative ? point.value - std::min(before, point.value) : point.value;
        before = point.value;
        counts.push_back({point.step, stepsBefore(trace, i), std::llround(since), evidenceOf(trace, point)});
    }
    return counts;
}

std::vector<const Event*> skipEvents(const RunSummary& summary, bool withStep)
{
    std::vector<const Event*> events;
    std::ranges::copy_if(summary.events, std::back_inserter(events),
        [&](const Event* event) { return saysLeftOut(*event) && event->step.has_value() == withStep; });
    return events;
}

std::vector<SkipCount> fromSteps(const std::vector<const Event*>& events, const DetectorSteps& steps)
{
    std::map<std::int64_t, const Event*> byStep;
    for (const auto* event : events) {
        byStep.emplace(steps.printed(*event), event);
    }
    std::vector<SkipCount> counts;
    for (const auto& [step, event] : byStep) {
        counts.push_back({step, 1, 1, evidenceOf(*event)});
    }
    return counts;
}

/// Lines of events in the order of their log, to be taken one after the other.
struct EventLines
{
    std::vector<const Event*> events;
    std::size_t next = 0;
};

std::map<std::string, EventLines> linesBySource(const std::vector<const Event*>& events)
{
    std::map<std::string, EventLines> sources;
    for (const auto* event : events) {
        sources[event->source].events.push_back(event);
    }
    for (auto& [source, lines] : sources) {
        std::sort(
            lines.events.begin(), lines.events.end(), [](const Event* a, const Event* b) { return a->line < b->line; });
    }
    return sources;
}

/// Overflow lines name no step. They stand between the lines of two steps, and there cannot be more of them than steps.
std::vector<SkipCount> fromLines(const std::vector<const Event*>& events, const Trace& loss)
{
    std::vector<SkipCount> counts;
    auto sources = linesBySource(events);
    for (std::size_t i = 0; i < loss.points.size(); ++i) {
        const auto& point = loss.points[i];
        SkipCount count {point.step, stepsBefore(loss, i), 0, evidenceOf(loss, point)};
        auto& lines = sources[sourceOf(loss, point)];
        for (; lines.next < lines.events.size() && lines.events[lines.next]->line <= point.line; ++lines.next) {
            const auto& event = *lines.events[lines.next];
            count.line = count.skipped == 0 ? evidenceOf(event) : count.line;
            count.skipped += event.copies;
        }
        // Where training went back, the lines of what is written again stand before this one, too.
        count.skipped = std::min(count.skipped, count.steps);
        counts.push_back(std::move(count));
    }
    return counts;
}

void extend(SkipStreak& streak, const SkipCount& count)
{
    streak.count += count.skipped;
    streak.lastStep = count.step;
    streak.last = count.line;
}

std::vector<SkipStreak> streaksOf(const std::vector<SkipCount>& counts, const std::set<std::int64_t>& starts)
{
    std::vector<SkipStreak> streaks;
    const SkipCount* before = nullptr;
    for (const auto& count : counts) {
        const bool follows = before != nullptr && before->all() && count.step - count.steps == before->step;
        if (count.all() && follows) {
            extend(streaks.back(), count);
        } else if (count.all()) {
            const auto first = count.step - count.steps + 1;
            const bool atStart =
                (before == nullptr && first <= 1) || starts.count(first) > 0 || starts.count(count.step) > 0;
            streaks.push_back({count.skipped, first, count.step, atStart, count.line, count.line});
        }
        before = &count;
    }
    return streaks;
}

std::optional<double> attemptedScale(const RunData& run)
{
    for (const auto& event : run.events) {
        if (event.kind == EventKind::skippedStep && event.facts.attemptedScale) {
            return event.facts.attemptedScale;
        }
    }
    return std::nullopt;
}

std::optional<double> firstScaleOf(const RunSummary& summary)
{
    const auto finite = finitePoints(summary.lossScale);
    if (!finite.empty()) {
        return finite.front().value;
    }
    if (const auto attempted = attemptedScale(summary.run)) {
        return attempted;
    }
    const auto* setting = settingNamed(summary.run, {"initial_loss_scale", "init_scale"});
    return setting != nullptr ? numberOf(*setting) : std::nullopt;
}

bool scaleMoves(const Trace& scale)
{
    return std::any_of(scale.points.begin(), scale.points.end(),
        [](const Point& point) { return point.state == PointState::finite && point.value != 1; });
}

std::set<std::int64_t> startsOf(const RunData& run, const Trace& trace)
{
    auto starts = freshStarts(run, trace);
    for (const auto& event : run.events) {
        if (event.kind == EventKind::resumed && event.step) {
            starts.insert(*event.step + 1);
        }
    }
    return starts;
}

/// The counter of a log says more than its warnings, and these more when they name their step.
void fill(const RunSummary& summary, Skips& skips)
{
    const auto megatron = traceOf(summary.run, "skipped_iterations");
    const auto deepspeed = traceOf(summary.run, "skipped_steps");
    const auto named = skipEvents(summary, true);
    const auto unnamed = skipEvents(summary, false);
    auto starts = startsOf(summary.run, summary.loss);
    if (!megatron.empty()) {
        skips.counts = fromCounter(megatron, false);
        starts = startsOf(summary.run, megatron);
    } else if (deepspeed.points.size() > 1) {
        skips.counts = fromCounter(deepspeed, countsFromStart(deepspeed));
        starts = startsOf(summary.run, deepspeed);
    } else if (!named.empty()) {
        skips.counts = fromSteps(named, DetectorSteps(summary.run));
    } else if (!unnamed.empty()) {
        skips.counts = fromLines(unnamed, summary.loss);
    }
    skips.known = !skips.counts.empty() || !named.empty() || !unnamed.empty();
    skips.streaks = streaksOf(skips.counts, starts);
}

} // namespace

bool isScalerSkip(const Event& event)
{
    return event.kind == EventKind::skippedStep && event.says(Phrase::lossScale);
}

Skips skipsOf(const RunSummary& summary)
{
    Skips skips;
    fill(summary, skips);
    LinesOfRanks ofRanks;
    bool allWarnings = true;
    for (const auto* event : summary.events) {
        if (saysLeftOut(*event)) {
            ofRanks.add(*event);
            allWarnings = allWarnings && event->says(Phrase::pythonWarning);
            skips.byScaler = skips.byScaler || isScalerSkip(*event);
        }
    }
    for (const auto& count : skips.counts) {
        skips.total += count.skipped;
    }
    const auto lines = ofRanks.most();
    skips.onlyWarnings = lines > 0 && allWarnings && skips.total <= lines;
    skips.total = std::max(skips.total, lines);
    skips.byScaler = skips.byScaler || scaleMoves(summary.lossScale);
    skips.firstScale = firstScaleOf(summary);
    return skips;
}

std::int64_t calibrationSteps(const Skips& skips)
{
    constexpr double usualScale = 65536;
    constexpr std::int64_t hysteresis = 2;
    const double scale = std::clamp(skips.firstScale.value_or(usualScale), 1.0, 1e30);
    return std::llround(std::ceil(std::log2(scale))) + hysteresis;
}

std::vector<SkipStreak> scaleFalls(const RunSummary& summary)
{
    std::vector<SkipStreak> streaks;
    const auto starts = freshStarts(summary.run, summary.lossScale);
    const auto points = finitePoints(summary.lossScale);
    bool falling = false;
    for (std::size_t i = 1; i < points.size(); ++i) {
        const auto line = evidenceOf(summary.lossScale, points[i]);
        const bool falls = points[i].value < points[i - 1].value && starts.count(points[i].step) == 0;
        if (falls && falling) {
            extend(streaks.back(), {points[i].step, 1, 1, line});
        } else if (falls) {
            const bool atStart = starts.count(points[i - 1].step) > 0;
            streaks.push_back({1, points[i].step, points[i].step, atStart, line, line});
        }
        falling = falls;
    }
    return streaks;
}

const SkipStreak* longest(const std::vector<SkipStreak>& streaks, bool atStart)
{
    const SkipStreak* most = nullptr;
    for (const auto& streak : streaks) {
        const bool longer = streak.atStart == atStart && (most == nullptr || streak.count > most->count);
        most = longer ? &streak : most;
    }
    return most;
}

} // namespace nanscope::diagnose::cards
