// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/triage/finitesteps.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace nanscope::diagnose {

namespace {

/// The log of an attempt that was over by then says nothing of this one. Not every series has a value at each step.
bool endedBefore(const Series& series, std::int64_t latest)
{
    const auto& points = series.points;
    const auto length = points.back().step - points.front().step;
    const auto apart = points.size() > 1 ? length / (std::ssize(points) - 1) : 1;
    return points.back().step + 2 * std::max<std::int64_t>(apart, 1) < latest;
}

} // namespace

FiniteSteps::FiniteSteps(const RunData& run)
{
    for (const auto& series : run.series) {
        const bool tells = series.name == "loss" || series.name == "grad_norm";
        if (!tells || series.points.empty() || !std::ranges::is_sorted(series.points, {}, &Point::step)) {
            continue;
        }
        Line line {&series, {}};
        for (std::size_t i = 0; i < series.points.size(); ++i) {
            const bool next = i + 1 < series.points.size() && series.points[i + 1].state == PointState::finite;
            if (series.points[i].state == PointState::finite && !next) {
                line.lastOfStretch.push_back(static_cast<std::int64_t>(i));
            }
        }
        m_lines.push_back(std::move(line));
    }
}

std::optional<std::int64_t> FiniteSteps::lastOf(const Line& line, std::int64_t step)
{
    const auto& points = line.series->points;
    const auto after = std::ranges::upper_bound(points, step, {}, &Point::step);
    if (after == points.begin()) {
        return std::nullopt;
    }
    if (std::prev(after)->state == PointState::finite) {
        return std::prev(after)->step;
    }
    const auto at = std::distance(points.begin(), after);
    const auto stretch = std::ranges::lower_bound(line.lastOfStretch, at);
    return stretch == line.lastOfStretch.begin()
        ? std::nullopt
        : std::optional(points[static_cast<std::size_t>(*std::prev(stretch))].step);
}

bool FiniteSteps::isOfOther(const Line& line, const std::optional<int>& rank)
{
    return line.series->rank && rank && line.series->rank != rank;
}

std::int64_t FiniteSteps::latestUpTo(std::int64_t step, const std::optional<int>& rank) const
{
    auto latest = std::numeric_limits<std::int64_t>::min();
    for (const auto& line : m_lines) {
        const auto& points = line.series->points;
        const auto after = std::ranges::upper_bound(points, step, {}, &Point::step);
        if (!isOfOther(line, rank) && after != points.begin()) {
            latest = std::max(latest, std::prev(after)->step);
        }
    }
    return latest;
}

std::optional<std::int64_t> FiniteSteps::lastUpTo(std::int64_t step, const std::optional<int>& rank) const
{
    std::optional<std::int64_t> last;
    const auto latest = latestUpTo(step, rank);
    for (const auto& line : m_lines) {
        if (isOfOther(line, rank) || endedBefore(*line.series, latest)) {
            continue;
        }
        const auto own = lastOf(line, step);
        if (!own) {
            return std::nullopt;
        }
        last = std::min(last.value_or(*own), *own);
    }
    return last;
}

} // namespace nanscope::diagnose
