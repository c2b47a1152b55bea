// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "ui/jobs/runloader.h"

namespace nanscope {

struct OpenedRun
{
    LoadedRun loaded;
    bool changed = false; ///< the import brought something new, or there is no diagnosis yet
};

/// Opens the session of a folder (or a session file), imports what is new and reads it all. Where no session can be
/// written, the run is read without one and `sessionProblem` says why. What `told` names is read before the verdicts; a
/// run that was judged with other files, or before they changed, is to be judged again.
Result<OpenedRun> openRun(const std::filesystem::path& path, const JobContext& job, const ToldOf& told = {});

/// The run with the points its story is read from: all of them where there are few, else the newest of some series.
Result<RunData> runWithPoints(const LoadedRun& run);

/// How many points of each series runWithPoints() takes, the newest; none where it takes all.
std::optional<std::int64_t> newestPointsOf(const LoadedRun& run);

/// Judges a run and stores the diagnosis in its session, if it has one.
Result<Diagnosis> judgeRun(const LoadedRun& run, const DiagnoseOptions& options, const JobContext& job);

/// Remembers what the owner of the run saw, in the run's own session.
Result<void> storeObserved(const LoadedRun& run, const Observations& observed);

} // namespace nanscope
