// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/stepbase.h"

#include <algorithm>
#include <limits>

namespace nanscope {

namespace {

/// What the reader of the log knows of its trainer.
std::optional<std::int64_t> baseOfTrainer(const RunData& run, const LossLane& lane)
{
    const auto said = std::ranges::find_if(run.settings,
        [&](const Setting& setting) { return setting.name == stepBaseName && setting.source == lane.source; });
    return said == run.settings.end() ? std::nullopt : std::optional<std::int64_t>(said->value == "0" ? 0 : 1);
}

/// The step of the first loss behind a line.
std::optional<std::int64_t> firstStepBehind(const RunData& run, const LossLane& lane, std::int64_t line)
{
    std::optional<Point> first;
    for (const auto& series : run.series) {
        if (series.name != "loss" || series.source != lane.source || series.rank != lane.rank) {
            continue;
        }
        for (const auto& point : series.points) {
            if (point.line > line && (!first || point.line < first->line)) {
                first = point;
            }
        }
    }
    return first ? std::optional(first->step) : std::nullopt;
}

/// Weights of step N were loaded, and the next loss is printed as that of step N.
bool beganWithLoadedStep(const RunData& run, const LossLane& lane)
{
    return std::ranges::any_of(run.checkpoints, [&](const Checkpoint& one) {
        return one.fact == CheckpointFact::loaded && one.source == lane.source && one.step > 0
            && firstStepBehind(run, lane, one.line) == one.step;
    });
}

} // namespace

std::int64_t stepBaseOf(const RunData& run, const Trail& trail)
{
    const auto& lane = trail.lanes.front();
    if (lane.ownDetector) {
        return 0;
    }
    if (const auto base = baseOfTrainer(run, lane)) {
        return *base;
    }
    if (beganWithLoadedStep(run, lane)) {
        return 0;
    }
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const auto& series : run.series) {
        if (series.name == "loss" && series.source == lane.source && series.rank == lane.rank) {
            least = std::min(least, series.firstStep);
        }
    }
    return least == 0 ? 0 : 1;
}

} // namespace nanscope
