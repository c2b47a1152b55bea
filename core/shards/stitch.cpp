// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/shards/blocks.h"
#include "core/shards/logicalscan.h"
#include "core/shards/partial.h"
#include "core/shards/shardcells.h"
#include "core/shards/sharddrift.h"
#include "core/shards/usableshards.h"

namespace nanscope::shards {

namespace {

constexpr std::size_t mostNamed = 100;

/// Why a Partial of this tensor is not reduced here, or nothing.
std::string reductionProblem(const tensorfile::Sharding& sharding, DType dtype)
{
    const std::string* operation = nullptr;
    for (const auto& placement : sharding.placements) {
        if (placement.kind != tensorfile::Placement::Kind::partial) {
            continue;
        }
        if (!parseReduction(placement.reduction)) {
            return tensorfile::placementText(placement) + " is not computed here";
        }
        if (operation != nullptr && *operation != placement.reduction) {
            return "it mixes two kinds of Partial, whose result depends on their order";
        }
        operation = &placement.reduction;
    }
    return operation != nullptr && !canReduce(dtype) ? "a Partial of its type is not computed here" : std::string();
}

std::string operationOf(const tensorfile::Sharding& sharding)
{
    for (const auto& placement : sharding.placements) {
        if (placement.kind == tensorfile::Placement::Kind::partial) {
            return placement.reduction;
        }
    }
    return {};
}

Result<void> addDrift(Stitched& tensor, const ShardCell& cell, const JobContext& job)
{
    for (const auto& [part, replicas] : cell.parts) {
        for (std::size_t i = 1; i < replicas.size(); ++i) {
            const auto& a = tensor.shards[replicas.front()];
            const auto& b = tensor.shards[replicas[i]];
            auto drift = compareShards(a.tensor, b.tensor, cell.held, tensor.sharding.shape, job);
            if (!drift) {
                return tl::make_unexpected(drift.error());
            }
            if (drift->differing > 0 || drift->nanBits > 0) {
                drift->a = replicas.front();
                drift->b = replicas[i];
                tensor.drift.push_back(*drift);
            }
        }
    }
    return {};
}

void addMissing(Stitched& tensor, const ShardCells& cells)
{
    const auto& mesh = tensor.sharding.mesh;
    const auto ranks = tensorfile::meshRanks(mesh, tensor.shards.front().place.rank);
    std::size_t next = 0;
    for (std::int64_t number = 0; number < mesh.ranks(); ++number) {
        if (next < tensor.shards.size()
            && tensorfile::numberOf(mesh, *tensor.shards[next].place.coordinate) == number) {
            ++next;
            continue;
        }
        if (tensor.missingRanks++ >= static_cast<std::int64_t>(mostNamed)) {
            continue;
        }
        MissingShard missing;
        missing.coordinate = tensorfile::coordinateOf(mesh, number);
        if (ranks) {
            missing.rank = (*ranks)[static_cast<std::size_t>(number)];
        }
        if (const auto held = heldAt(tensor.sharding, missing.coordinate)) {
            missing.held = heldText(*held, tensor.sharding.shape);
        }
        missing.replicated = cells.holds(tensor.sharding, missing.coordinate);
        tensor.missing.push_back(std::move(missing));
    }
}

Result<void> addLogical(Stitched& tensor, const ShardCells& cells, const JobContext& job)
{
    LogicalScan logical(tensor.sharding, tensor.dtype, operationOf(tensor.sharding), cells.partsPerCell);
    for (const auto& [number, cell] : cells.cells) {
        if (!cells.complete(cell)) {
            continue;
        }
        if (auto added = logical.add(tensor.shards, cell, job); !added) {
            return added;
        }
    }
    logical.finish(tensor);
    return {};
}

std::int64_t elementsOf(const Shape& shape)
{
    std::int64_t count = 1;
    for (const auto extent : shape) {
        count *= extent;
    }
    return count;
}

} // namespace

std::optional<bool> Stitched::logicalNonFinite() const
{
    const bool disagree =
        std::any_of(drift.begin(), drift.end(), [](const Drift& one) { return one.classChanges > 0; });
    if (disagree || !problem.empty()) {
        return std::nullopt;
    }
    // Whether a sum overflows may hang on the order in which it was added, and that is not recorded.
    if (partial && partial->wide && (partial->own.scan.nonFinite() > 0) != (partial->wide->scan.nonFinite() > 0)) {
        return std::nullopt;
    }
    if (logical.nonFinite() > 0) {
        return true;
    }
    return unknown > 0 ? std::nullopt : std::optional(false);
}

bool Stitched::complete() const
{
    return problem.empty() && unknown == 0;
}

Result<Stitched> stitch(std::vector<Shard> shards, const JobContext& job)
{
    if (shards.empty() || shards.front().tensor.sharding() == nullptr) {
        return failure(ErrorKind::usage, "there are no shards to stitch");
    }
    Stitched tensor;
    tensor.sharding = *shards.front().tensor.sharding();
    tensor.dtype = shards.front().tensor.dtype();
    if (!tensor.sharding.problem.empty()) {
        return failure(ErrorKind::unsupported, "the tensor cannot be stitched: " + tensor.sharding.problem);
    }
    auto usable = usableShards(std::move(shards), job);
    if (!usable) {
        return tl::make_unexpected(usable.error());
    }
    tensor.shards = std::move(usable->shards);
    tensor.unused = std::move(usable->unused);
    tensor.unknown = elementsOf(tensor.sharding.shape);
    tensor.problem = reductionProblem(tensor.sharding, tensor.dtype);
    for (const auto& shard : tensor.shards) {
        addScan(tensor.parts, shard.scan, -1);
    }
    if (tensor.shards.empty()) {
        return tensor;
    }
    const auto cells = arrangeShards(tensor.shards, usable->held);
    for (const auto& [number, cell] : cells.cells) {
        if (auto added = addDrift(tensor, cell, job); !added) {
            return tl::make_unexpected(added.error());
        }
    }
    addMissing(tensor, cells);
    auto added = tensor.problem.empty() ? addLogical(tensor, cells, job) : Result<void> {};
    return added.map([&] { return std::move(tensor); });
}

} // namespace nanscope::shards
