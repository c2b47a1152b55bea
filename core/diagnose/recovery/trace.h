// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace nanscope::diagnose {

/// One value of a run over its steps, as a plot shows it: where a restart wrote steps again, the last writer wins.
struct Trace
{
    std::string name;
    std::string source; ///< the log it comes from, of several attempts the last
    std::optional<int> rank;
    std::vector<Point> points; ///< in order of step, at most one of a step
    struct Part
    {
        std::int64_t firstStep = 0;
        std::string source;
    };
    std::vector<Part> parts; ///< which log the points from a step on come from

    bool empty() const { return points.empty(); }
};

/// The trace of a canonical name, from the log (or the logs of its attempts) that has most points of it. Inferred steps
/// only where there are no others. Empty where no log has it, or where the points of the run were not read.
Trace traceOf(const RunData& run, std::string_view name);
/// The same of one rank, or of logs that name none.
Trace traceOf(const RunData& run, std::string_view name, std::optional<int> rank);

bool isNonFinite(PointState state);
/// "NaN", "Inf", "-Inf" of one that is not finite.
std::string_view wordOf(PointState state);

/// The log a point of the trace comes from.
const std::string& sourceOf(const Trace& trace, const Point& point);

/// "train.log:77"
std::string placeOf(const Trace& trace, const Point& point);

/// The points with a finite value.
std::vector<Point> finitePoints(const Trace& trace);

/// The first point that is not finite and after which no finite one comes: the streak that never recovers.
const Point* lastStreak(const Trace& trace);

} // namespace nanscope::diagnose
