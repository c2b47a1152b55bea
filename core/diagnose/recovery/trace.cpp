// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/trace.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"

namespace nanscope::diagnose {

namespace {

/// Event files of TensorBoard carry the time of their start and the host in their names: what lies in one folder is of
/// one run, wherever it was started again.
constexpr std::string_view eventMark = ".tfevents.";

bool isEventFile(std::string_view source)
{
    return source.find(eventMark) != std::string_view::npos;
}

std::string_view folderOf(std::string_view source)
{
    const auto slash = source.rfind('/');
    return source.substr(0, slash == std::string_view::npos ? 0 : slash);
}

std::string_view startOf(std::string_view source)
{
    return source.substr(source.find(eventMark) + eventMark.size());
}

bool areOfOneRun(std::string_view a, std::string_view b)
{
    return sameButForNumbers(a, b) || (isEventFile(a) && isEventFile(b) && sameButForNumbers(folderOf(a), folderOf(b)));
}

bool wasWrittenBefore(std::string_view a, std::string_view b)
{
    if (!isEventFile(a) || !isEventFile(b)) {
        return naturalLess(a, b);
    }
    return folderOf(a) != folderOf(b) ? naturalLess(folderOf(a), folderOf(b)) : naturalLess(startOf(a), startOf(b));
}

/// The step from which on a writer of event files declared void what others had written.
std::int64_t voidedFrom(const RunData& run, const Series& series)
{
    auto first = series.points.front().step;
    if (!isEventFile(series.source)) {
        return first;
    }
    for (const auto& event : run.events) {
        if (event.kind == EventKind::resumed && event.source == series.source && event.step
            && event.line < series.points.front().line) {
            first = std::min(first, *event.step);
        }
    }
    return first;
}

/// Series that follow each other: of one rank, from one log or from logs whose names differ in their numbers only, as
/// those of several attempts do.
struct Origin
{
    std::vector<const Series*> series;
    bool countsRows = false; ///< they were counted, or what the log calls steps are none in the end

    std::size_t length() const
    {
        return std::accumulate(series.begin(), series.end(), std::size_t {0},
            [](std::size_t sum, const Series* one) { return sum + one->points.size(); });
    }
    bool takes(const Series& other) const { return areOfOneRun(series.front()->source, other.source); }
};

/// Logs that keep what they call a step as a value beside counted rows: it went back too often to be one.
std::set<std::string_view> sourcesWithoutSteps(const RunData& run)
{
    std::set<std::string_view> sources;
    for (const auto& series : run.series) {
        if (series.stepInferred && series.name == "step") {
            sources.insert(series.source);
        }
    }
    return sources;
}

std::vector<Origin> originsOf(const RunData& run, std::string_view name, const std::optional<int>* rank)
{
    std::vector<Origin> origins;
    std::map<std::pair<std::optional<int>, bool>, std::vector<std::size_t>> places; // by rank, few of each
    const auto withoutSteps = sourcesWithoutSteps(run);
    for (const auto& series : run.series) {
        if (series.name != name || series.points.empty() || (rank != nullptr && series.rank != *rank)) {
            continue;
        }
        auto& here = places[{series.rank, series.stepInferred}];
        const auto own = std::ranges::find_if(here, [&](std::size_t at) { return origins[at].takes(series); });
        const auto place = own == here.end() ? origins.size() : *own;
        if (place == origins.size()) {
            here.push_back(place);
            origins.emplace_back();
        }
        auto& origin = origins[place];
        origin.series.push_back(&series);
        origin.countsRows = origin.countsRows || series.stepInferred || withoutSteps.contains(series.source);
    }
    return origins;
}

/// Given steps before counted rows, then the longest, then the one that is listed first.
const Origin* bestOf(const std::vector<Origin>& origins)
{
    const auto worse = [](const Origin& a, const Origin& b) {
        return a.countsRows != b.countsRows ? a.countsRows : a.length() < b.length();
    };
    const auto best = std::ranges::max_element(origins, worse);
    return best == origins.end() ? nullptr : &*best;
}

/// A later segment takes the place of everything from its first step on: training went back there.
void overwrite(std::vector<Point>& points, const std::vector<Point>& later, std::int64_t from)
{
    const auto first = std::min(from, std::min_element(later.begin(), later.end(), [](const Point& a, const Point& b) {
        return a.step < b.step;
    })->step);
    const auto place = std::lower_bound(
        points.begin(), points.end(), first, [](const Point& point, std::int64_t step) { return point.step < step; });
    points.erase(place, points.end());
    points.insert(points.end(), later.begin(), later.end());
}

} // namespace

namespace {

Trace joined(const RunData& run, std::string_view name, const Origin* origin)
{
    Trace trace;
    trace.name = name;
    if (origin == nullptr) {
        return trace;
    }
    auto segments = origin->series;
    std::ranges::stable_sort(segments, [](const Series* a, const Series* b) {
        return a->source != b->source ? wasWrittenBefore(a->source, b->source) : a->segment < b->segment;
    });
    for (const auto* series : segments) {
        const auto from = voidedFrom(run, *series);
        std::erase_if(trace.parts, [&](const Trace::Part& part) { return part.firstStep >= from; });
        trace.parts.push_back({series->points.front().step, series->source});
        trace.source = series->source;
        trace.rank = series->rank;
        overwrite(trace.points, series->points, from);
    }
    return trace;
}

} // namespace

Trace traceOf(const RunData& run, std::string_view name)
{
    const auto origins = originsOf(run, name, nullptr);
    return joined(run, name, bestOf(origins));
}

Trace traceOf(const RunData& run, std::string_view name, std::optional<int> rank)
{
    const auto origins = originsOf(run, name, &rank);
    return joined(run, name, bestOf(origins));
}

std::string_view wordOf(PointState state)
{
    return state == PointState::nan ? "NaN" : state == PointState::posInf ? "Inf" : "-Inf";
}

bool isNonFinite(PointState state)
{
    return state == PointState::nan || state == PointState::posInf || state == PointState::negInf;
}

const std::string& sourceOf(const Trace& trace, const Point& point)
{
    const auto behind = std::ranges::upper_bound(trace.parts, point.step, {}, &Trace::Part::firstStep);
    return behind == trace.parts.begin() ? trace.source : std::prev(behind)->source;
}

std::string placeOf(const Trace& trace, const Point& point)
{
    return fmt::format("{}:{}", sourceOf(trace, point), point.line);
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

} // namespace nanscope::diagnose
