// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/workflow/openrun.h"
#include "core/workflow/verifycheckpoints.h"

#include <algorithm>
#include <limits>

#include "core/base/try.h"
#include "core/diagnose/diagnose.h"
#include "core/ingest/ingest.h"

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

/// At most `most` points, the last ones. Never more of them in memory than that, and one piece.
Result<std::vector<Point>> newestPoints(
    const session::Session& session, const Series& series, std::int64_t count, std::int64_t most)
{
    auto skipped = count - most;
    if (skipped <= 0) {
        return session.points(series.id);
    }
    std::int64_t seen = 0;
    std::vector<Point> points;
    points.reserve(static_cast<std::size_t>(most));
    const session::SeriesRange all {
        series.id, series.firstStep, series.lastStep, std::numeric_limits<std::int64_t>::max()};
    const auto visited = session.visitRange(all, [&](const session::SeriesPiece& piece) {
        const auto passed = std::min(skipped, std::ssize(piece.points));
        seen += std::ssize(piece.points);
        points.insert(points.end(), piece.points.begin() + passed, piece.points.end());
        skipped -= passed;
        return true;
    });
    // A session may hold other numbers of points than it says.
    if (visited && seen != count) {
        return newestPoints(session, series, seen, most);
    }
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
        series.points = TRY(newestPoints(session, series, countOf(series), most));
    }
    return {};
}

namespace {

/// Where a series has more than `enough` times what it is judged by, that is what is left of it.
void dropOtherPoints(RunData& run, double enough)
{
    if (isSmall(run)) {
        return;
    }
    const auto most = newestJudgingPoints(run);
    for (Series& series : run.series) {
        if (!isJudging(series)) {
            series.points = {};
        } else if (most && static_cast<double>(series.points.size()) > enough * static_cast<double>(*most)) {
            series.points = std::vector<Point>(series.points.end() - *most, series.points.end());
        }
    }
}

} // namespace

void keepJudgingPoints(RunData& run)
{
    dropOtherPoints(run, 1);
}

namespace fs = std::filesystem;

namespace {

Result<RunData> readSession(const session::Session& session, Points points)
{
    if (points == Points::all) {
        return session.load();
    }
    auto run = session.summary();
    if (!run || points == Points::none) {
        return run;
    }
    return readJudgingPoints(*run, session).map([&] { return std::move(*run); });
}

Result<OpenedRun> opened(session::Session session, bool writable, Points points)
{
    auto run = TRY(readSession(session, points));
    return OpenedRun {std::move(run), std::move(session), writable};
}

Result<OpenedRun> openSession(const fs::path& path, const OpenOptions& options)
{
    std::error_code error;
    const bool named = !options.session.empty() && fs::equivalent(path, options.session, error);
    if (!options.session.empty() && !named) {
        return failure(ErrorKind::usage,
            "--session keeps what is read of a folder, and this is a session itself; leave it out", path.string());
    }
    if (named || options.access == Access::store) {
        if (auto session = session::Session::open(path, session::OpenMode::readWrite)) {
            return opened(std::move(*session), true, options.points);
        }
    }
    auto session = TRY(session::Session::open(path, session::OpenMode::readOnly));
    return opened(std::move(session), false, options.points);
}

Result<OpenedRun> importInto(const fs::path& path, const OpenOptions& options, const JobContext& job)
{
    std::error_code error;
    if (!fs::exists(path, error)) {
        return failure(ErrorKind::io, "no such file or folder, or no permission to look", path.string());
    }
    auto session = TRY(ingest::openSessionFor(path, options.session));
    const auto capturesStored = [&](std::int64_t logBytes) {
        if (options.capturesStored) {
            options.capturesStored(options.session, logBytes);
        }
    };
    auto imported = TRY(ingest::importRun(path, session, job, options.columns, capturesStored));
    if (options.points == Points::none) {
        return OpenedRun {std::move(imported), std::move(session), true};
    }
    return opened(std::move(session), true, options.points).map([&](OpenedRun run) {
        run.run.rejected = std::move(imported.rejected);
        run.run.notes = std::move(imported.notes);
        return run;
    });
}

Result<OpenedRun> readWithoutSession(const fs::path& path, const OpenOptions& options, const JobContext& job)
{
    const bool judging = options.points == Points::judging;
    // Copying what is left after every piece of a log would take longer than reading it.
    const auto keepSmall =
        judging ? ingest::KeepSmall([](RunData& read) { dropOtherPoints(read, 1.5); }) : ingest::KeepSmall();
    auto run = TRY(ingest::readRun(path, job, options.columns.value_or(ingest::ColumnMap {}), keepSmall));
    if (judging) {
        keepJudgingPoints(run);
    }
    return OpenedRun {std::move(run)};
}

} // namespace

Result<OpenedRun> openRun(const fs::path& path, const OpenOptions& options, const JobContext& job)
{
    auto run = session::isSessionFile(path) ? openSession(path, options)
        : options.session.empty()           ? readWithoutSession(path, options, job)
                                            : importInto(path, options, job);
    if (run) {
        forgetRewrittenCheckpoints(run->run);
    }
    return run;
}

} // namespace nanscope::workflow
