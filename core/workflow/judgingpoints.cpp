// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/judgingpoints.h"

#include <algorithm>
#include <limits>

#include "core/diagnose/diagnose.h"

namespace nanscope::workflow {

namespace {

bool isJudging(const Series& series)
{
    return std::ranges::find(diagnose::diagnosisSeries, series.name) != diagnose::diagnosisSeries.end();
}

std::int64_t countOf(const Series& series)
{
    return series.pointCount + series.missing;
}

template <class Wanted>
std::int64_t pointsOf(const RunData& run, const Wanted& wanted)
{
    std::int64_t sum = 0;
    for (const Series& series : run.series) {
        sum += wanted(series) ? countOf(series) : 0;
    }
    return sum;
}

bool isSmall(const RunData& run)
{
    return pointsOf(run, [](const Series&) { return true; }) <= mostJudgingPoints;
}

/// Keeps at most `most` points, the last ones.
Result<std::vector<Point>> newestPoints(const session::Session& session, const Series& series, std::int64_t most)
{
    if (countOf(series) <= most) {
        return session.points(series.id);
    }
    std::vector<Point> points;
    const session::SeriesRange all {
        series.id, series.firstStep, series.lastStep, std::numeric_limits<std::int64_t>::max()};
    const auto visited = session.visitRange(all, [&](const session::SeriesPiece& piece) {
        points.insert(points.end(), piece.points.begin(), piece.points.end());
        if (const auto over = static_cast<std::int64_t>(points.size()) - most; over > most / 4) {
            points.erase(points.begin(), points.begin() + over);
        }
        return true;
    });
    const auto over = static_cast<std::int64_t>(points.size()) - most;
    points.erase(points.begin(), points.begin() + std::max<std::int64_t>(0, over));
    return visited.map([&] { return std::move(points); });
}

} // namespace

std::optional<std::int64_t> newestJudgingPoints(const RunData& run)
{
    if (pointsOf(run, isJudging) <= mostJudgingPoints) {
        return std::nullopt;
    }
    return mostJudgingPoints / std::max<std::int64_t>(1, std::ranges::count_if(run.series, isJudging));
}

Result<void> readJudgingPoints(RunData& run, const session::Session& session)
{
    const bool small = isSmall(run);
    const auto most = newestJudgingPoints(run).value_or(std::numeric_limits<std::int64_t>::max());
    for (Series& series : run.series) {
        if (!small && !isJudging(series)) {
            continue;
        }
        auto points = newestPoints(session, series, most);
        if (!points) {
            return tl::make_unexpected(points.error());
        }
        series.points = std::move(*points);
    }
    return {};
}

void keepJudgingPoints(RunData& run)
{
    if (isSmall(run)) {
        return;
    }
    const auto most = newestJudgingPoints(run);
    for (Series& series : run.series) {
        if (!isJudging(series)) {
            series.points = {};
        } else if (most && std::ssize(series.points) > *most) {
            series.points = std::vector<Point>(series.points.end() - *most, series.points.end());
        }
    }
}

} // namespace nanscope::workflow
