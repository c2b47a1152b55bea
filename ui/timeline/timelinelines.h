// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include "ui/timeline/trace.h"

namespace nanscope {

/// What falls on one pixel column. The grid lies at multiples of its own width, so that panning does not make
/// columns flicker.
struct Column
{
    std::int64_t index = 0;
    Bucket bucket;
    bool spread = false; ///< one of several columns that a bucket nobody looked into covers
};

std::vector<Column> columnsOf(std::span<const Bucket> buckets, Interval steps, int columns);

/// A line for drawing, at most six points a column: NaN is a gap, an infinite value never appears.
struct Polyline
{
    std::vector<double> steps;
    std::vector<double> values;
};

/// First, smallest, largest and last of each column. With `positive` what a logarithmic axis cannot show is left out.
Polyline polylineOf(std::span<const Column> columns, bool positive = false);

/// Mean over `half` columns to either side; what lies behind a gap is not mixed in.
Polyline smoothed(std::span<const Column> columns, int half, bool positive = false);

/// Smallest and largest value of all traces in each column, and the median of the last value of each trace.
struct Band
{
    std::vector<double> steps;
    std::vector<double> low;
    std::vector<double> high;
    std::vector<double> median;
};

Band bandOf(std::span<const TimelineTrace> traces, Interval steps, int columns, bool positive = false);

/// Non-finite points that fall on one column of the lane.
struct NonFiniteMark
{
    double position = 0; ///< step of the first of them, or the middle of the chunk that it is somewhere in
    PointState state = PointState::nan;
    std::size_t row = 0; ///< of the lane
};

std::vector<NonFiniteMark> nonFiniteMarks(std::span<const Bucket> buckets, Interval steps, int columns);

/// From the first to the last step of samples in a row that all are of this state, in any of the traces; none of a
/// single sample.
std::vector<Interval> nonFiniteStretches(std::span<const TimelineTrace> traces, Interval steps, PointState state);

/// How many samples there are within the steps, how many stand for themselves, and what a logarithmic axis leaves out.
struct SampleCounts
{
    std::int64_t all = 0;
    std::int64_t drawn = 0;
    std::int64_t nonFinite = 0;
    std::int64_t nonPositive = 0;
    bool nonPositiveExact = true;
    bool exact = true; ///< false: a bucket reaches out of the steps, and is counted with all that it has
};

SampleCounts countSamples(std::span<const Bucket> buckets, Interval steps, int columns);

} // namespace nanscope
