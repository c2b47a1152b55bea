// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/compareruns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/diagnose/recovery/losshistory.h"

namespace nanscope::diagnose {

namespace {

constexpr int mostDecimals = 9;

using SeriesKey = std::pair<std::string, std::optional<int>>; ///< a series and its rank

std::set<SeriesKey> keysIn(const RunData& run)
{
    std::set<SeriesKey> keys;
    for (const auto& series : run.series) {
        if (!series.points.empty()) {
            keys.emplace(series.name, series.rank);
        }
    }
    return keys;
}

/// A step may take longer, and no two runs take the same time.
bool isClock(const std::string& name)
{
    return name == "tokens_per_second" || name == "step_time_s" || name == "mfu";
}

bool isAlone(const std::string& name, const std::set<SeriesKey>& all)
{
    return std::ranges::count_if(all, [&](const SeriesKey& other) { return other.first == name; }) == 1;
}

LoneSeries loneOf(const Trace& trace, const SeriesKey& key, const std::set<SeriesKey>& all)
{
    LoneSeries lone;
    lone.name = key.first;
    lone.rank = isAlone(key.first, all) ? std::nullopt : key.second;
    lone.source = trace.source;
    const auto bad = std::ranges::find_if(trace.points, isNonFinite, &Point::state);
    if (bad != trace.points.end()) {
        lone.bad = *bad;
        lone.source = sourceOf(trace, *bad);
    }
    return lone;
}

std::vector<LoneSeries> loneSeries(const RunData& run, const std::set<SeriesKey>& keys)
{
    const auto all = keysIn(run);
    std::vector<LoneSeries> lone;
    for (const auto& key : keys) {
        lone.push_back(loneOf(traceOf(run, key.first, key.second), key, all));
    }
    return lone;
}

/// At one step the loss is what a reader looks for.
bool isBefore(const LoneSeries& a, const LoneSeries& b)
{
    return a.bad->step != b.bad->step ? a.bad->step < b.bad->step : a.name == "loss" && b.name != "loss";
}

std::optional<LoneSeries> firstBad(const RunData& run)
{
    std::optional<LoneSeries> first;
    const auto all = loneSeries(run, keysIn(run));
    for (const auto& one : all) {
        if (one.bad && !isClock(one.name) && (!first || isBefore(one, *first))) {
            first = one;
        }
    }
    if (first) {
        const auto same = std::ranges::count_if(all, [&](const LoneSeries& one) {
            return one.bad && one.name == first->name && one.bad->step == first->bad->step;
        });
        first->otherRanks = static_cast<int>(same) - 1;
    }
    return first;
}

/// A log that names no rank is held against the lowest rank of the other run: most trainers log what all ranks have.
/// So are two ranks that differ, where there is one of each.
void pairLonely(std::set<SeriesKey>& a, std::set<SeriesKey>& b, std::vector<std::pair<SeriesKey, SeriesKey>>& pairs,
    const std::set<SeriesKey>& allA, const std::set<SeriesKey>& allB)
{
    for (const auto& key : std::set<SeriesKey>(a)) {
        const auto sameName = [&](const SeriesKey& other) { return other.first == key.first; };
        const auto lowestA = std::ranges::find_if(allA, sameName);
        const auto lowestB = std::ranges::find_if(allB, sameName);
        if (key != *lowestA || lowestB == allB.end() || !b.contains(*lowestB)) {
            continue;
        }
        const bool oneOfEach = std::ranges::count_if(allA, sameName) == 1 && std::ranges::count_if(allB, sameName) == 1;
        if (oneOfEach || !key.second || !lowestB->second) {
            pairs.emplace_back(key, *lowestB);
            b.erase(*lowestB);
            a.erase(key);
        }
    }
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

/// A few round values tell nothing of how a log prints.
std::optional<int> trusted(const Trace& trace)
{
    constexpr std::size_t enoughValues = 20;
    std::set<double> values;
    for (const auto& point : trace.points) {
        if (point.state == PointState::finite && values.insert(point.value).second && values.size() >= enoughValues) {
            return decimalsOf(trace);
        }
    }
    return std::nullopt;
}

std::optional<int> coarser(std::optional<int> a, std::optional<int> b)
{
    return a && b ? std::min(a, b) : std::max(a, b);
}

bool sameRounded(const Point& a, const Point& b, int decimals)
{
    // Half a unit of the last place, with room for what the conversion itself rounds.
    return a.sameValue(b)
        || (a.state == PointState::finite && b.state == PointState::finite
            && std::abs(a.value - b.value) <= 0.5000001 * std::pow(10.0, -decimals));
}

double relativeDifference(double a, double b)
{
    const double size = std::max(std::abs(a), std::abs(b));
    return size > 0 ? std::abs(a - b) / size : 0;
}

void compare(SeriesComparison& out, const Point& a, const Point& b)
{
    ++out.common;
    if (a.sameValue(b)) {
        return;
    }
    ++out.differing;
    if (out.equalDecimals && !sameRounded(a, b, *out.equalDecimals)) {
        out.equalDecimals.reset();
    }
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
    out.equalDecimals = coarser(trusted(a), trusted(b));
    auto other = b.points.begin();
    for (const auto& point : a.points) {
        while (other != b.points.end() && other->step < point.step + shift) {
            ++other;
        }
        if (other != b.points.end() && other->step == point.step + shift) {
            compare(out, point, *other);
        }
    }
    if (out.differing == 0) {
        out.equalDecimals.reset();
    }
    out.a = std::move(a);
    out.b = std::move(b);
    return out;
}

/// The last value that a run gives a name, as a command line overrides a file. What a reader adds about its log is
/// none.
std::map<std::string, Setting> settingsOf(const RunData& run)
{
    std::map<std::string, Setting> all;
    for (const auto& setting : run.settings) {
        if (setting.name != stepBaseName) {
            all[setting.name] = setting;
        }
    }
    return all;
}

void compareSettings(const RunData& a, const RunData& b, RunComparison& out)
{
    const auto ofA = settingsOf(a);
    auto ofB = settingsOf(b);
    out.settingsOfA = std::ssize(ofA);
    out.settingsOfB = std::ssize(ofB);
    if (ofA.empty() || ofB.empty()) {
        return;
    }
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

std::int64_t damagedCaptures(const RunData& run)
{
    return std::ranges::count_if(run.captures, [](const Capture& capture) {
        return capture.output && capture.output->scanned() && !capture.output->total().finite();
    });
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

std::string settingsSentence(const RunComparison& comparison, std::string_view nameA, std::string_view nameB)
{
    const bool noneA = comparison.settingsOfA == 0;
    const bool noneB = comparison.settingsOfB == 0;
    if (noneA || noneB) {
        const auto who = noneA && noneB ? fmt::format("neither {} nor {} records any", nameA, nameB)
                                        : fmt::format("{} records none", noneA ? nameA : nameB);
        return fmt::format("Settings are not compared: {}; a configuration file (JSON, YAML or TOML) in the run's "
                           "folder, or a log that prints its configuration, would show them",
            who);
    }
    if (comparison.settings.empty()) {
        return comparison.sameSettings == 1 ? std::string("The one setting of both runs is equal")
                                            : fmt::format("All {} settings are equal", comparison.sameSettings);
    }
    const auto differ = comparison.settings.size() == 1 ? std::string("1 setting differs")
                                                        : fmt::format("{} settings differ", comparison.settings.size());
    const auto equal = comparison.sameSettings == 0 ? std::string("none is")
        : comparison.sameSettings == 1              ? std::string("1 is")
                                                    : fmt::format("{} are", comparison.sameSettings);
    return fmt::format("{}, {} equal", differ, equal);
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
    const auto allA = keysIn(a);
    const auto allB = keysIn(b);
    auto inA = allA;
    auto inB = allB;
    std::vector<std::pair<SeriesKey, SeriesKey>> pairs;
    for (const auto& key : allA) {
        if (inB.erase(key) > 0) {
            inA.erase(key);
            pairs.emplace_back(key, key);
        }
    }
    pairLonely(inA, inB, pairs, allA, allB);
    std::ranges::sort(pairs);
    RunComparison out;
    for (const auto& pair : pairs) {
        // clang 14 does not let lambdas capture structured bindings.
        const SeriesKey& keyA = pair.first;
        const SeriesKey& keyB = pair.second;
        if (isClock(keyA.first)) {
            continue;
        }
        const bool alone = isAlone(keyA.first, allA) && isAlone(keyB.first, allB);
        out.series.push_back(
            compareSeries(keyA.first, traceOf(a, keyA.first, keyA.second), traceOf(b, keyB.first, keyB.second), shift));
        out.series.back().rank = alone ? std::nullopt : std::max(keyA.second, keyB.second);
    }
    out.onlyA = loneSeries(a, inA);
    out.onlyB = loneSeries(b, inB);
    out.badA = firstBad(a);
    out.badB = firstBad(b);
    out.damagedA = damagedCaptures(a);
    out.damagedB = damagedCaptures(b);
    compareSettings(a, b, out);
    return out;
}

} // namespace nanscope::diagnose
