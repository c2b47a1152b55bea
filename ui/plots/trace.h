// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <QString>

#include "core/model/run.h"

namespace nanscope {

struct TracePoint
{
    std::int64_t step = 0;
    double value = 0;
    PointState state = PointState::finite;
};

/// One line of a timeline: one value of one rank, in ascending steps.
struct Trace
{
    QString label;
    std::optional<int> rank;
    std::vector<TracePoint> points;
};

/// What happened at or between steps, for the upper row of the marker lane.
struct TimelineEvent
{
    enum class Kind { birth, capture, other };
    double position = 0;
    Kind kind = Kind::other;
    QString text;
};

struct Interval
{
    double low = 0;
    double high = 0;
    bool operator==(const Interval&) const = default;
};

/// Non-finite points that fall on one pixel column of the lane.
struct NonFiniteMark
{
    double position = 0; ///< step of the first of them
    PointState state = PointState::nan;
    int count = 0;
};

/// At most four points per pixel column (first, smallest, largest, last), so that drawing costs the same for any
/// length; NaN keys a gap in the line. Infinite values never reach `values`.
struct DecimatedTrace
{
    std::vector<double> steps;
    std::vector<double> values;
};

DecimatedTrace decimate(std::span<const TracePoint> points, Interval steps, int columns);
std::vector<NonFiniteMark> nonFiniteMarks(std::span<const TracePoint> points, Interval steps, int columns);

/// Range of the finite values within `steps`; nothing where there are none.
std::optional<Interval> finiteRange(std::span<const TracePoint> points, Interval steps);
std::optional<Interval> stepRange(std::span<const TracePoint> points);

/// The point at a step, or the nearest one.
const TracePoint* nearestPoint(std::span<const TracePoint> points, double step);

} // namespace nanscope
