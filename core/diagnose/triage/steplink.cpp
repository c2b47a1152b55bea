// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/triage/steplink.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace nanscope::diagnose {

namespace {

bool sameRank(const Series& series, const Event& event)
{
    return !series.rank || !event.rank || series.rank == event.rank;
}

bool earlierLine(const Point& a, const Point& b)
{
    return a.line < b.line;
}

} // namespace

// A dump outlives the log that named it: a line of a log that was begun anew since still tells its step.
StepLinks::StepLinks(const RunData& run)
{
    add(run);
    for (const auto& log : run.replaced) {
        add(log.records);
    }
}

void StepLinks::add(const LogRecords& run)
{
    for (const auto& event : run.events) {
        if (event.kind == EventKind::captureDumped) {
            m_naming.emplace(event.capture, &event);
            m_lines.try_emplace(event.source);
        }
    }
    for (const auto& series : run.series) {
        const auto log = m_lines.find(series.source);
        if (log != m_lines.end() && !series.stepInferred) {
            log->second.push_back({&series, std::ranges::is_sorted(series.points, earlierLine)});
        }
    }
}

// The step lines of the same rank on both sides of the line that names the dump, in the same file.
StepLinks::Neighbours StepLinks::neighbours(const Event& event) const
{
    Neighbours found;
    const auto consider = [&](const Point& point) {
        if (point.line < event.line && (!found.before || point.line > found.before->line)) {
            found.before = point;
        }
        if (point.line > event.line && (!found.after || point.line < found.after->line)) {
            found.after = point;
        }
    };
    for (const auto& [series, inOrder] : m_lines.at(event.source)) {
        if (!sameRank(*series, event)) {
            continue;
        }
        const auto& points = series->points;
        if (!inOrder) {
            std::ranges::for_each(points, consider);
            continue;
        }
        const auto from = std::ranges::lower_bound(points, event.line, {}, &Point::line);
        const auto to = std::ranges::upper_bound(points, event.line, {}, &Point::line);
        if (from != points.begin()) {
            consider(*std::prev(from));
        }
        if (to != points.end()) {
            consider(*to);
        }
    }
    return found;
}

bool StepLinks::isMerged(std::string_view source) const
{
    const auto& lines = m_lines.at(source);
    return std::ranges::any_of(lines, [&](const Lines& one) { return one.series->rank != lines.front().series->rank; });
}

StepLink StepLinks::byLine(const Event& event) const
{
    StepLink link;
    const auto [before, after] = neighbours(event);
    if (!before && !after) {
        return link;
    }
    const auto first = before ? before->step : after->step - 1;
    const auto second = after ? after->step : first + 1;
    // A restart between the two lines says nothing about the update in between.
    if (second < first) {
        return link;
    }
    link.between = std::pair(first, second);
    link.source = StepSource::console;
    link.file = event.source;
    link.line = event.line;
    link.closed = before && after;
    link.merged = isMerged(event.source);
    return link;
}

StepLink StepLinks::of(const Capture& capture) const
{
    auto logged = byLogs(capture);
    if (!capture.step) {
        return logged;
    }
    StepLink said {std::pair(*capture.step, *capture.step), StepSource::capture, {}, 0, true};
    if (logged.closed && (*capture.step < logged.between->first || *capture.step > logged.between->second)) {
        said.otherwise = logged.between;
        said.file = std::move(logged.file);
        said.line = logged.line;
    }
    return said;
}

StepLink StepLinks::byLogs(const Capture& capture) const
{
    StepLink best;
    const auto [from, to] = m_naming.equal_range(capture.file);
    for (auto naming = from; naming != to; ++naming) {
        const auto link = byLine(*naming->second);
        const auto worth = [](const StepLink& one) { return std::pair(!one.merged, one.closed); };
        if (link.between && (!best.between || worth(link) > worth(best))) {
            best = link;
        }
    }
    if (!best.between && capture.timestampMs) {
        best.source = StepSource::mtime;
    }
    return best;
}

std::string stepText(const std::optional<std::pair<std::int64_t, std::int64_t>>& between)
{
    if (!between) {
        return "at an unknown step";
    }
    if (between->first == between->second) {
        return fmt::format("at step {}", between->first);
    }
    return fmt::format("between the log lines of steps {} and {}", between->first, between->second);
}

} // namespace nanscope::diagnose
