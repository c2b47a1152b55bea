// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/decimate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace nanscope::report {

namespace {

/// Collects the points of one column after the other.
class LineBuilder
{
public:
    void add(int column, Spot point)
    {
        if (m_column != column) {
            flush();
            m_column = column;
        }
        m_points.push_back(point);
        if (m_points.size() > 4096) {
            m_points = kept();
        }
    }

    void breakLine()
    {
        flush();
        if (!m_line.empty()) {
            m_lines.push_back(std::exchange(m_line, {}));
        }
    }

    std::vector<std::vector<Spot>> take()
    {
        breakLine();
        return std::move(m_lines);
    }

private:
    /// First, smallest, largest and last in the order they came, each once.
    std::vector<Spot> kept() const
    {
        const auto lower = [](Spot a, Spot b) { return a.y < b.y; };
        const auto [low, high] = std::minmax_element(m_points.begin(), m_points.end(), lower);
        std::vector<std::ptrdiff_t> places {
            0, low - m_points.begin(), high - m_points.begin(), static_cast<std::ptrdiff_t>(m_points.size()) - 1};
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        std::vector<Spot> result;
        for (const auto place : places) {
            result.push_back(m_points[static_cast<std::size_t>(place)]);
        }
        return result;
    }

    void flush()
    {
        if (!m_points.empty()) {
            const auto points = kept();
            m_line.insert(m_line.end(), points.begin(), points.end());
            m_points.clear();
        }
    }

    std::optional<int> m_column;
    std::vector<Spot> m_points;
    std::vector<Spot> m_line;
    std::vector<std::vector<Spot>> m_lines;
};

bool missing(const Point& point)
{
    return point.state == PointState::reported;
}

} // namespace

int Columns::of(std::int64_t step) const
{
    const auto span = static_cast<double>(lastStep - firstStep);
    if (span <= 0) {
        return 0;
    }
    const auto place = static_cast<double>(step - firstStep) / span * count;
    return std::clamp(static_cast<int>(place), 0, count - 1);
}

Decimated decimate(std::span<const Point> points, const Columns& columns, const Columns& markColumns)
{
    LineBuilder lines;
    std::map<std::pair<int, PointState>, NonFiniteColumn> marks;
    std::optional<std::int64_t> before;
    for (const auto& point : points) {
        if (missing(point)) {
            continue;
        }
        if (before && point.step < *before) {
            lines.breakLine();
        }
        before = point.step;
        if (point.state == PointState::finite) {
            lines.add(columns.of(point.step), {static_cast<double>(point.step), point.value});
            continue;
        }
        lines.breakLine();
        const auto column = markColumns.of(point.step);
        auto& mark = marks.try_emplace({column, point.state}, NonFiniteColumn {column, point.state, point.step, 0})
                         .first->second;
        ++mark.count;
    }
    Decimated result {lines.take(), {}};
    for (const auto& [key, mark] : marks) {
        result.marks.push_back(mark);
    }
    return result;
}

} // namespace nanscope::report
