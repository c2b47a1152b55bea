// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a DTensor says of itself besides the part that its rank holds: the logical tensor, how it is spread over a
// mesh of ranks, and where in the mesh the file was written. All of it is a file's claim; `problem` says where the
// claim is not understood or contradicts itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensorfile/tensorfile.h"

namespace nanscope::tensorfile {

/// How one dimension of the mesh holds the tensor.
struct Placement
{
    enum class Kind : std::uint8_t { shard, stridedShard, replicate, partial };
    Kind kind = Kind::replicate;
    std::int64_t dim = 0; ///< of the tensor, for both kinds of shard
    std::int64_t splitFactor = 1; ///< pieces the dimension is cut into before each is dealt out, for stridedShard
    std::string reduction; ///< "sum", "avg", "max", ..., for partial
    bool operator==(const Placement&) const = default;
    bool shards() const { return kind == Kind::shard || kind == Kind::stridedShard; }
};

/// torch's notation: "Shard(0)", "StridedShard(0, 2)", "Replicate", "Partial(sum)".
std::string placementText(const Placement& placement);

/// The same read back; nothing of what is none of these.
std::optional<Placement> parsePlacement(std::string_view text);

/// One dimension of a mesh. Where torch made it out of several, it steps through the table of ranks in each of them.
struct MeshDim
{
    struct Step
    {
        std::int64_t size = 1;
        std::int64_t stride = 1; ///< in the table of ranks
        bool operator==(const Step&) const = default;
    };
    std::int64_t size = 1;
    std::vector<Step> steps;
    std::string name; ///< empty where it has none
    bool operator==(const MeshDim&) const = default;
};

struct DeviceMesh
{
    std::vector<MeshDim> dims;
    Tensor table; ///< global ranks; of the whole mesh where this one was sliced from a larger
    std::vector<std::int64_t> listed; ///< the same of a sidecar, which has them as numbers, row-major
    std::optional<std::int64_t> rank; ///< global rank of the writer, where torch recorded it
    std::optional<Shape> coordinate; ///< of the writer, where torch recorded it
    bool outside = false; ///< torch says that the writer is no part of this mesh
    bool keepsOrder = false; ///< its collectives go by the mesh where it is not in the order of ranks

    Shape shape() const;
    std::int64_t ranks() const; ///< the product of the sizes
};

struct Sharding
{
    Shape shape; ///< of the logical tensor
    Shape strides;
    DeviceMesh mesh;
    std::vector<Placement> placements; ///< one per dimension of the mesh
    std::vector<std::int64_t> order; ///< dimensions of the mesh in the order in which they cut the tensor
    std::string problem; ///< a clause; empty where all of it is understood
};

/// Notes in `problem` what cannot be so.
void checkPlacements(Sharding& sharding);

/// Whether as many elements can be counted, and no extent is negative.
bool countable(const Shape& shape);

/// "Shard(0) over dp, Replicate over tp".
std::string placementsText(const Sharding& sharding);

/// "a part of a DTensor 7x5, Shard(0) over dp, Replicate over tp"; empty where every rank holds all of it.
std::string partText(const Sharding& sharding);

/// More ranks than any run has; what claims more is damaged or made to do harm.
constexpr std::int64_t mostRanks = std::int64_t {1} << 20;

/// Where a file's part belongs, and how that is known.
struct ShardPlace
{
    enum class How : std::uint8_t { unknown, recorded, fromRank };
    How how = How::unknown;
    std::optional<Shape> coordinate;
    std::optional<std::int64_t> rank; ///< global
    std::string note; ///< why the place is not known or not certain, one clause
};

/// The place of a mesh with this number, row-major, and back.
Shape coordinateOf(const DeviceMesh& mesh, std::int64_t number);
std::int64_t numberOf(const DeviceMesh& mesh, const Shape& coordinate);

/// Global ranks of the mesh, row-major over its coordinates. `rank` is the writer's, which tells the meshes apart that
/// were sliced from one; it is only asked for where the mesh itself does not record it.
Result<std::vector<std::int64_t>> meshRanks(const DeviceMesh& mesh, std::optional<std::int64_t> rank);

/// torch's collectives go by rank, so along a dimension of the mesh whose ranks do not ascend the place of a rank
/// does not show which part it has: that of its place, or that of its number. A clause where the sharding is like that.
std::string rankOrderProblem(const Sharding& sharding, const std::vector<std::int64_t>& ranks);

/// The coordinate that torch recorded, checked against the table of ranks; else the place of the capture's own rank
/// in that table. `ranks` is what meshRanks() gave.
ShardPlace shardPlace(
    const DeviceMesh& mesh, const Result<std::vector<std::int64_t>>& ranks, std::optional<std::int64_t> captureRank);

} // namespace nanscope::tensorfile
