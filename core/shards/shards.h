// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Puts the parts of a DTensor that the ranks of a mesh dumped together again: which dumps belong to one logical
// tensor, which parts are missing, which replicas differ, and what a Partial adds up to. Parts are read block by
// block; the logical tensor is never held as a whole, unless it is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/model/scan.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/sharding.h"

namespace nanscope::shards {

/// The part that one dump holds.
struct Shard
{
    std::string file; ///< its name in every answer
    tensorfile::Tensor tensor; ///< has a sharding
    tensorfile::ShardPlace place;
    Scan scan; ///< of all of the part
};

/// A place of the mesh of which there is no dump.
struct MissingShard
{
    Shape coordinate;
    std::optional<std::int64_t> rank;
    std::string held; ///< "rows 4 to 5"
    bool replicated = false; ///< another rank's dump holds the same
};

/// Two replicas whose bits differ.
struct Drift
{
    std::size_t a = 0; ///< into Stitched::shards
    std::size_t b = 0;
    std::int64_t differing = 0; ///< elements, not counting two NaN of different bits
    std::int64_t classChanges = 0; ///< of these: not finite in one and finite or otherwise non-finite in the other
    std::int64_t nanBits = 0; ///< elements that are NaN in both, with different bits
    std::int64_t first = -1; ///< row-major index in the logical tensor of the first of either kind
};

/// A dump that is not used, and why, one clause.
struct UnusedShard
{
    std::string file;
    std::string why;
};

/// What the parts of a Partial come to, in one way of adding.
struct ReducedTotals
{
    Scan scan;
    std::int64_t overflowed = 0; ///< elements that are finite in every part and not in the result
    std::int64_t firstOverflow = -1; ///< row-major index in the logical tensor
};

struct ReducedPartial
{
    std::string operation; ///< "sum", "avg", "max", "min"
    std::int64_t parts = 0; ///< per element
    ReducedTotals own; ///< every step rounded to the tensor's own type, in the order of the mesh
    std::optional<ReducedTotals> wide; ///< added in `wideType` and rounded once at the end; sums and averages only
    std::int64_t wideOverflowed = 0; ///< before that last rounding
    DType wideType = DType::float32;
};

/// One logical tensor.
struct Stitched
{
    tensorfile::Sharding sharding;
    DType dtype = DType::float32;
    std::vector<Shard> shards; ///< those that are used, in the order of the mesh
    std::vector<UnusedShard> unused;
    std::vector<MissingShard> missing; ///< the first hundred
    std::int64_t missingRanks = 0;
    std::int64_t unknown = 0; ///< elements that no dump holds, or not every part of
    std::vector<Drift> drift;
    Scan parts; ///< of all the shards together, replicas counted as often as they are there; no trace, no first index
    Scan logical; ///< of the elements that are known; a Partial as ReducedPartial::own; without a trace
    std::optional<ReducedPartial> partial;
    std::string problem; ///< why the logical tensor is not computed though the shards are there, one clause

    bool partsNonFinite() const { return parts.nonFinite() > 0; }
    /// None where it is not known: an element may be missing, replicas disagree on what is finite, or a sum is finite
    /// in one order of adding and not in another.
    std::optional<bool> logicalNonFinite() const;
    bool complete() const;
};

/// Stitches shards of one logical tensor. Those that cannot be used are listed; fails where none is left, or where a
/// file cannot be read.
Result<Stitched> stitch(std::vector<Shard> shards, const JobContext& job = {});

/// The contents of a complete tensor, row-major, in native byte order. A Partial is added up in its own type, in the
/// order of the mesh; of replicas the first is taken. Refuses what takes more than half of the memory.
Result<std::vector<std::byte>> logicalBytes(const Stitched& tensor);

/// Dumps that hold parts of the same logical tensors.
struct ShardSet
{
    std::vector<std::size_t> captures;
    std::string how; ///< what says that they belong together, one clause
};

struct ShardSets
{
    std::vector<ShardSet> sets;
    std::vector<ShardSet> unmatched; ///< shards of which nothing is claimed; `how` says why
    std::vector<std::size_t> copies; ///< of dumps that are in a set
    std::vector<std::size_t> others; ///< no shards at all
};

/// Which captures belong together: by what their shardings say, then by the steps of sidecars, by name and folder, and
/// by the order of each rank's dumps where all ranks have equally many. What is left open stays so.
ShardSets matchShards(std::span<const tensorfile::CaptureFile> captures);

enum class ShardSide : std::uint8_t { input, output };

/// The tensor of one side if it is a shard, else nullptr.
const tensorfile::Tensor* shardOf(const tensorfile::CaptureFile& file, ShardSide side);

/// One side of the captures of a set, which were scanned; captures whose side is no shard are left out.
std::vector<Shard> shardsOf(std::span<const tensorfile::CaptureFile> captures, const ShardSet& set, ShardSide side);

} // namespace nanscope::shards
