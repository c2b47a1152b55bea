// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinestore.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/try.h"

namespace nanscope {

namespace {

constexpr std::int64_t pointsPerColumn = 1024;
constexpr std::size_t fewPoints = 20'000;

std::int64_t stepAt(double step)
{
    constexpr double most = 9e18;
    return static_cast<std::int64_t>(std::clamp(std::floor(step), -most, most));
}

TracePoint tracePoint(const Point& point)
{
    return {point.step, point.value, point.state, point.line};
}

std::vector<TracePoint> tracePoints(const std::vector<Point>& points)
{
    std::vector<TracePoint> all;
    all.reserve(points.size());
    std::ranges::transform(points, std::back_inserter(all), tracePoint);
    return all;
}

/// Half of what is seen on either side, so that a small move needs no new points.
Interval withMargin(Interval focus)
{
    const double margin = 0.5 * (focus.high - focus.low);
    return {focus.low - margin, focus.high + margin};
}

double bucketWidth(Interval focus, int columns)
{
    return (focus.high - focus.low) / (2.0 * columns);
}

double stepsOf(std::span<const TracePoint> points)
{
    return points.empty() ? 0 : static_cast<double>(points.back().step) - static_cast<double>(points.front().step);
}

/// Fine within the focus and its margin; what else the chunks at its ends hold is kept coarsely. No bucket reaches over
/// an end of the focus, so that what is in sight can be counted.
void appendNear(std::vector<Bucket>& line, std::span<const TracePoint> points, Interval focus, int columns)
{
    const Interval near = withMargin(focus);
    const double width = bucketWidth(focus, columns);
    const double coarse = std::max(64 * std::max(width, 1.0), stepsOf(points) / (4.0 * columns));
    const auto step = [](const TracePoint& point) { return static_cast<double>(point.step); };
    const auto begin = std::ranges::lower_bound(points, near.low, {}, step);
    const auto first = std::ranges::lower_bound(begin, points.end(), focus.low, {}, step);
    const auto last = std::ranges::upper_bound(first, points.end(), focus.high, {}, step);
    const auto end = std::ranges::upper_bound(last, points.end(), near.high, {}, step);
    appendReduced(line, {points.begin(), begin}, coarse);
    appendReduced(line, {begin, first}, width);
    appendReduced(line, {first, last}, width);
    appendReduced(line, {last, end}, width);
    appendReduced(line, {end, points.end()}, coarse);
}

/// The plots search lines by step; a damaged session may hold anything.
void sortBySteps(std::vector<Bucket>& line)
{
    if (!std::ranges::is_sorted(line, {}, &Bucket::firstStep)) {
        std::ranges::stable_sort(line, {}, &Bucket::firstStep);
    }
}

void consider(std::optional<TracePoint>& best, const TracePoint& point, double step, int direction)
{
    const double away = static_cast<double>(point.step) - step;
    if ((direction > 0 && away <= 0) || (direction < 0 && away >= 0)) {
        return;
    }
    const double least = best ? std::abs(static_cast<double>(best->step) - step) : 0;
    if (!best || std::abs(away) < least || (std::abs(away) == least && point.step < best->step)) {
        best = point;
    }
}

/// False where no more are wanted.
bool takeWithin(const std::vector<Point>& points, Interval steps, const TimelineStore::TakePoint& take)
{
    return std::ranges::all_of(points, [&](const Point& point) {
        const auto at = static_cast<double>(point.step);
        return at < steps.low || at > steps.high || take(tracePoint(point));
    });
}

/// The nearest points around each of some lines, taken in one pass over the points, in whatever order they come.
class Surroundings
{
public:
    explicit Surroundings(std::span<const std::int64_t> lines)
        : m_lines(lines)
        , m_before(lines.size())
        , m_after(lines.size())
    { }

    void take(const Point& point)
    {
        if (point.line <= 0) {
            return;
        }
        const auto at = static_cast<std::size_t>(std::ranges::lower_bound(m_lines, point.line) - m_lines.begin());
        if (at < m_lines.size() && (!m_before[at] || m_before[at]->line < point.line)) {
            m_before[at] = point;
        }
        if (at > 0 && (!m_after[at - 1] || m_after[at - 1]->line > point.line)) {
            m_after[at - 1] = point;
        }
    }

    std::vector<LineSteps> steps() const
    {
        std::vector<LineSteps> all(m_lines.size());
        std::optional<std::int64_t> before;
        std::optional<std::int64_t> after;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::size_t fromEnd = all.size() - 1 - i;
            all[i].before = before = m_before[i] ? m_before[i]->step : before;
            all[fromEnd].after = after = m_after[fromEnd] ? m_after[fromEnd]->step : after;
        }
        return all;
    }

private:
    std::span<const std::int64_t> m_lines;
    std::vector<std::optional<Point>> m_before; ///< since the line before
    std::vector<std::optional<Point>> m_after; ///< until the line behind
};

} // namespace

Bucket bucketOf(const session::SeriesPiece& piece)
{
    Bucket bucket;
    bucket.firstStep = std::min(piece.firstStep, piece.lastStep);
    bucket.lastStep = std::max(piece.firstStep, piece.lastStep);
    bucket.count = piece.count;
    bucket.nonFinite = {piece.nan, piece.posInf, piece.negInf};
    const double middle = 0.5 * (static_cast<double>(bucket.firstStep) + static_cast<double>(bucket.lastStep));
    bucket.nonFiniteAt.fill(stepAt(middle));
    bucket.finite = std::max<std::int64_t>(0, piece.count - nonFiniteCount(bucket) - piece.missing);
    bucket.exact = false;
    if (bucket.finite == 0 || !piece.min || !piece.max) {
        bucket.finite = 0;
        bucket.opensWithGap = bucket.closesWithGap = true;
        return bucket;
    }
    bucket.min = *piece.min;
    bucket.max = *piece.max;
    bucket.first = piece.first.value_or(bucket.min);
    bucket.last = piece.last.value_or(bucket.max);
    bucket.minAt = bucket.maxAt = middle;
    bucket.sum = 0.5 * (bucket.first + bucket.last) * static_cast<double>(bucket.finite);
    bucket.nonPositive = bucket.min > 0 ? 0 : bucket.max > 0 ? 1 : bucket.finite;
    return bucket;
}

Result<std::vector<TracePoint>> TimelineStore::points(Parts parts, Interval steps, std::size_t most)
{
    std::vector<TracePoint> all;
    if (most == 0) {
        return all;
    }
    const auto take = [&](const TracePoint& point) {
        all.push_back(point);
        return all.size() < most;
    };
    return visit(parts, steps, take).map([&all] { return std::move(all); });
}

SessionStore::SessionStore(std::filesystem::path session, std::vector<std::int64_t> ids)
    : m_path(std::move(session))
    , m_ids(std::move(ids))
{ }

Result<void> SessionStore::open()
{
    if (!m_session) {
        m_session = TRY(session::Session::open(m_path, session::OpenMode::readOnly));
    }
    return {};
}

Result<const SessionStore::Overview*> SessionStore::overview(std::size_t part)
{
    TRY(open());
    if (const auto known = m_overviews.find(part); known != m_overviews.end()) {
        return &known->second;
    }
    using Steps = std::numeric_limits<std::int64_t>;
    Overview overview;
    TRY(m_session->visitRange({m_ids.at(part), Steps::min(), Steps::max(), 0}, [&](const session::SeriesPiece& piece) {
        overview.seqs.push_back(piece.seq);
        overview.chunks.push_back(bucketOf(piece));
        return true;
    }));
    return &(m_overviews[part] = std::move(overview));
}

Result<void> SessionStore::appendFocus(
    std::vector<Bucket>& line, std::size_t part, std::span<const std::int64_t> seqs, Interval focus, int columns)
{
    const Overview& known = m_overviews.at(part);
    const auto first = std::ranges::lower_bound(known.seqs, seqs.front()) - known.seqs.begin();
    session::SeriesRange range {
        m_ids.at(part), known.chunks[first].firstStep, known.chunks[first].lastStep, columns * pointsPerColumn};
    for (const Bucket& chunk : std::span(known.chunks).subspan(first, seqs.size())) {
        range.lastStep = std::max(range.lastStep, chunk.lastStep);
    }
    return m_session->visitRange(range, [&](const session::SeriesPiece& piece) {
        // A neighbour that only shares its last step with the range stands in the line already.
        if (piece.seq < seqs.front() || piece.seq > seqs.back()) {
            return piece.seq < seqs.front();
        }
        if (piece.points.empty()) {
            line.push_back(bucketOf(piece));
        } else {
            appendNear(line, tracePoints(piece.points), focus, columns);
        }
        return true;
    });
}

Result<void> SessionStore::appendPart(std::vector<Bucket>& line, std::size_t part, Interval focus, int columns)
{
    const auto known = TRY(overview(part));
    const auto& chunks = known->chunks;
    const auto near = within(chunks, withMargin(focus));
    const auto begin = near.data() - chunks.data();
    const auto end = begin + std::ssize(near);
    line.insert(line.end(), chunks.begin(), chunks.begin() + begin);
    if (!near.empty()) {
        const auto seqs = std::span(known->seqs).subspan(static_cast<std::size_t>(begin), near.size());
        TRY(appendFocus(line, part, seqs, focus, columns));
    }
    line.insert(line.end(), chunks.begin() + end, chunks.end());
    return {};
}

Result<std::vector<Bucket>> SessionStore::line(Parts parts, Interval focus, int columns)
{
    std::vector<Bucket> line;
    for (const std::size_t part : parts) {
        TRY(appendPart(line, part, focus, columns));
    }
    sortBySteps(line);
    return line;
}

Result<void> SessionStore::visit(Parts parts, Interval steps, const TakePoint& take)
{
    TRY(open());
    bool more = true;
    for (const std::size_t part : parts) {
        constexpr auto everything = std::numeric_limits<std::int64_t>::max();
        auto read = m_session->visitRange({m_ids.at(part), stepAt(steps.low), stepAt(steps.high), everything},
            [&](const session::SeriesPiece& piece) { return more = takeWithin(piece.points, steps, take); });
        if (!read || !more) {
            return read;
        }
    }
    return {};
}

Result<std::vector<LineSteps>> SessionStore::stepsAround(Parts parts, std::span<const std::int64_t> lines)
{
    TRY(open());
    using Steps = std::numeric_limits<std::int64_t>;
    Surroundings surroundings(lines);
    for (const std::size_t part : parts) {
        TRY(m_session->visitRange(
            {m_ids.at(part), Steps::min(), Steps::max(), Steps::max()}, [&](const session::SeriesPiece& piece) {
                std::ranges::for_each(piece.points, [&](const Point& point) { surroundings.take(point); });
                return true;
            }));
    }
    return surroundings.steps();
}

Result<std::optional<TracePoint>> SessionStore::point(Parts parts, double step, int direction)
{
    std::optional<TracePoint> best;
    for (const std::size_t part : parts) {
        const auto chunks = TRY(overview(part));
        const auto near = around(chunks->chunks, {step, step});
        if (near.empty()) {
            continue;
        }
        const Interval steps {static_cast<double>(near.front().firstStep), static_cast<double>(near.back().lastStep)};
        const auto read = TRY(points({&part, 1}, steps, std::numeric_limits<std::size_t>::max()));
        for (const TracePoint& one : read) {
            consider(best, one, step, direction);
        }
    }
    return best;
}

Result<std::vector<Bucket>> MemoryStore::line(Parts parts, Interval focus, int columns)
{
    std::vector<Bucket> line;
    for (const std::size_t part : parts) {
        const std::vector<TracePoint> points = tracePoints(m_run.series.at(part).points);
        if (points.size() <= fewPoints) {
            std::ranges::move(bucketsOf(points), std::back_inserter(line));
        } else {
            appendNear(line, points, focus, columns);
        }
    }
    sortBySteps(line);
    return line;
}

Result<void> MemoryStore::visit(Parts parts, Interval steps, const TakePoint& take)
{
    for (const std::size_t part : parts) {
        if (!takeWithin(m_run.series.at(part).points, steps, take)) {
            break;
        }
    }
    return {};
}

Result<std::vector<LineSteps>> MemoryStore::stepsAround(Parts parts, std::span<const std::int64_t> lines)
{
    Surroundings surroundings(lines);
    for (const std::size_t part : parts) {
        std::ranges::for_each(m_run.series.at(part).points, [&](const Point& point) { surroundings.take(point); });
    }
    return surroundings.steps();
}

Result<std::optional<TracePoint>> MemoryStore::point(Parts parts, double step, int direction)
{
    std::optional<TracePoint> best;
    for (const std::size_t part : parts) {
        for (const Point& point : m_run.series.at(part).points) {
            consider(best, tracePoint(point), step, direction);
        }
    }
    return best;
}

} // namespace nanscope
