// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/triage/finitesteps.h"

#include <algorithm>
#include <iterator>

namespace nanscope::diagnose {

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

std::optional<std::int64_t> FiniteSteps::lastUpTo(std::int64_t step, const std::optional<int>& rank) const
{
    std::optional<std::int64_t> last;
    for (const auto& line : m_lines) {
        if (line.series->rank && rank && line.series->rank != rank) {
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
