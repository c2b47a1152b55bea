// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace nanscope {

namespace {

std::span<const TracePoint> within(std::span<const TracePoint> points, Interval steps)
{
    const auto begin = std::ranges::lower_bound(
        points, steps.low, {}, [](const TracePoint& point) { return static_cast<double>(point.step); });
    const auto end = std::ranges::upper_bound(
        points, steps.high, {}, [](const TracePoint& point) { return static_cast<double>(point.step); });
    return begin < end ? std::span<const TracePoint>(begin, end) : std::span<const TracePoint>();
}

/// The visible points and one on either side, so that lines run out of the window instead of ending in it.
std::span<const TracePoint> around(std::span<const TracePoint> points, Interval steps)
{
    const auto inside = within(points, steps);
    const std::size_t first = inside.empty()
        ? static_cast<std::size_t>(std::ranges::lower_bound(points, steps.low, {},
                                       [](const TracePoint& point) { return static_cast<double>(point.step); })
            - points.begin())
        : static_cast<std::size_t>(inside.data() - points.data());
    const std::size_t begin = first > 0 ? first - 1 : 0;
    const std::size_t end = std::min(points.size(), first + inside.size() + 1);
    return points.subspan(begin, end - begin);
}

class Columns
{
public:
    Columns(Interval steps, int count)
        : m_low(steps.low)
        , m_perStep(steps.high > steps.low ? count / (steps.high - steps.low) : 0)
    { }
    std::int64_t of(const TracePoint& point) const
    {
        return static_cast<std::int64_t>(std::floor((static_cast<double>(point.step) - m_low) * m_perStep));
    }

private:
    double m_low;
    double m_perStep;
};

void append(DecimatedTrace& out, const TracePoint& point)
{
    out.steps.push_back(static_cast<double>(point.step));
    out.values.push_back(point.state == PointState::finite ? point.value : std::numeric_limits<double>::quiet_NaN());
}

void appendColumn(DecimatedTrace& out, std::span<const TracePoint> column)
{
    constexpr std::size_t few = 4;
    if (column.size() <= few) {
        std::ranges::for_each(column, [&](const TracePoint& point) { append(out, point); });
        return;
    }
    const TracePoint* smallest = nullptr;
    const TracePoint* largest = nullptr;
    for (const TracePoint& point : column) {
        if (point.state != PointState::finite) {
            continue;
        }
        smallest = !smallest || point.value < smallest->value ? &point : smallest;
        largest = !largest || point.value > largest->value ? &point : largest;
    }
    std::array<const TracePoint*, few> kept {
        &column.front(), smallest ? smallest : &column.front(), largest ? largest : &column.front(), &column.back()};
    std::ranges::sort(kept);
    const auto repeats = std::ranges::unique(kept);
    std::for_each(kept.begin(), repeats.begin(), [&](const TracePoint* point) { append(out, *point); });
}

template <class Visit>
void forEachColumn(std::span<const TracePoint> points, const Columns& columns, Visit visit)
{
    for (std::size_t begin = 0; begin < points.size();) {
        std::size_t end = begin + 1;
        while (end < points.size() && columns.of(points[end]) == columns.of(points[begin])) {
            ++end;
        }
        visit(points.subspan(begin, end - begin));
        begin = end;
    }
}

} // namespace

DecimatedTrace decimate(std::span<const TracePoint> points, Interval steps, int columns)
{
    DecimatedTrace out;
    forEachColumn(around(points, steps), Columns(steps, columns),
        [&](std::span<const TracePoint> column) { appendColumn(out, column); });
    return out;
}

std::vector<NonFiniteMark> nonFiniteMarks(std::span<const TracePoint> points, Interval steps, int columns)
{
    std::vector<NonFiniteMark> marks;
    forEachColumn(within(points, steps), Columns(steps, columns), [&](std::span<const TracePoint> column) {
        for (const PointState state : {PointState::nan, PointState::posInf, PointState::negInf}) {
            const auto first = std::ranges::find(column, state, &TracePoint::state);
            if (first != column.end()) {
                marks.push_back({static_cast<double>(first->step), state,
                    static_cast<int>(std::ranges::count(column, state, &TracePoint::state))});
            }
        }
    });
    return marks;
}

std::optional<Interval> finiteRange(std::span<const TracePoint> points, Interval steps)
{
    std::optional<Interval> range;
    for (const TracePoint& point : within(points, steps)) {
        if (point.state != PointState::finite) {
            continue;
        }
        range = range ? Interval {std::min(range->low, point.value), std::max(range->high, point.value)}
                      : Interval {point.value, point.value};
    }
    return range;
}

std::optional<Interval> stepRange(std::span<const TracePoint> points)
{
    if (points.empty()) {
        return std::nullopt;
    }
    return Interval {static_cast<double>(points.front().step), static_cast<double>(points.back().step)};
}

const TracePoint* nearestPoint(std::span<const TracePoint> points, double step)
{
    const auto distance = [step](const TracePoint& point) { return std::abs(static_cast<double>(point.step) - step); };
    const auto after = std::ranges::lower_bound(
        points, step, {}, [](const TracePoint& point) { return static_cast<double>(point.step); });
    if (after == points.begin()) {
        return points.empty() ? nullptr : &points.front();
    }
    const auto before = after - 1;
    return after == points.end() || distance(*before) <= distance(*after) ? &*before : &*after;
}

} // namespace nanscope
