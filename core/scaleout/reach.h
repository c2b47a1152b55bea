// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "core/scaleout/keyvaluestore.h"
#include "core/scaleout/launch.h"

namespace nanscope::scaleout {

/// One sum over all ranks, as one of them saw it.
struct Exchanged
{
    double seconds = 0;
    std::int64_t bytes = 0; ///< of the tensor that was reduced
    bool right = false; ///< every element is the sum of what the ranks gave
};

/// Fails where the ranks do not come through in time, with why as one clause.
using Collective = std::function<Result<Exchanged>()>;

/// Whether the ranks of a launch reach each other.
struct Reach
{
    std::vector<int> missing; ///< that never came; nothing was exchanged then
    std::vector<int> silent; ///< that came, and said nothing more
    std::vector<std::pair<int, std::string>> failed; ///< and why, as they say it
    std::vector<int> wrong; ///< that have a wrong sum
    std::optional<Exchanged> slowest; ///< of those that came through
    std::string text; ///< one sentence

    bool whole() const { return missing.empty() && silent.empty() && failed.empty() && wrong.empty(); }
};

/// Names the ranks that keep the others waiting. The ranks tell each other through the store what they see, so that one
/// that stops in the collective keeps nobody from the answer. Rank 0 has it; the others have an empty one, or that rank
/// 0 is missing. Each of the two waits, for all to come and for all to come through, ends after `patience`;
/// `collective` has to keep it itself.
Result<Reach> reachAll(const Launch& launch, KeyValueStore& store, const Collective& collective,
    std::chrono::milliseconds patience, const CancelToken& cancel = {});

} // namespace nanscope::scaleout
