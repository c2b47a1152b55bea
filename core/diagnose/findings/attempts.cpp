// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/findings/attempts.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/diagnose/findings/story.h"

namespace nanscope::diagnose::cards {

namespace {

std::map<int, const Series*> lossBySegment(const Story& story)
{
    std::map<int, const Series*> best;
    for (const auto& series : story.run.series) {
        if (series.name != "loss" || series.rank != story.loss.rank || series.points.empty()) {
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

/// Attempt n of KempnerForge's detector would have been printed as step n + 1.
void readDetector(const Story& story, Attempt& attempt, std::int64_t endLine)
{
    const auto& points = attempt.loss->points;
    for (const auto& event : story.run.events) {
        const bool mine =
            event.source == attempt.loss->source && event.line >= points.front().line && event.line < endLine;
        const bool counts =
            event.kind == EventKind::nanLoss && event.step && (event.facts.detector || event.says(Phrase::badGradient));
        if (mine && counts && (!attempt.firstBad || *event.step + 1 < *attempt.firstBad)) {
            attempt.firstBad = *event.step + 1;
            attempt.bad = evidenceOf(event);
            attempt.goodBefore = points.front().state == PointState::finite && points.front().step <= *event.step;
        }
    }
}

void readRate(const Story& story, Attempt& attempt)
{
    for (const auto& series : story.run.series) {
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

std::vector<Attempt> attemptsOf(const Story& story)
{
    std::vector<Attempt> attempts;
    const auto segments = lossBySegment(story);
    for (auto segment = segments.begin(); segment != segments.end(); ++segment) {
        Attempt attempt;
        attempt.loss = segment->second;
        attempt.firstStep = attempt.loss->points.front().step;
        readPoints(attempt);
        const auto next = std::next(segment);
        const bool shares = next != segments.end() && next->second->source == attempt.loss->source;
        readDetector(
            story, attempt, shares ? next->second->points.front().line : std::numeric_limits<std::int64_t>::max());
        readRate(story, attempt);
        if (attempt.firstBad && attempt.bad.text.empty()) {
            attempt.bad.text = "loss is not finite at step " + std::to_string(*attempt.firstBad);
        }
        attempts.push_back(std::move(attempt));
    }
    return attempts;
}

} // namespace nanscope::diagnose::cards
