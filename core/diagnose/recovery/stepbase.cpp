// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/stepbase.h"

#include <algorithm>

namespace nanscope::diagnose {

namespace {

/// What the reader of the log knows of its trainer.
std::optional<std::int64_t> baseOfTrainer(const RunData& run, const LossLane& lane)
{
    const auto said = std::ranges::find_if(run.settings,
        [&](const Setting& setting) { return setting.name == stepBaseName && setting.source == lane.source; });
    return said == run.settings.end() ? std::nullopt : std::optional<std::int64_t>(said->value == "0" ? 0 : 1);
}

/// Weights of step N were loaded, and the next loss is printed as that of step N.
bool beganWithLoadedStep(const RunData& run, const LossLane& lane, const std::vector<const Series*>& losses)
{
    const auto isLoaded = [&](const Checkpoint& one) {
        return one.fact == CheckpointFact::loaded && one.source == lane.source && one.step > 0;
    };
    if (std::ranges::none_of(run.checkpoints, isLoaded)) {
        return false;
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> lines; // and the step there
    for (const auto* series : losses) {
        for (const auto& point : series->points) {
            lines.emplace_back(point.line, point.step);
        }
    }
    std::ranges::stable_sort(lines, {}, &std::pair<std::int64_t, std::int64_t>::first);
    return std::ranges::any_of(run.checkpoints, [&](const Checkpoint& one) {
        const auto behind =
            std::ranges::upper_bound(lines, one.line, {}, &std::pair<std::int64_t, std::int64_t>::first);
        return isLoaded(one) && behind != lines.end() && behind->second == one.step;
    });
}

} // namespace

std::int64_t stepBaseOf(const RunData& run, const LossLane& lane, const std::vector<const Series*>& losses)
{
    if (lane.ownDetector) {
        return 0;
    }
    if (const auto base = baseOfTrainer(run, lane)) {
        return *base;
    }
    if (beganWithLoadedStep(run, lane, losses)) {
        return 0;
    }
    const auto least = std::ranges::min_element(losses, {}, &Series::firstStep);
    return least != losses.end() && (*least)->firstStep == 0 ? 0 : 1;
}

} // namespace nanscope::diagnose
