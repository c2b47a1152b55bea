// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/cardevidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/recovery/detectorsteps.h"
#include "core/diagnose/recovery/teecopies.h"
#include "core/model/verdict.h"

namespace nanscope::diagnose::cards {

namespace {

constexpr std::size_t linesShown = 3;

constexpr std::array<std::string_view, 5> tables {".csv", ".tsv", ".json", ".jsonl", ".wandb"};

bool isTable(std::string_view source)
{
    const auto name = source.substr(source.find_last_of('/') + 1);
    return source.find("tfevents") != std::string_view::npos || name == "metrics" // MLflow's folder
        || std::any_of(tables.begin(), tables.end(), [&](std::string_view end) { return source.ends_with(end); });
}

/// Counters of steps that were left out.
bool countsSkips(const Series& series)
{
    return (series.name == "skipped_iterations" || series.name == "skipped_steps")
        && std::any_of(series.points.begin(), series.points.end(), [](const Point& point) { return point.value > 0; });
}

/// Of any attempt: a later one that is fine takes an earlier one's place in the trace.
bool countsBad(const Series& series)
{
    return (series.name == "loss" || series.name == "grad_norm") && series.nan + series.posInf + series.negInf > 0;
}

bool anyBad(const Trace& trace)
{
    return std::any_of(
        trace.points.begin(), trace.points.end(), [](const Point& point) { return isNonFinite(point.state); });
}

} // namespace

RunSummary runSummaryOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts, const SpikeRule& spikeRule)
{
    RunSummary summary {run, verdicts, spikeRule, traceOf(run, "loss"), traceOf(run, "grad_norm"),
        traceOf(run, "loss_scale"), traceOf(run, "lr"), {}, eventsOnce(run)};
    summary.timeline = failureTimelineOf(run, verdicts);
    return summary;
}

std::string whyEmpty(const RunData& run, std::string_view name)
{
    const bool logged = std::any_of(run.series.begin(), run.series.end(),
        [&](const Series& series) { return series.name == name && series.pointCount + series.missing > 0; });
    return logged ? fmt::format("the points of {} were not read here", name) : fmt::format("no {} is logged", name);
}

std::string whyEmpty(const RunSummary& summary, const Trace& trace)
{
    return whyEmpty(summary.run, trace.name);
}

bool hasConsole(const RunData& run)
{
    return !run.events.empty() || std::any_of(run.series.begin(), run.series.end(), [](const Series& series) {
        return !isTable(series.source);
    });
}

bool wentBad(const RunSummary& summary)
{
    const auto& events = summary.run.events;
    return !summary.timeline.none() || anyBad(summary.loss) || anyBad(summary.gradNorm)
        || std::any_of(events.begin(), events.end(),
            [](const Event& e) { return e.kind == EventKind::nanLoss || e.kind == EventKind::skippedStep; })
        || std::any_of(summary.run.series.begin(), summary.run.series.end(), countsSkips)
        || std::any_of(summary.run.series.begin(), summary.run.series.end(), countsBad)
        || std::any_of(summary.verdicts.begin(), summary.verdicts.end(), [](const CaptureVerdict& verdict) {
               return verdict.role != Role::healthy && verdict.role != Role::noOutput;
           });
}

bool couldGoBad(const RunSummary& summary)
{
    return !summary.loss.empty() || !summary.gradNorm.empty() || !summary.run.captures.empty();
}

std::int64_t intervalOf(const Trace& trace)
{
    std::map<std::int64_t, std::int64_t> counts;
    for (std::size_t i = 1; i < trace.points.size(); ++i) {
        ++counts[trace.points[i].step - trace.points[i - 1].step];
    }
    const auto most = std::max_element(
        counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts.end() ? 0 : most->first;
}

std::set<std::int64_t> freshStarts(const RunData& run, const Trace& trace)
{
    std::set<std::int64_t> starts;
    for (const auto& series : run.series) {
        if (series.name == trace.name && series.rank == trace.rank && sameButForNumbers(series.source, trace.source)) {
            starts.insert(series.firstStep);
        }
    }
    return starts;
}

const Point* pointAt(const Trace& trace, std::int64_t step)
{
    const auto at = std::lower_bound(trace.points.begin(), trace.points.end(), step,
        [](const Point& point, std::int64_t wanted) { return point.step < wanted; });
    return at != trace.points.end() && at->step == step ? &*at : nullptr;
}

const Event* eventSaying(const RunData& run, Phrase phrase)
{
    const auto found =
        std::find_if(run.events.begin(), run.events.end(), [&](const Event& event) { return event.says(phrase); });
    return found == run.events.end() ? nullptr : &*found;
}

Evidence evidenceOf(const Trace& trace, const Point& point)
{
    const auto value = point.state == PointState::reported ? std::string("reported without a value")
                                                           : fmt::format("is {:.6g}", point.value);
    return {sourceOf(trace, point), point.line, fmt::format("{} {} at step {}", trace.name, value, point.step)};
}

Evidence evidenceOf(const Event& event)
{
    return {event.source, event.line, event.text};
}

Evidence evidenceOf(const Setting& setting)
{
    return {setting.source, setting.line, textOf(setting)};
}

Evidence evidenceOf(const Capture& capture, std::string text)
{
    return {capture.file, 0, std::move(text)};
}

std::string textOf(const Setting& setting)
{
    return fmt::format("{} = {}", setting.name, setting.value);
}

std::string howMany(std::int64_t count, std::string_view noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::int64_t LinesOfRanks::most() const
{
    std::int64_t most = 0;
    for (const auto& [rank, lines] : m_lines) {
        most = std::max(most, lines);
    }
    return most;
}

void addEvidence(std::vector<Evidence>& evidence, Evidence line)
{
    if (evidence.size() < linesShown) {
        evidence.push_back(std::move(line));
    }
}

namespace {

std::map<int, const Series*> lossBySegment(const RunSummary& summary)
{
    std::map<int, const Series*> best;
    for (const auto& series : summary.run.series) {
        if (series.name != "loss" || series.rank != summary.loss.rank || series.points.empty()) {
            continue;
        }
        auto& slot = best[series.segment];
        slot = slot == nullptr || series.points.size() > slot->points.size() ? &series : slot;
    }
    return best;
}

void readPoints(Attempt& attempt)
{
    for (const auto& point : attempt.loss->points) {
        if (isNonFinite(point.state)) {
            attempt.firstBad = point.step;
            attempt.bad = {attempt.loss->source, point.line, {}};
            return;
        }
        attempt.goodBefore = attempt.goodBefore || point.state == PointState::finite;
    }
}

void readDetector(const RunData& run, const DetectorSteps& steps, Attempt& attempt, std::int64_t endLine)
{
    const auto& points = attempt.loss->points;
    for (const auto& event : run.events) {
        const bool mine =
            event.source == attempt.loss->source && event.line >= points.front().line && event.line < endLine;
        if (!mine || !isDetectorLine(event)) {
            continue;
        }
        const auto step = steps.printed(event);
        if (!attempt.firstBad || step < *attempt.firstBad) {
            attempt.firstBad = step;
            attempt.bad = evidenceOf(event);
            attempt.goodBefore = points.front().state == PointState::finite && points.front().step < step;
        }
    }
}

void readRate(const RunSummary& summary, Attempt& attempt)
{
    for (const auto& series : summary.run.series) {
        const bool mine = series.name == "lr" && series.source == attempt.loss->source
            && series.segment == attempt.loss->segment && series.rank == attempt.loss->rank;
        for (const auto& point : series.points) {
            if (mine && point.state == PointState::finite) {
                attempt.peakLr = std::max(attempt.peakLr.value_or(point.value), point.value);
            }
        }
    }
}

} // namespace

std::vector<Attempt> attemptsOf(const RunSummary& summary)
{
    std::vector<Attempt> attempts;
    const auto segments = lossBySegment(summary);
    const DetectorSteps steps(summary.run);
    for (auto segment = segments.begin(); segment != segments.end(); ++segment) {
        Attempt attempt;
        attempt.loss = segment->second;
        attempt.firstStep = attempt.loss->points.front().step;
        readPoints(attempt);
        const auto next = std::next(segment);
        const bool shares = next != segments.end() && next->second->source == attempt.loss->source;
        readDetector(summary.run, steps, attempt,
            shares ? next->second->points.front().line : std::numeric_limits<std::int64_t>::max());
        readRate(summary, attempt);
        if (attempt.firstBad && attempt.bad.text.empty()) {
            attempt.bad.text = "loss is not finite at step " + std::to_string(*attempt.firstBad);
        }
        attempts.push_back(std::move(attempt));
    }
    return attempts;
}

std::vector<Attempt> wentBadLater(const RunSummary& summary)
{
    auto attempts = attemptsOf(summary);
    std::erase_if(attempts, [](const Attempt& attempt) { return !attempt.firstBad || !attempt.goodBefore; });
    return attempts;
}

std::vector<Attempt> startedAttempts(const RunSummary& summary)
{
    auto attempts = attemptsOf(summary);
    const auto interval = std::max<std::int64_t>(intervalOf(summary.loss), 1);
    std::erase_if(attempts, [interval](const Attempt& attempt) { return attempt.firstStep > interval; });
    return attempts;
}

std::vector<Attempt> freshAttempts(const RunSummary& summary)
{
    auto attempts = startedAttempts(summary);
    std::erase_if(attempts, [](const Attempt& attempt) { return !attempt.peakLr; });
    return attempts;
}

bool sameRate(double a, double b)
{
    return std::abs(a - b) <= 0.01 * std::max(std::abs(a), std::abs(b));
}

} // namespace nanscope::diagnose::cards
