// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/trace.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace nanscope {

namespace {

struct Origin
{
    std::string source;
    std::optional<int> rank;
    bool inferred = false;

    auto operator<=>(const Origin&) const = default;
};

/// Given steps before inferred ones, then the longest, then the lowest rank.
std::vector<const Series*> bestOrigin(const RunData& run, std::string_view name)
{
    std::map<Origin, std::vector<const Series*>> origins;
    for (const auto& series : run.series) {
        if (series.name == name && !series.points.empty()) {
            origins[{series.source, series.rank, series.stepInferred}].push_back(&series);
        }
    }
    const auto length = [](const std::vector<const Series*>& all) {
        std::size_t sum = 0;
        for (const auto* series : all) {
            sum += series->points.size();
        }
        return sum;
    };
    const auto worse = [&](const auto& a, const auto& b) {
        if (a.first.inferred != b.first.inferred) {
            return a.first.inferred;
        }
        const auto lengthA = length(a.second);
        const auto lengthB = length(b.second);
        return lengthA != lengthB ? lengthA < lengthB : b.first < a.first;
    };
    const auto best = std::max_element(origins.begin(), origins.end(), worse);
    return best == origins.end() ? std::vector<const Series*>() : best->second;
}

/// A later segment takes the place of everything from its first step on: training went back there.
void overwrite(std::vector<Point>& points, const std::vector<Point>& later)
{
    const auto first = std::min_element(
        later.begin(), later.end(), [](const Point& a, const Point& b) { return a.step < b.step; })->step;
    const auto from = std::lower_bound(
        points.begin(), points.end(), first, [](const Point& point, std::int64_t step) { return point.step < step; });
    points.erase(from, points.end());
    points.insert(points.end(), later.begin(), later.end());
}

} // namespace

Trace traceOf(const RunData& run, std::string_view name)
{
    Trace trace;
    trace.name = name;
    auto segments = bestOrigin(run, name);
    std::sort(segments.begin(), segments.end(), [](const auto* a, const auto* b) { return a->segment < b->segment; });
    for (const auto* series : segments) {
        trace.source = series->source;
        trace.rank = series->rank;
        overwrite(trace.points, series->points);
    }
    return trace;
}

bool isNonFinite(PointState state)
{
    return state == PointState::nan || state == PointState::posInf || state == PointState::negInf;
}

std::string placeOf(const Trace& trace, const Point& point)
{
    return fmt::format("{}:{}", trace.source, point.line);
}

std::vector<Point> finitePoints(const Trace& trace)
{
    std::vector<Point> finite;
    std::copy_if(trace.points.begin(), trace.points.end(), std::back_inserter(finite),
        [](const Point& point) { return point.state == PointState::finite; });
    return finite;
}

const Point* lastStreak(const Trace& trace)
{
    const Point* first = nullptr;
    for (const auto& point : trace.points) {
        if (point.state == PointState::finite) {
            first = nullptr;
        } else if (isNonFinite(point.state) && first == nullptr) {
            first = &point;
        }
    }
    return first;
}

double medianOf(std::vector<double> values)
{
    if (values.empty()) {
        return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace nanscope
