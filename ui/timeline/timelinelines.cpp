// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinelines.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace nanscope {

namespace {

class ColumnGrid
{
public:
    ColumnGrid(Interval steps, int columns)
        : m_width(std::max(steps.high - steps.low, 1e-9) / std::max(columns, 1))
        , m_steps(steps)
    { }
    std::int64_t of(double step) const { return static_cast<std::int64_t>(std::floor(step / m_width)); }
    double middle(std::int64_t index) const { return (static_cast<double>(index) + 0.5) * m_width; }
    std::int64_t first() const { return of(m_steps.low); }
    std::int64_t last() const { return of(m_steps.high); }

private:
    double m_width;
    Interval m_steps;
};

/// A bucket that was not looked into says nothing of where in it the extremes lie: each of its columns shows both.
void appendSpread(std::vector<Column>& out, const Bucket& bucket, const ColumnGrid& grid)
{
    const std::int64_t from = std::max(grid.of(static_cast<double>(bucket.firstStep)), grid.first() - 1);
    const std::int64_t to = std::min(grid.of(static_cast<double>(bucket.lastStep)), grid.last() + 1);
    for (std::int64_t index = from; index <= to; ++index) {
        Bucket part = bucket;
        part.first = part.last = Bucket::none;
        part.minAt = part.maxAt = grid.middle(index);
        out.push_back({index, part, true});
    }
}

bool isWide(const Bucket& bucket, const ColumnGrid& grid)
{
    return !bucket.exact
        && grid.of(static_cast<double>(bucket.lastStep)) > grid.of(static_cast<double>(bucket.firstStep));
}

struct Vertex
{
    double step;
    double value;
};

class Pen
{
public:
    Pen(Polyline& line, bool positive)
        : m_line(line)
        , m_positive(positive)
    { }

    void gap(double step)
    {
        if (!m_line.values.empty() && !std::isnan(m_line.values.back())) {
            add({step, Bucket::none});
        }
    }
    void draw(Vertex vertex)
    {
        if (!std::isnan(vertex.value) && (!m_positive || vertex.value > 0)) {
            add(vertex);
        }
    }

private:
    void add(Vertex vertex)
    {
        // The library searches by key: keys never go back, whatever a damaged session says.
        m_line.steps.push_back(m_line.steps.empty() ? vertex.step : std::max(vertex.step, m_line.steps.back()));
        m_line.values.push_back(vertex.value);
    }

    Polyline& m_line;
    bool m_positive;
};

void drawColumn(Pen& pen, const Bucket& bucket, bool positive)
{
    const auto first = static_cast<double>(bucket.firstStep);
    const auto last = static_cast<double>(bucket.lastStep);
    const bool single = bucket.count == 1;
    if (bucket.opensWithGap || bucket.finite == 0 || (single && positive && !(bucket.first > 0))) {
        pen.gap(first);
    }
    pen.draw({first, bucket.first});
    if (!single) {
        const Vertex low {bucket.minAt, bucket.min};
        const Vertex high {bucket.maxAt, bucket.max};
        pen.draw(low.step <= high.step ? low : high);
        pen.draw(low.step <= high.step ? high : low);
        pen.draw({last, bucket.last});
    }
    if (bucket.closesWithGap) {
        pen.gap(last);
    }
}

struct Mean
{
    double sum = 0;
    double count = 0;
    double value() const { return sum / count; }
};

Mean meanAround(std::span<const Column> columns, std::size_t at, int half)
{
    Mean mean;
    const auto add = [&mean](const Bucket& bucket) {
        mean.sum += bucket.sum;
        mean.count += static_cast<double>(bucket.finite);
    };
    add(columns[at].bucket);
    for (std::size_t i = at; i > 0 && at - i < static_cast<std::size_t>(half); --i) {
        if (columns[i].bucket.opensWithGap || columns[i - 1].bucket.closesWithGap) {
            break;
        }
        add(columns[i - 1].bucket);
    }
    for (std::size_t i = at + 1; i < columns.size() && i - at <= static_cast<std::size_t>(half); ++i) {
        if (columns[i].bucket.opensWithGap || columns[i - 1].bucket.closesWithGap) {
            break;
        }
        add(columns[i].bucket);
    }
    return mean;
}

struct BandCell
{
    std::optional<Interval> values;
    std::optional<Interval> at;
    std::vector<double> lasts;
};

void addToCell(BandCell& cell, const Column& column, bool positive)
{
    const Bucket& bucket = column.bucket;
    cell.at = united(cell.at,
        column.spread ? Interval {bucket.minAt, bucket.maxAt}
                      : Interval {static_cast<double>(bucket.firstStep), static_cast<double>(bucket.lastStep)});
    if (bucket.finite == 0 || (positive && !(bucket.max > 0))) {
        return;
    }
    const double low = positive && !(bucket.min > 0) ? bucket.max : bucket.min;
    cell.values = united(cell.values, Interval {low, bucket.max});
    const double last = column.spread ? 0.5 * (bucket.min + bucket.max) : bucket.last;
    if (!positive || last > 0) {
        cell.lasts.push_back(last);
    }
}

double medianOf(std::vector<double>& values)
{
    if (values.empty()) {
        return Bucket::none;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) {
        return *middle;
    }
    return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

} // namespace

std::vector<Column> columnsOf(std::span<const Bucket> buckets, Interval steps, int columns)
{
    const ColumnGrid grid(steps, columns);
    std::vector<Column> out;
    for (const Bucket& bucket : around(buckets, steps)) {
        if (isWide(bucket, grid)) {
            appendSpread(out, bucket, grid);
            continue;
        }
        const std::int64_t index = grid.of(static_cast<double>(bucket.firstStep));
        if (!out.empty() && out.back().index == index && !out.back().spread) {
            merge(out.back().bucket, bucket);
        } else {
            out.push_back({index, bucket});
        }
    }
    return out;
}

Polyline polylineOf(std::span<const Column> columns, bool positive)
{
    Polyline line;
    Pen pen(line, positive);
    for (const Column& column : columns) {
        drawColumn(pen, column.bucket, positive);
    }
    return line;
}

Polyline smoothed(std::span<const Column> columns, int half, bool positive)
{
    Polyline line;
    Pen pen(line, positive);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const Bucket& bucket = columns[i].bucket;
        const double at =
            columns[i].spread ? bucket.minAt : 0.5 * static_cast<double>(bucket.firstStep + bucket.lastStep);
        if (bucket.opensWithGap || bucket.finite == 0) {
            pen.gap(at);
        }
        if (bucket.finite > 0) {
            pen.draw({at, meanAround(columns, i, half).value()});
        }
    }
    return line;
}

Band bandOf(std::span<const TimelineTrace> traces, Interval steps, int columns, bool positive)
{
    const ColumnGrid grid(steps, columns);
    const std::int64_t first = grid.first() - 1;
    std::vector<BandCell> cells(static_cast<std::size_t>(grid.last() + 2 - first));
    for (const TimelineTrace& trace : traces) {
        for (const Column& column : columnsOf(trace.buckets, steps, columns)) {
            const std::int64_t at = std::clamp<std::int64_t>(column.index - first, 0, std::ssize(cells) - 1);
            addToCell(cells[static_cast<std::size_t>(at)], column, positive);
        }
    }
    Band band;
    for (BandCell& cell : cells) {
        if (cell.at) {
            band.steps.push_back(0.5 * (cell.at->low + cell.at->high));
            band.low.push_back(cell.values ? cell.values->low : Bucket::none);
            band.high.push_back(cell.values ? cell.values->high : Bucket::none);
            band.median.push_back(medianOf(cell.lasts));
        }
    }
    return band;
}

std::vector<NonFiniteMark> nonFiniteMarks(std::span<const Bucket> buckets, Interval steps, int columns)
{
    const ColumnGrid grid(steps, columns);
    std::vector<NonFiniteMark> marks;
    std::array<std::optional<std::size_t>, 3> open;
    for (const Bucket& bucket : within(buckets, steps)) {
        const double from = std::max(steps.low, static_cast<double>(bucket.firstStep));
        const double to = std::min(steps.high, static_cast<double>(bucket.lastStep));
        for (std::size_t i = 0; i < open.size(); ++i) {
            if (bucket.nonFinite[i] == 0) {
                continue;
            }
            const double at =
                bucket.exact ? std::clamp(static_cast<double>(bucket.nonFiniteAt[i]), from, to) : 0.5 * (from + to);
            if (!open[i] || grid.of(marks[*open[i]].position) != grid.of(at)) {
                open[i] = marks.size();
                marks.push_back({at, static_cast<PointState>(i + static_cast<std::size_t>(PointState::nan))});
            }
        }
    }
    return marks;
}

namespace {

/// Of a bucket of several nobody knows which of them are out of the steps.
bool reachesOut(const Bucket& bucket, Interval steps)
{
    return static_cast<double>(bucket.firstStep) < steps.low || static_cast<double>(bucket.lastStep) > steps.high;
}

void addStretches(std::vector<Interval>& stretches, std::span<const Bucket> buckets, Interval steps, std::size_t which)
{
    bool open = false;
    for (const Bucket& bucket : within(buckets, steps)) {
        const bool all = bucket.count > 0 && bucket.nonFinite[which] == bucket.count;
        const double last = std::min(steps.high, static_cast<double>(bucket.lastStep));
        if (all && open) {
            stretches.back().high = last;
        } else if (all) {
            stretches.push_back({std::max(steps.low, static_cast<double>(bucket.firstStep)), last});
        }
        open = all;
    }
}

std::vector<Interval> united(std::vector<Interval> intervals)
{
    std::ranges::sort(intervals, {}, &Interval::low);
    std::vector<Interval> result;
    for (const Interval& one : intervals) {
        if (result.empty() || one.low > result.back().high) {
            result.push_back(one);
        } else {
            result.back().high = std::max(result.back().high, one.high);
        }
    }
    return result;
}

} // namespace

std::vector<Interval> nonFiniteStretches(std::span<const TimelineTrace> traces, Interval steps, PointState state)
{
    const std::size_t which = static_cast<std::size_t>(state) - static_cast<std::size_t>(PointState::nan);
    std::vector<Interval> stretches;
    for (const TimelineTrace& trace : traces) {
        addStretches(stretches, trace.buckets, steps, which);
    }
    std::erase_if(stretches, [](const Interval& stretch) { return stretch.low >= stretch.high; });
    return united(std::move(stretches));
}

SampleCounts countSamples(std::span<const Bucket> buckets, Interval steps, int columns)
{
    const ColumnGrid grid(steps, columns);
    SampleCounts counts;
    std::optional<std::int64_t> column;
    std::int64_t inColumn = 0;
    constexpr std::int64_t mostDrawn = 4;
    const auto close = [&] { counts.drawn += std::min(inColumn, mostDrawn); };
    for (const Bucket& bucket : within(buckets, steps)) {
        const std::int64_t own = grid.of(static_cast<double>(bucket.firstStep));
        if (column != own) {
            close();
            inColumn = 0;
        }
        column = own;
        inColumn += bucket.count;
        counts.all += bucket.count;
        counts.exact = counts.exact && !reachesOut(bucket, steps);
        counts.nonFinite += nonFiniteCount(bucket);
        counts.nonPositive += bucket.nonPositive;
        counts.nonPositiveExact = counts.nonPositiveExact && (bucket.exact || bucket.nonPositive == 0);
    }
    close();
    return counts;
}

} // namespace nanscope
