// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/lanematerial.h"

#include <algorithm>

namespace nanscope::diagnose {

namespace {

using Lanes = std::map<LaneKey, LaneMaterial>;

std::optional<Mark> markOf(const Event& event)
{
    if (const auto message = probe::parseNanMessage(event.text); message && event.kind == EventKind::nanLoss) {
        return Mark {Mark::Kind::message, &event, *message};
    }
    const auto says = [&](std::string_view words) { return event.text.find(words) != std::string::npos; };
    if (event.kind == EventKind::resumed || event.text.starts_with("Resumed from step ")) {
        return Mark {Mark::Kind::resumed, &event};
    }
    if (event.kind == EventKind::optimizerStop && says("Too many consecutive NaNs")) {
        return Mark {Mark::Kind::stopped, &event};
    }
    if (says("cannot convert float NaN to integer") || says("cannot convert float infinity to integer")) {
        return Mark {Mark::Kind::crashed, &event};
    }
    return std::nullopt;
}

void addLosses(const RunData& run, Lanes& lanes)
{
    for (const auto& series : run.series) {
        if (series.name == "loss") {
            lanes[{series.source, series.rank}].losses.push_back(&series);
        }
    }
    for (auto& [key, material] : lanes) {
        std::stable_sort(material.losses.begin(), material.losses.end(),
            [](const Series* a, const Series* b) { return a->segment < b->segment; });
    }
}

void addBadGradients(const Series& series, LaneMaterial& material)
{
    for (const auto& point : series.points) {
        if (point.state != PointState::finite && point.state != PointState::reported) {
            material.badGradients.insert({series.segment, point.step});
        }
    }
}

void addCompanions(const RunData& run, Lanes& lanes)
{
    for (const auto& series : run.series) {
        const auto lane = lanes.find({series.source, series.rank});
        if (lane == lanes.end()) {
            continue;
        }
        if (series.name == "grad_norm") {
            addBadGradients(series, lane->second);
        }
        // Only nanochat prints this one, and its loss is a running average.
        lane->second.runningAverage = lane->second.runningAverage || series.name == "lrm";
    }
}

/// A line that names no rank was printed by the lowest that prints.
LaneMaterial* laneOf(Lanes& lanes, const Event& event)
{
    if (const auto exact = lanes.find({event.source, event.rank}); exact != lanes.end()) {
        return &exact->second;
    }
    const auto lowest = lanes.lower_bound({event.source, std::nullopt});
    const bool other = lowest != lanes.end() && lowest->first.first == event.source;
    return other && !event.rank ? &lowest->second : nullptr;
}

void addMark(const Mark& mark, Lanes& lanes)
{
    auto* lane = laneOf(lanes, *mark.event);
    // A run that was never finite has no loss on any line, only warnings.
    if (lane == nullptr && mark.kind == Mark::Kind::message) {
        lane = &lanes[{mark.event->source, mark.event->rank}];
    }
    if (lane != nullptr) {
        lane->marks.push_back(mark);
    }
}

void addMarks(const RunData& run, Lanes& lanes)
{
    std::vector<Mark> marks;
    for (const auto& event : run.events) {
        if (auto mark = markOf(event)) {
            marks.push_back(*mark);
        }
    }
    // Lines with a rank first: they tell which ranks print at all.
    std::stable_partition(marks.begin(), marks.end(), [](const Mark& mark) { return mark.event->rank.has_value(); });
    for (const auto& mark : marks) {
        addMark(mark, lanes);
    }
    for (auto& [key, material] : lanes) {
        std::stable_sort(material.marks.begin(), material.marks.end(),
            [](const Mark& a, const Mark& b) { return a.event->line < b.event->line; });
    }
}

} // namespace

Lanes collectLanes(const RunData& run)
{
    Lanes lanes;
    addLosses(run, lanes);
    addMarks(run, lanes);
    addCompanions(run, lanes);
    return lanes;
}

} // namespace nanscope::diagnose
