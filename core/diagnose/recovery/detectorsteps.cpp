// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/detectorsteps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nanscope::diagnose {

namespace {

/// The line that prints this loss at this step, of those before a warning.
const Point* printedAs(const std::vector<const Series*>& losses, std::int64_t step, double loss, std::int64_t before)
{
    constexpr double roundedBoth = 0.00006; // to four digits, one of them at least
    for (const auto* series : losses) {
        const auto behind = [](const Point& point, std::int64_t wanted) { return point.step < wanted; };
        for (auto point = std::lower_bound(series->points.begin(), series->points.end(), step, behind);
             point != series->points.end() && point->step == step; ++point) {
            if (point->line < before && std::abs(point->value - loss) < roundedBoth) {
                return &*point;
            }
        }
    }
    return nullptr;
}

} // namespace

DetectorNumbering numberingOf(const std::vector<const Series*>& losses, const std::vector<const Event*>& events)
{
    for (const auto* event : events) {
        const auto said = event->facts.detector.value_or(NanMessage());
        for (const std::int64_t offset : {1, 0}) {
            const auto* point = namesGoodLoss(said)
                ? printedAs(losses, *said.lastGoodStep + offset, *said.lastGoodLoss, event->line)
                : nullptr;
            if (point != nullptr) {
                return {offset, event, point};
            }
        }
    }
    return {};
}

bool namesGoodLoss(const NanMessage& said)
{
    return said.lastGoodLoss && said.lastGoodStep && std::isfinite(*said.lastGoodLoss);
}

bool isDetectorLine(const Event& event)
{
    return event.kind == EventKind::nanLoss && event.step && (event.facts.detector || event.says(Phrase::badGradient));
}

bool saysLeftOut(const Event& event)
{
    return event.kind == EventKind::skippedStep || (isDetectorLine(event) && event.facts.detector);
}

DetectorSteps::DetectorSteps(const RunData& run)
{
    std::map<std::string, std::vector<const Event*>, std::less<>> lines;
    for (const auto& event : run.events) {
        if (isDetectorLine(event)) {
            lines[event.source].push_back(&event);
        }
    }
    std::map<std::string, std::vector<const Series*>, std::less<>> losses;
    for (const auto& series : run.series) {
        if (series.name == "loss" && lines.contains(series.source)) {
            losses[series.source].push_back(&series);
        }
    }
    for (const auto& [source, events] : lines) {
        m_offsets[source] = numberingOf(losses[source], events).offset;
    }
}

std::int64_t DetectorSteps::printed(const Event& event) const
{
    const auto offset = m_offsets.find(event.source);
    const bool last = *event.step == std::numeric_limits<std::int64_t>::max();
    return *event.step + (isDetectorLine(event) && offset != m_offsets.end() && !last ? offset->second : 0);
}

} // namespace nanscope::diagnose
