// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <vector>

#include "core/base/job.h"
#include "core/replay/engine/agreement.h"
#include "core/scaleout/keyvaluestore.h"
#include "core/scaleout/launch.h"

namespace nanscope::scaleout {

/// One replay on the devices of many ranks, held against each other.
struct RankAgreement
{
    replay::Agreement agreement; ///< of the ranks that answered; devices are called "rank 3, cuda:1"
    std::vector<int> missing; ///< ranks of which nothing was heard
};

/// Puts what this rank's device gave, or why it gave nothing, beside what the others' gave, through the store: no
/// collective is needed, so that a rank that hangs keeps nobody from the answer. Rank 0 waits at most so long after it
/// is ready itself, and has the answer. The others wait for as long until it has, and have none; where rank 0 is
/// missing they say so.
Result<RankAgreement> agreeOverRanks(const replay::DeviceHashes& mine, const Launch& launch, KeyValueStore& store,
    std::chrono::milliseconds patience, const CancelToken& cancel = {});

} // namespace nanscope::scaleout
