// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/metriclines.h"

#include <algorithm>

#include "core/model/run.h"

namespace nanscope::diagnose {

MetricLines::MetricLines(const RunData& run)
{
    constexpr std::ptrdiff_t ahead = 3;
    for (const auto& series : run.series) {
        if (series.points.empty()) {
            continue;
        }
        auto& lines = m_lines[series.source][series.rank];
        const auto& points = series.points;
        lines.last = std::max(lines.last, points.back().line);
        if (series.name == "loss" && std::ssize(points) >= ahead) {
            lines.thirdLast = std::max(lines.thirdLast, (points.end() - ahead)->line);
        }
    }
}

bool MetricLines::goOnPast(const Event& event) const
{
    const auto log = m_lines.find(event.source);
    return log != m_lines.end() && std::ranges::any_of(log->second, [&](const auto& one) {
        const auto& [rank, lines] = one;
        const bool other = rank && event.rank && rank != event.rank;
        return (other ? lines.thirdLast : lines.last) > event.line;
    });
}

} // namespace nanscope::diagnose
