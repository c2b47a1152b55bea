// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/diagnose/recovery/trail.h"

namespace nanscope::diagnose {

/// What one process wrote of one rank's loss.
struct LaneLife
{
    std::vector<TrailStep> steps;
    EvidenceLine ownStop;
    EvidenceLine crash;
    std::vector<EvidenceLine> doubts;
};

struct ReadLane
{
    LossLane lane;
    std::vector<LaneLife> lives;
    std::int64_t points = 0;
};

/// Every rank of every log that has losses or a detector's lines, in order of source and rank.
std::vector<ReadLane> readLanes(const RunData& run);

} // namespace nanscope::diagnose
