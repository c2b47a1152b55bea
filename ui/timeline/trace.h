// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <limits>
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
    std::int64_t line = 0; ///< 1-based line of the trace's source, 0 where unknown
};

struct Interval
{
    double low = 0;
    double high = 0;
    bool operator==(const Interval&) const = default;
};

/// Neighbouring points of a line as what must stay visible of them. Of a single point it is the whole truth.
struct Bucket
{
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();

    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    std::int64_t count = 0; ///< with those that have no value
    std::int64_t finite = 0;
    double first = none; ///< finite, like last, min and max
    double last = none;
    double min = none;
    double max = none;
    double minAt = 0;
    double maxAt = 0;
    double sum = 0; ///< of the finite values
    std::int64_t nonPositive = 0;
    std::array<std::int64_t, 3> nonFinite {}; ///< NaN, +Inf, −Inf
    std::array<std::int64_t, 3> nonFiniteAt {}; ///< step of the first of each
    std::int64_t line = 0; ///< of a single point
    bool opensWithGap = false;
    bool closesWithGap = false;
    bool exact = true; ///< false: points nobody looked at yet; where in it something lies is not known
};

/// One line of a timeline: one value of one rank, in ascending steps.
struct TimelineTrace
{
    QString label;
    std::vector<Bucket> buckets;
    QString source {}; ///< the log, for file:line
    int style = 0; ///< lines of the same rank look the same
};

/// What happened at or between steps, for the upper row of the marker lane.
struct TimelineEvent
{
    enum class Kind { birth, capture, other };
    double position = 0;
    Kind kind = Kind::other;
    QString text;
    QString source {};
    std::int64_t line = 0;
    QString capture {}; ///< file name, where the event is one
};

Bucket bucketOf(const TracePoint& point);
/// Takes in the bucket that follows.
void merge(Bucket& bucket, const Bucket& next);

/// One bucket a point.
std::vector<Bucket> bucketsOf(std::span<const TracePoint> points);
/// One bucket for the points that fall between the same multiples of `width` steps; one a point up to a width of 1.
void appendReduced(std::vector<Bucket>& buckets, std::span<const TracePoint> points, double width);

std::int64_t nonFiniteCount(const Bucket& bucket);
/// The point a bucket of one point stands for.
TracePoint pointOf(const Bucket& bucket);

/// The buckets that reach into `steps`.
std::span<const Bucket> within(std::span<const Bucket> buckets, Interval steps);
/// And one on either side, so that lines run out of the window instead of ending in it.
std::span<const Bucket> around(std::span<const Bucket> buckets, Interval steps);
/// The bucket that holds a step, or the nearest one.
const Bucket* nearestBucket(std::span<const Bucket> buckets, double step);

/// Range of the finite (or only of the positive) values within `steps`; nothing where there are none.
std::optional<Interval> finiteRange(std::span<const Bucket> buckets, Interval steps);
std::optional<Interval> positiveRange(std::span<const Bucket> buckets, Interval steps);
std::optional<Interval> stepRange(std::span<const Bucket> buckets);

std::optional<Interval> united(std::optional<Interval> a, const std::optional<Interval>& b);

} // namespace nanscope
