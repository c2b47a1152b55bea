// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/firstnonfinite.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "core/diagnose/recovery/trace.h"
#include "core/model/run.h"

namespace nanscope::diagnose {

namespace {

constexpr std::array<std::string_view, 3> alwaysMeasured {"loss", "grad_norm", "val_loss"};
constexpr std::array<std::string_view, 4> neverCounted {"tokens_per_second", "step_time_s", "time", "epoch"};

/// The first value of the streak that the series ends with, if a finite one comes before it.
const Point* firstOfLastStreak(const Series& series)
{
    const Point* first = nullptr;
    bool finiteBefore = false;
    for (const auto& point : series.points) {
        if (point.state == PointState::finite) {
            first = nullptr;
            finiteBefore = true;
        } else if (isNonFinite(point.state) && first == nullptr && finiteBefore) {
            first = &point;
        }
    }
    return first;
}

/// On one line the loss speaks for the others, then the gradient norm.
auto placeInLog(const NonFiniteValue& value)
{
    const auto& name = value.series->name;
    return std::tuple(value.point->line, name != "loss", name != "grad_norm");
}

auto placeInRun(const NonFiniteValue& value)
{
    return std::tuple(value.series->stepInferred, value.point->step, value.series->name != "loss");
}

template <class Wanted>
std::optional<NonFiniteValue> firstOf(const RunData& run, const Wanted& isWanted)
{
    std::map<std::string_view, NonFiniteValue> ofLogs;
    for (const auto& series : run.series) {
        const auto bad = series.nan + series.posInf + series.negInf;
        const auto* point = bad > 0 && isWanted(series) ? firstNonFiniteOf(series) : nullptr;
        if (point == nullptr) {
            continue;
        }
        const NonFiniteValue value {&series, point, bad, series.pointCount};
        const auto [known, isNew] = ofLogs.try_emplace(series.source, value);
        if (!isNew && placeInLog(value) < placeInLog(known->second)) {
            known->second = value;
        }
    }
    std::optional<NonFiniteValue> first;
    for (const auto& [source, value] : ofLogs) {
        first = !first || placeInRun(value) < placeInRun(*first) ? value : first;
    }
    return first;
}

} // namespace

const Point* firstNonFiniteOf(const Series& series)
{
    if (std::ranges::find(neverCounted, series.name) != neverCounted.end()) {
        return nullptr;
    }
    if (std::ranges::find(alwaysMeasured, series.name) == alwaysMeasured.end()) {
        return firstOfLastStreak(series);
    }
    const auto found = std::ranges::find_if(series.points, [](const Point& point) { return isNonFinite(point.state); });
    return found == series.points.end() ? nullptr : &*found;
}

std::optional<NonFiniteValue> firstNonFinite(const RunData& run, const SourceFilter& isLookedAt)
{
    return firstOf(run, [&](const Series& series) { return isLookedAt(series.source); });
}

std::optional<NonFiniteValue> firstNonFiniteLoss(const RunData& run, const SourceFilter& isLookedAt)
{
    return firstOf(run, [&](const Series& series) { return series.name == "loss" && isLookedAt(series.source); });
}

std::string textOf(const NonFiniteValue& value)
{
    const auto& [series, point, count, total] = value;
    return fmt::format("{} is {} at {} {}{} ({}:{})", series->name, wordOf(point->state),
        series->stepInferred ? "row" : "step", point->step,
        series->rank && *series->rank > 0 ? fmt::format(" on rank {}", *series->rank) : std::string(), series->source,
        point->line);
}

} // namespace nanscope::diagnose
