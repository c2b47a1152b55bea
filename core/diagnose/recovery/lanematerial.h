// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model.h"
#include "core/probe/nanmessage.h"

namespace nanscope::diagnose {

/// What lies between the losses of a log and bears on a detector.
struct Mark
{
    enum class Kind { message, resumed, stopped, crashed } kind = Kind::message;
    const Event* event = nullptr;
    probe::NanMessage message {};
};

/// All that one log says of one rank's loss. Points into the run it was collected from.
struct LaneMaterial
{
    std::vector<const Series*> losses; ///< in order of segment
    std::set<std::pair<int, std::int64_t>> badGradients; ///< segment and printed step
    std::vector<Mark> marks; ///< in order of line
    bool runningAverage = false;
};

/// Source and rank.
using LaneKey = std::pair<std::string, std::optional<int>>;

std::map<LaneKey, LaneMaterial> collectLanes(const RunData& run);

} // namespace nanscope::diagnose
