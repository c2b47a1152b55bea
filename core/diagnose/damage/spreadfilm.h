// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A replay with a planted fault, op by op, with the damage of each in words.
#pragma once

#include <optional>
#include <vector>

#include "core/model/model.h"
#include "core/replay/engine/frame.h"

namespace nanscope::diagnose {

struct SpreadFrame
{
    OpTrace trace; ///< with one scan and, but for one number, one tile map
    DamagePattern damage;
    std::optional<double> distance; ///< relative, to the replay without the fault; where a finite value was planted
    bool planted = false; ///< here
};

struct SpreadFilm
{
    Cell cell; ///< what was replayed, where and how; neither ops nor how it ended
    std::int64_t batch = 0;
    std::vector<SpreadFrame> frames;
    std::optional<bool> endsLikeDump; ///< the same elements are not finite; none where there is no output
};

/// `request.plant` is the fault; what the film is compared with is left aside. Cancelled between instructions; progress
/// counts ops.
Result<SpreadFilm> spreadFilm(
    const replay::FilmRequest& request, const replay::DeviceFactory& devices, const JobContext& job = {});

} // namespace nanscope::diagnose
