// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// Dumps that lines of the logs name and the folder lacks.
struct MissingDumps
{
    std::int64_t named = 0; ///< by the logs, each dump once
    /// In order of the times in their names where all have one; else of their lines where one log has all of them, else
    /// of their ranks.
    std::vector<const Event*> missing;
    std::int64_t ranks = 0; ///< of the missing ones
    /// The rank whose first dump is older than that of every other, by the times in their names. The lines of a log
    /// tell no order: what writes those of several ranks into one file takes each when it can.
    std::optional<int> first;

    bool none() const { return missing.empty(); }
    /// The first of each rank: what made the others is among them.
    std::vector<const Event*> firstOfRanks() const;
};

/// Points into the run.
MissingDumps missingDumpsOf(const RunData& run);

/// A dump that a line of the logs names and whose file is there and could not be read.
struct UnreadDump
{
    const Event* line = nullptr;
    const Rejection* file = nullptr;
};

/// Each once, in the order of their places; points into the run.
std::vector<UnreadDump> unreadDumpsOf(const RunData& run);

/// The capture helper was on, and a line of its own says that it did not look at all calls, or at none.
bool helperMissedCalls(const RunData& run);

/// "a non-finite output was dumped (train.log:12), and the file of it could not be read: ..."; empty where all were.
std::string textOf(const std::vector<UnreadDump>& dumps);

/// "25 dumps on 2 ranks that the logs name are not here, rank 0 was first by the times in their names"
std::string textOf(const MissingDumps& dumps);

} // namespace nanscope::diagnose
