// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/session/session.h"
#include "ui/timeline/trace.h"

namespace nanscope {

/// Between which points of its log a line stands: their steps.
struct LineSteps
{
    std::optional<std::int64_t> before; ///< or of the very line
    std::optional<std::int64_t> after;
};

/// Where the points of a run are. `line` and `points` name series by their places in the run's list. One thread at a
/// time.
class TimelineStore
{
public:
    virtual ~TimelineStore() = default;

    using Parts = std::span<const std::size_t>;
    using TakePoint = std::function<bool(const TracePoint&)>;

    /// The whole line, finer within `focus`: at least two buckets for each of its columns where there are that many
    /// points.
    virtual Result<std::vector<Bucket>> line(Parts parts, Interval focus, int columns) = 0;
    /// Hands over the points within `steps` in their order, until `take` wants no more.
    virtual Result<void> visit(Parts parts, Interval steps, const TakePoint& take) = 0;
    /// The first of these points, at most so many.
    Result<std::vector<TracePoint>> points(Parts parts, Interval steps, std::size_t most);
    /// Where lines of the log that `parts` are of stand among these; the numbers of the lines ascend.
    virtual Result<std::vector<LineSteps>> stepsAround(Parts parts, std::span<const std::int64_t> lines) = 0;
    /// The point nearest to a step, or the first one after (1) or before (-1) it.
    virtual Result<std::optional<TracePoint>> point(Parts parts, double step, int direction) = 0;
};

/// Reads from the session file what is asked for and keeps one bucket per stored chunk, nothing else.
class SessionStore : public TimelineStore
{
public:
    /// `ids`: of the run's series, in their order.
    SessionStore(std::filesystem::path session, std::vector<std::int64_t> ids);

    Result<std::vector<Bucket>> line(Parts parts, Interval focus, int columns) override;
    Result<void> visit(Parts parts, Interval steps, const TakePoint& take) override;
    Result<std::vector<LineSteps>> stepsAround(Parts parts, std::span<const std::int64_t> lines) override;
    Result<std::optional<TracePoint>> point(Parts parts, double step, int direction) override;

private:
    struct Overview
    {
        std::vector<std::int64_t> seqs;
        std::vector<Bucket> chunks;
    };

    Result<void> open();
    Result<const Overview*> overview(std::size_t part);
    Result<void> appendFocus(
        std::vector<Bucket>& line, std::size_t part, std::span<const std::int64_t> seqs, Interval focus, int columns);
    Result<void> appendPart(std::vector<Bucket>& line, std::size_t part, Interval focus, int columns);

    std::filesystem::path m_path;
    std::vector<std::int64_t> m_ids;
    std::optional<session::Session> m_session;
    std::map<std::size_t, Overview> m_overviews;
};

/// Points that are in memory because the run has no session.
class MemoryStore : public TimelineStore
{
public:
    /// The run must outlive it.
    explicit MemoryStore(const RunData& run)
        : m_run(run)
    { }
    explicit MemoryStore(std::shared_ptr<const RunData> run)
        : m_kept(std::move(run))
        , m_run(*m_kept)
    { }

    Result<std::vector<Bucket>> line(Parts parts, Interval focus, int columns) override;
    Result<void> visit(Parts parts, Interval steps, const TakePoint& take) override;
    Result<std::vector<LineSteps>> stepsAround(Parts parts, std::span<const std::int64_t> lines) override;
    Result<std::optional<TracePoint>> point(Parts parts, double step, int direction) override;

private:
    std::shared_ptr<const RunData> m_kept; ///< where it is its own
    const RunData& m_run;
};

/// What the plain columns of a chunk say of it.
Bucket bucketOf(const session::SeriesPiece& piece);

} // namespace nanscope
