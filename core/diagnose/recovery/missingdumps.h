// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// Dumps that lines of the logs name and the folder lacks.
struct MissingDumps
{
    std::int64_t named = 0; ///< by the logs, each dump once
    std::vector<const Event*> missing; ///< in order of their lines where one log has all of them, else of their ranks
    std::int64_t ranks = 0; ///< of the missing ones
    bool inOrder = false; ///< one log has all of them: its lines tell which came first

    bool none() const { return missing.empty(); }
    /// The first of each rank: what made the others is among them.
    std::vector<const Event*> firstOfRanks() const;
};

/// Points into the run.
MissingDumps missingDumpsOf(const RunData& run);

/// "25 dumps on 2 ranks that the logs name are not here, rank 0 was first"
std::string textOf(const MissingDumps& dumps);

} // namespace nanscope::diagnose
