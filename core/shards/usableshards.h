// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/shards/shardlayout.h"
#include "core/shards/shards.h"

namespace nanscope::shards {

/// Shards in the order of the mesh, at most one per place, each of the shape that its place has.
struct UsableShards
{
    std::vector<Shard> shards;
    std::vector<HeldPart> held;
    std::vector<UnusedShard> unused;
};

/// Leaves out what has no place, belongs to another tensor or has another shape than its place; of two dumps of one
/// place one if they are equal, and neither if they are not: nothing says which is right.
Result<UsableShards> usableShards(std::vector<Shard> shards, const JobContext& job);

} // namespace nanscope::shards
