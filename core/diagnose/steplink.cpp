// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/steplink.h"

#include <fmt/format.h>

namespace nanscope {

namespace {

struct Neighbours
{
    std::optional<Point> before;
    std::optional<Point> after;
};

bool sameRank(const Series& series, const Event& event)
{
    return !series.rank || !event.rank || series.rank == event.rank;
}

// The step lines of the same rank on both sides of the line that names the dump, in the same file.
Neighbours neighbours(const RunData& run, const Event& event)
{
    Neighbours found;
    for (const auto& series : run.series) {
        if (series.source != event.source || !sameRank(series, event) || series.stepInferred) {
            continue;
        }
        for (const auto& point : series.points) {
            if (point.line < event.line && (!found.before || point.line > found.before->line)) {
                found.before = point;
            }
            if (point.line > event.line && (!found.after || point.line < found.after->line)) {
                found.after = point;
            }
        }
    }
    return found;
}

StepLink linkByLine(const RunData& run, const Event& event)
{
    StepLink link;
    const auto [before, after] = neighbours(run, event);
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
    return link;
}

} // namespace

StepLink linkStep(const RunData& run, const Capture& capture)
{
    if (capture.step) {
        return {std::pair(*capture.step, *capture.step), StepSource::sidecar, {}, 0, true};
    }
    StepLink best;
    for (const auto& event : run.events) {
        if (event.kind != EventKind::captureDumped || event.capture != capture.file) {
            continue;
        }
        const auto link = linkByLine(run, event);
        if (link.between && (!best.between || (link.closed && !best.closed))) {
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
    return fmt::format("after the line of step {}, before that of step {}", between->first, between->second);
}

std::string stepText(const StepLink& link)
{
    if (link.between && !link.closed) {
        return fmt::format("after the line of step {}, the last one of that rank", link.between->first);
    }
    return stepText(link.between);
}

} // namespace nanscope
