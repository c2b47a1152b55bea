// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// Ranks that waited in one call of a collective operation, or that ended it and came to no other.
struct WaitingRanks
{
    CollectiveCall call;
    std::vector<int> ranks; ///< ascending
    const Event* first = nullptr; ///< the line of the lowest rank
};

/// Collective operations that did not end, as the watchdogs of the ranks tell.
struct Hang
{
    std::vector<WaitingRanks> calls; ///< most ranks first
    /// An exception, or another failure, of a rank that no watchdog speaks for, and not behind the watchdogs' lines: it
    /// left, and the others waited. Null where the logs have none.
    const Event* cause = nullptr;
    std::size_t ranks = 0; ///< that wait
    std::vector<int> absent; ///< those of which no line tells, where they are few among many; ascending

    bool none() const { return calls.empty(); }
    /// The ranks are not in one call, or in calls of process groups that nothing tells apart.
    bool parted() const { return calls.size() > 1; }
    /// All calls are of one process group, and the lines say which.
    bool sameGroup() const;
};

/// Points into the run.
Hang hangOf(const RunData& run);

/// "rank 17", "ranks 0 and 1", "63 ranks"
std::string ranksText(const std::vector<int>& ranks);

/// "63 ranks wait in collective 811 (ALLREDUCE), rank 17 in 812 (BROADCAST)"
std::string textOf(const Hang& hang);

} // namespace nanscope::diagnose
