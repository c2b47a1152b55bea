// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/compareruns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace nanscope {

namespace {

constexpr int mostDecimals = 9;

std::set<std::string> namesIn(const RunData& run)
{
    std::set<std::string> names;
    for (const auto& series : run.series) {
        if (!series.points.empty()) {
            names.insert(series.name);
        }
    }
    return names;
}

bool printsWith(const Trace& trace, int decimals)
{
    const double scale = std::pow(10.0, decimals);
    return std::all_of(trace.points.begin(), trace.points.end(), [&](const Point& point) {
        const double scaled = point.value * scale;
        // Up to 2^53 a decimal fraction reads back within an ulp of itself.
        return point.state != PointState::finite
            || std::abs(scaled - std::nearbyint(scaled)) <= 1e-15 * std::abs(scaled) + 1e-12;
    });
}

std::optional<int> coarser(std::optional<int> a, std::optional<int> b)
{
    return a && b ? std::optional(std::min(*a, *b)) : a ? a : b;
}

bool same(const Point& a, const Point& b, std::optional<int> decimals)
{
    if (a.state != b.state || a.state != PointState::finite) {
        return a.state == b.state;
    }
    // Half a unit of the last printed place, with room for what the conversion itself rounds.
    return decimals ? std::abs(a.value - b.value) <= 0.5000001 * std::pow(10.0, -*decimals) : a.value == b.value;
}

double relativeDifference(double a, double b)
{
    const double size = std::max(std::abs(a), std::abs(b));
    return size > 0 ? std::abs(a - b) / size : 0;
}

void compare(SeriesComparison& out, const Point& a, const Point& b)
{
    ++out.common;
    if (same(a, b, out.decimals)) {
        return;
    }
    ++out.differing;
    if (!out.first) {
        out.first = {a, b};
    }
    const bool numbers = a.state == PointState::finite && b.state == PointState::finite;
    if (const double relative = numbers ? relativeDifference(a.value, b.value) : 0; relative > out.largestRelative) {
        out.largestRelative = relative;
        out.largest = {a, b};
    }
}

SeriesComparison compareSeries(const std::string& name, Trace a, Trace b, std::int64_t shift)
{
    SeriesComparison out;
    out.name = name;
    out.decimals = coarser(decimalsOf(a), decimalsOf(b));
    auto other = b.points.begin();
    for (const auto& point : a.points) {
        while (other != b.points.end() && other->step < point.step + shift) {
            ++other;
        }
        if (other != b.points.end() && other->step == point.step + shift) {
            compare(out, point, *other);
        }
    }
    out.a = std::move(a);
    out.b = std::move(b);
    return out;
}

/// The last value that a run gives a name, as a command line overrides a file.
std::map<std::string, Setting> settingsOf(const RunData& run)
{
    std::map<std::string, Setting> all;
    for (const auto& setting : run.settings) {
        all[setting.name] = setting;
    }
    return all;
}

void compareSettings(const RunData& a, const RunData& b, RunComparison& out)
{
    if (a.settings.empty() || b.settings.empty()) {
        return;
    }
    const auto ofA = settingsOf(a);
    auto ofB = settingsOf(b);
    for (const auto& [name, setting] : ofA) {
        const auto other = ofB.find(name);
        if (other == ofB.end()) {
            out.settings.push_back({name, setting, std::nullopt});
            continue;
        }
        if (other->second.value == setting.value) {
            ++out.sameSettings;
        } else {
            out.settings.push_back({name, setting, other->second});
        }
        ofB.erase(other);
    }
    for (const auto& [name, setting] : ofB) {
        out.settings.push_back({name, std::nullopt, setting});
    }
    // What both have tells more than what one of them does not print.
    std::stable_sort(out.settings.begin(), out.settings.end(),
        [](const auto& x, const auto& y) { return (x.a && x.b) && !(y.a && y.b); });
}

} // namespace

std::optional<int> decimalsOf(const Trace& trace)
{
    for (int decimals = 0; decimals <= mostDecimals; ++decimals) {
        if (printsWith(trace, decimals)) {
            return decimals;
        }
    }
    return std::nullopt;
}

const SeriesComparison* RunComparison::first() const
{
    const SeriesComparison* earliest = nullptr;
    for (const auto& one : series) {
        if (one.first && (earliest == nullptr || one.first->first.step < earliest->first->first.step)) {
            earliest = &one;
        }
    }
    return earliest;
}

RunComparison compareRuns(const RunData& a, const RunData& b, std::int64_t shift)
{
    // A step may take longer, and no two runs take the same time.
    const std::set<std::string> clocks {"tokens_per_second", "step_time_s", "mfu"};
    RunComparison out;
    const auto inB = namesIn(b);
    for (const auto& name : namesIn(a)) {
        if (!inB.contains(name)) {
            out.onlyA.push_back(name);
        } else if (!clocks.contains(name)) {
            out.series.push_back(compareSeries(name, traceOf(a, name), traceOf(b, name), shift));
        }
    }
    const auto inA = namesIn(a);
    std::copy_if(inB.begin(), inB.end(), std::back_inserter(out.onlyB),
        [&](const std::string& name) { return !inA.contains(name); });
    compareSettings(a, b, out);
    return out;
}

} // namespace nanscope
