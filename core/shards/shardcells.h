// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <vector>

#include "core/shards/shardlayout.h"
#include "core/shards/shards.h"

namespace nanscope::shards {

/// The shards that hold one region of the logical tensor: of every part of a Partial (of one part where there is none)
/// its replicas, in the order of the mesh.
struct ShardCell
{
    HeldPart held;
    std::map<std::int64_t, std::vector<std::size_t>> parts;
};

struct ShardCells
{
    std::map<std::int64_t, ShardCell> cells;
    std::int64_t partsPerCell = 1;

    bool complete(const ShardCell& cell) const { return static_cast<std::int64_t>(cell.parts.size()) == partsPerCell; }
    /// True if some shard holds what this place does.
    bool holds(const tensorfile::Sharding& sharding, const Shape& coordinate) const;
};

/// `held` are the regions of the shards, in their order.
ShardCells arrangeShards(std::span<const Shard> shards, const std::vector<HeldPart>& held);

} // namespace nanscope::shards
