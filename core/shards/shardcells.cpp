// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/shards/shardcells.h"

namespace nanscope::shards {

namespace {

/// The number of the place whose coordinates are 0 but along dimensions of these kinds.
template <class Wanted>
std::int64_t numberAlong(const tensorfile::Sharding& sharding, Shape coordinate, Wanted wanted)
{
    for (std::size_t i = 0; i < coordinate.size(); ++i) {
        coordinate[i] = wanted(sharding.placements[i]) ? coordinate[i] : 0;
    }
    return tensorfile::numberOf(sharding.mesh, coordinate);
}

std::int64_t cellNumber(const tensorfile::Sharding& sharding, const Shape& coordinate)
{
    return numberAlong(sharding, coordinate, [](const tensorfile::Placement& placement) { return placement.shards(); });
}

bool isPartial(const tensorfile::Placement& placement)
{
    return placement.kind == tensorfile::Placement::Kind::partial;
}

} // namespace

bool ShardCells::holds(const tensorfile::Sharding& sharding, const Shape& coordinate) const
{
    const auto found = cells.find(cellNumber(sharding, coordinate));
    return found != cells.end() && found->second.parts.contains(numberAlong(sharding, coordinate, isPartial));
}

ShardCells arrangeShards(std::span<const Shard> shards, const std::vector<HeldPart>& held)
{
    ShardCells result;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const auto& sharding = *shards[i].tensor.sharding();
        const auto& coordinate = *shards[i].place.coordinate;
        auto& cell = result.cells[cellNumber(sharding, coordinate)];
        cell.held = held[i];
        cell.parts[numberAlong(sharding, coordinate, isPartial)].push_back(i);
    }
    if (!shards.empty()) {
        const auto& sharding = *shards.front().tensor.sharding();
        for (std::size_t i = 0; i < sharding.placements.size(); ++i) {
            result.partsPerCell *= isPartial(sharding.placements[i]) ? sharding.mesh.dims[i].size : 1;
        }
    }
    return result;
}

} // namespace nanscope::shards
