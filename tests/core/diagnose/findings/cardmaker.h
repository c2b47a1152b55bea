// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What one card says of a run made of a few values.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "core/diagnose/findings/findings.h"
#include "core/model/verdict.h"
#include "tests/core/diagnose/runmaker.h"

namespace nanscope {

inline Finding cardOf(const RunData& run, const std::string& id, const std::vector<CaptureVerdict>& verdicts = {},
    const diagnose::FindingChoices& choices = {})
{
    for (auto& finding : diagnose::findingsOf(run, verdicts, choices)) {
        if (finding.id == id) {
            return std::move(finding);
        }
    }
    ADD_FAILURE() << "no card " << id;
    return {};
}

inline FindingState stateOf(const RunData& run, const std::string& id, const std::vector<CaptureVerdict>& verdicts = {})
{
    return cardOf(run, id, verdicts).state;
}

inline RunData runWith(std::vector<Series> series, std::vector<Event> events = {}, std::vector<Setting> settings = {})
{
    RunData run;
    run.series = std::move(series);
    run.events = std::move(events);
    run.settings = std::move(settings);
    return run;
}

inline Setting setting(const std::string& name, const std::string& value, std::int64_t line = 7)
{
    return {name, value, {}, "config.yaml", line};
}

/// Every `interval` steps.
inline Series every(Series series, std::int64_t interval)
{
    for (auto& point : series.points) {
        point.step = series.firstStep + (point.step - series.firstStep) * interval;
    }
    return series;
}

/// The same values in a later segment.
inline Series inSegment(Series series, int segment, std::int64_t firstLine = 5000)
{
    series.segment = segment;
    for (auto& point : series.points) {
        point.line += firstLine - 100;
    }
    return series;
}

/// A value that its line has no field for.
inline void blank(Series& series, std::size_t place)
{
    series.points[place].state = PointState::reported;
    series.points[place].value = 0;
    ++series.missing;
    --series.pointCount;
}

inline Capture captureOf(const std::string& file, std::optional<int> rank, const Scan& input)
{
    Capture capture;
    capture.file = file;
    capture.rank = rank;
    capture.input.shape = {1, 10, 10};
    capture.input.batches = {input};
    return capture;
}

/// A hundred values up to `absmax`.
inline Scan hundred(double absmax)
{
    Scan scan;
    scan.count = 100;
    scan.absmax = absmax;
    return scan;
}

inline CaptureVerdict verdictOf(const std::string& file, Role role, Blame blame = Blame::undecided)
{
    CaptureVerdict verdict;
    verdict.capture = file;
    verdict.role = role;
    verdict.blame = blame;
    verdict.rank = 3;
    verdict.step = std::pair<std::int64_t, std::int64_t>(5, 6);
    return verdict;
}

} // namespace nanscope
