// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "core/ingest/log/columnmap.h"
#include "core/session/session.h"

namespace nanscope::workflow {

// The points that a run is judged by: all of them, or, where there are more than memory should hold, the newest of each
// series that a verdict is weighed with (diagnosisSeries).

/// A quarter of a GB in memory: 64 ranks that log four series for 31,000 steps.
constexpr std::int64_t mostJudgingPoints = 8'000'000;

/// How many points of each series, the newest, a run is judged by; none where it is judged by all of them.
std::optional<std::int64_t> newestJudgingPoints(const RunData& run);

/// Reads them of the session whose summary `run` is. Memory: the points and one piece of a series.
Result<void> readJudgingPoints(RunData& run, const session::Session& session);

/// Drops the others of a run that holds all of its points.
void keepJudgingPoints(RunData& run);

/// A session that is only read is left as it is, to the byte.
enum class Access { read, store };

/// Which points of its series a run is read with: none, those that it is judged by, or all.
enum class Points { none, judging, all };

struct OpenOptions
{
    std::filesystem::path session {}; ///< that a folder is imported into; empty: the folder is read without one
    Access access = Access::read; ///< to a path that is a session itself
    Points points = Points::all;
    std::optional<ingest::ColumnMap> columns {}; ///< of logs that are read now
    /// Hears, while a folder is imported, when all captures are in the session: logs may take long.
    std::function<void(const std::filesystem::path& session, std::int64_t logBytes)> capturesStored {};
};

/// A run as the command line and the window open it.
struct OpenedRun
{
    RunData run; ///< `rejected` and `notes` say what could not be used
    std::optional<session::Session> session {};
    bool writable = false; ///< results may be stored in the session
};

/// Opens a session, or reads a folder or a file. A session on a read-only disk is opened to read whatever the access.
Result<OpenedRun> openRun(
    const std::filesystem::path& path, const OpenOptions& options = {}, const JobContext& job = {});

} // namespace nanscope::workflow
