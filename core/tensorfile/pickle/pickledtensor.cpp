// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/pickle/pickledtensor.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/tensorfile/pickle/picklemesh.h"
#include "core/tensorfile/pickle/recordfields.h"

namespace nanscope::tensorfile {

namespace {

using Kind = Placement::Kind;

struct PlacementClass
{
    RecordClass type;
    Kind kind;
};

constexpr std::array placementClasses {
    PlacementClass {RecordClass::shard, Kind::shard},
    PlacementClass {RecordClass::stridedShard, Kind::stridedShard},
    PlacementClass {RecordClass::replicate, Kind::replicate},
    PlacementClass {RecordClass::partial, Kind::partial},
    PlacementClass {RecordClass::maskPartial, Kind::partial},
    PlacementClass {RecordClass::normPartial, Kind::partial},
};

std::string reductionOf(const RecordFields& fields)
{
    // Embeddings and norms reduce with more than the operation they name.
    if (fields.type() == RecordClass::maskPartial) {
        return "masked sum";
    }
    if (fields.type() == RecordClass::normPartial) {
        return "norm";
    }
    constexpr std::size_t longest = 20;
    const auto name = fields.text("reduce_op");
    return name && !name->empty() && name->size() <= longest ? std::string(*name) : "unknown";
}

std::optional<Placement> readPlacement(const RecordFields& fields)
{
    const auto known = std::find_if(placementClasses.begin(), placementClasses.end(),
        [&](const auto& entry) { return entry.type == fields.type(); });
    if (known == placementClasses.end()) {
        return std::nullopt;
    }
    Placement placement;
    placement.kind = known->kind;
    if (placement.shards()) {
        placement.dim = fields.integer("dim").value_or(-1);
    }
    if (placement.kind == Kind::stridedShard) {
        placement.splitFactor = fields.integer("split_factor").value_or(0);
    }
    if (placement.kind == Kind::partial) {
        placement.reduction = reductionOf(fields);
    }
    return placement;
}

void note(Sharding& sharding, std::string problem)
{
    if (sharding.problem.empty()) {
        sharding.problem = std::move(problem);
    }
}

void readPlacements(const PickleGraph& graph, const RecordFields& spec, Sharding& sharding)
{
    const auto listed = spec.items("placements");
    if (!listed || listed->size() > RecordFields::mostDims) {
        return note(sharding, "its placements are not recorded");
    }
    for (const auto item : *listed) {
        auto placement = readPlacement(RecordFields(graph, item));
        if (!placement) {
            return note(sharding, "it is placed in a way that is not known");
        }
        sharding.placements.push_back(std::move(*placement));
    }
    if (sharding.placements.size() != sharding.mesh.dims.size()) {
        note(sharding, "it has not one placement for each dimension of its mesh");
    }
}

void checkPlacements(Sharding& sharding)
{
    const auto rank = static_cast<std::int64_t>(sharding.shape.size());
    for (const auto& placement : sharding.placements) {
        if (placement.shards() && (placement.dim < 0 || placement.dim >= rank)) {
            note(sharding, "it is cut along a dimension that it does not have");
        }
        if (placement.kind == Kind::stridedShard && placement.splitFactor < 1) {
            note(sharding, "it is cut into fewer pieces than one");
        }
    }
}

/// Newer torch (2.11, not 2.6) may cut a dimension in another order than that of the mesh, and records it.
bool readOrder(const PickleGraph& graph, std::span<const NodeId> entries, Sharding& sharding)
{
    std::vector<std::int64_t> order;
    for (const auto id : entries) {
        const auto fields = RecordFields(graph, id).arguments();
        Shape dims;
        if (fields.size() != 2 || !readInteger(graph, fields[0]) || !readIntegers(graph, fields[1], dims)) {
            return false;
        }
        for (const auto dim : dims) {
            const bool known = dim >= 0 && dim < static_cast<std::int64_t>(sharding.placements.size());
            const auto* placement = known ? &sharding.placements[static_cast<std::size_t>(dim)] : nullptr;
            if (placement == nullptr || !placement->shards() || placement->dim != readInteger(graph, fields[0])
                || std::find(order.begin(), order.end(), dim) != order.end()) {
                return false;
            }
            order.push_back(dim);
        }
    }
    const auto cuts = std::count_if(sharding.placements.begin(), sharding.placements.end(),
        [](const Placement& placement) { return placement.shards(); });
    if (static_cast<std::ptrdiff_t>(order.size()) != cuts) {
        return false;
    }
    sharding.order = std::move(order);
    return true;
}

void readOrder(const PickleGraph& graph, const RecordFields& spec, Sharding& sharding)
{
    sharding.order.resize(sharding.placements.size());
    std::iota(sharding.order.begin(), sharding.order.end(), 0);
    const auto entries = spec.items("shard_order");
    if (entries && !readOrder(graph, entries->first(std::min(entries->size(), RecordFields::mostDims)), sharding)) {
        note(sharding, "the order in which it was cut contradicts its placements");
    }
}

bool countable(const Shape& shape)
{
    std::int64_t count = 1;
    return std::all_of(shape.begin(), shape.end(), [&](std::int64_t extent) {
        return extent >= 0 && !__builtin_mul_overflow(count, std::max<std::int64_t>(extent, 1), &count);
    });
}

void readWrapper(const PickleGraph& graph, NodeId wrapper, const Tensor& local, Sharding& sharding)
{
    const auto arguments = graph.items(graph.nodes[wrapper]);
    if (arguments.size() < 4 || !readIntegers(graph, arguments[2], sharding.shape)
        || !readIntegers(graph, arguments[3], sharding.strides)) {
        return note(sharding, "its logical shape is not recorded");
    }
    if (!countable(sharding.shape)) {
        return note(sharding, "its logical shape is negative or larger than can be counted");
    }
    if (sharding.shape.size() != local.shape().size()) {
        note(sharding, "the part in the file has another number of dimensions than the whole");
    }
    const auto& type = graph.nodes[arguments[1]];
    if (type.kind != NodeKind::global || graph.globals[type.index].known != Known::dtype
        || graph.globals[type.index].dtype != local.dtype()) {
        note(sharding, "the part in the file has another type than the whole");
    }
}

/// DTensorSpec says the logical shape once more, where torch has it.
void checkMeta(const PickleGraph& graph, const RecordFields& spec, Sharding& sharding)
{
    const auto meta = spec.find("tensor_meta");
    const auto fields = meta ? RecordFields(graph, *meta).arguments() : std::span<const NodeId>();
    Shape shape;
    if (!fields.empty() && (!readIntegers(graph, fields[0], shape) || shape != sharding.shape)) {
        note(sharding, "its two records of the logical shape contradict each other");
    }
}

} // namespace

std::optional<NodeId> wrappedTensor(const PickleGraph& graph, RecordClass type, NodeId state)
{
    const auto found = RecordFields(graph, type, state).find(type == RecordClass::dtensor ? "_local_tensor" : "elem");
    const bool known = type == RecordClass::dtensor || type == RecordClass::asyncTensor;
    return known && found && graph.nodes[*found].kind == NodeKind::tensor ? found : std::nullopt;
}

Sharding readSharding(const PickleGraph& graph, NodeId wrapper, NodeId state, const Tensor& local)
{
    Sharding sharding;
    readWrapper(graph, wrapper, local, sharding);
    const auto specNode = RecordFields(graph, RecordClass::dtensor, state).find("_spec");
    const auto spec = specNode ? RecordFields(graph, *specNode) : RecordFields(graph, RecordClass::none, wrapper);
    const auto mesh = spec.type() == RecordClass::spec ? spec.find("mesh") : std::nullopt;
    if (!mesh) {
        note(sharding, "it does not say how it is spread");
        return sharding;
    }
    if (auto problem = readMesh(RecordFields(graph, *mesh), sharding.mesh); !problem.empty()) {
        note(sharding, std::move(problem));
    }
    readPlacements(graph, spec, sharding);
    checkPlacements(sharding);
    readOrder(graph, spec, sharding);
    checkMeta(graph, spec, sharding);
    return sharding;
}

std::size_t chargeOf(const Sharding& sharding)
{
    constexpr std::size_t itself = 16;
    return itself + sharding.shape.size() / 2 + 4 * sharding.placements.size() + 8 * sharding.mesh.dims.size();
}

} // namespace nanscope::tensorfile
