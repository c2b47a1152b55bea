// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The points that a run is judged by: all of them, or, where there are more than memory should hold, the newest of each
// series that a verdict is weighed with (diagnosisSeries).
#pragma once

#include <cstdint>
#include <optional>

#include "core/session/session.h"

namespace nanscope::workflow {

/// A quarter of a GB in memory: 64 ranks that log four series for 31,000 steps.
constexpr std::int64_t mostJudgingPoints = 8'000'000;

/// How many points of each series, the newest, a run is judged by; none where it is judged by all of them.
std::optional<std::int64_t> newestJudgingPoints(const RunData& run);

/// Reads them of the session whose summary `run` is. Memory: the points and one piece of a series.
Result<void> readJudgingPoints(RunData& run, const session::Session& session);

/// Drops the others of a run that holds all of its points.
void keepJudgingPoints(RunData& run);

} // namespace nanscope::workflow
