// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/tensorfile/pickle/picklecalls.h"
#include "core/tensorfile/pickle/picklefields.h"
#include "core/tensorfile/pickle/picklegraph.h"
#include "core/tensorfile/sharding.h"

namespace nanscope::tensorfile {

namespace {

constexpr auto noLayout = "its mesh is not described in a way that is known";
constexpr auto badSizes = "its mesh claims sizes that no mesh has";

/// Sizes or strides of one dimension: a number, or a nest of tuples of them. False where it is neither.
bool flatten(const PickleGraph& graph, NodeId id, int depth, Shape& out)
{
    constexpr int deepest = 4;
    if (const auto value = readInteger(graph, id)) {
        out.push_back(*value);
        return out.size() <= RecordFields::mostDims;
    }
    const auto items = graph.items(graph.nodes[id]);
    return graph.nodes[id].kind == NodeKind::sequence && depth < deepest
        && std::all_of(items.begin(), items.end(), [&](NodeId item) { return flatten(graph, item, depth + 1, out); });
}

bool addDim(const PickleGraph& graph, NodeId shape, NodeId stride, DeviceMesh& mesh)
{
    Shape sizes;
    Shape strides;
    if (!flatten(graph, shape, 0, sizes) || !flatten(graph, stride, 0, strides) || sizes.size() != strides.size()) {
        return false;
    }
    MeshDim dim;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        dim.steps.push_back({sizes[i], strides[i]});
    }
    mesh.dims.push_back(std::move(dim));
    return true;
}

/// As in torch 2.11: two nests of tuples, one entry per dimension.
bool readNests(const RecordFields& layout, DeviceMesh& mesh)
{
    // torch coalesces: one dimension, or several flattened that lie side by side, are two plain numbers.
    const auto size = layout.find("shape");
    const auto step = layout.find("stride");
    if (size && step && readInteger(layout.graph(), *size) && readInteger(layout.graph(), *step)) {
        return addDim(layout.graph(), *size, *step, mesh);
    }
    const auto shape = layout.items("shape");
    const auto stride = layout.items("stride");
    if (!shape || !stride || shape->size() != stride->size() || shape->size() > RecordFields::mostDims) {
        return false;
    }
    for (std::size_t i = 0; i < shape->size(); ++i) {
        if (!addDim(layout.graph(), (*shape)[i], (*stride)[i], mesh)) {
            return false;
        }
    }
    return true;
}

/// As in torch 2.15: one object per dimension.
bool readAxes(const RecordFields& layout, DeviceMesh& mesh)
{
    const auto axes = layout.items("axes");
    if (!axes || axes->size() > RecordFields::mostDims) {
        return false;
    }
    return std::all_of(axes->begin(), axes->end(), [&](NodeId id) {
        const RecordFields axis(layout.graph(), id);
        const auto shape = axis.find("shape");
        const auto stride = axis.find("stride");
        return axis.type() == RecordClass::flatLayout && shape && stride
            && addDim(layout.graph(), *shape, *stride, mesh);
    });
}

const Tensor* tensorOf(const RecordFields& fields, std::string_view name)
{
    const auto found = fields.find(name);
    const bool isTensor = found && fields.graph().nodes[*found].kind == NodeKind::tensor;
    return isTensor ? fields.graph().tensors[fields.graph().nodes[*found].index].get() : nullptr;
}

/// As in torch 2.6: the table has the shape of the mesh.
bool readTable(const RecordFields& fields, DeviceMesh& mesh)
{
    const auto* table = tensorOf(fields, "mesh");
    if (table == nullptr || table->elements() == 0) {
        return false;
    }
    mesh.table = *table;
    std::int64_t stride = 1;
    for (std::size_t i = table->shape().size(); i-- > 0;) {
        const auto size = table->shape()[i];
        mesh.dims.insert(mesh.dims.begin(), {size, {{size, stride}}, {}});
        stride *= size;
    }
    return true;
}

bool readLayout(const RecordFields& fields, DeviceMesh& mesh)
{
    const auto* table = tensorOf(fields, "_rank_map");
    const auto node = fields.find("_layout");
    if (table == nullptr || !node) {
        return false;
    }
    mesh.table = *table;
    const RecordFields layout(fields.graph(), *node);
    return readAxes(layout, mesh) || (mesh.dims.clear(), readNests(layout, mesh));
}

/// Sizes multiply to a number of ranks that the table has, and no step stands still or leads out of it. Steps of one
/// lead nowhere: without them there are at most as many as a number of ranks has bits.
bool sizesFit(DeviceMesh& mesh)
{
    std::int64_t ranks = 1;
    std::int64_t last = 0;
    for (auto& dim : mesh.dims) {
        dim.size = 1;
        std::erase_if(dim.steps, [](const MeshDim::Step& step) { return step.size == 1; });
        for (const auto& step : dim.steps) {
            std::int64_t reach = 0;
            if (step.size < 1 || step.stride < 1 || !multiplies(dim.size, step.size, dim.size)
                || !multiplies(step.size - 1, step.stride, reach) || !adds(last, reach, last)) {
                return false;
            }
        }
        if (!multiplies(ranks, dim.size, ranks) || ranks > mostRanks) {
            return false;
        }
    }
    return last < mesh.table.elements() && ranks <= mesh.table.elements();
}

void readNames(const RecordFields& fields, DeviceMesh& mesh)
{
    constexpr std::size_t longest = 40;
    const auto names =
        fields.find("_mesh_dim_names") ? fields.items("_mesh_dim_names") : fields.items("mesh_dim_names");
    for (std::size_t i = 0; names && i < std::min(names->size(), mesh.dims.size()); ++i) {
        const auto& node = fields.graph().nodes[(*names)[i]];
        if (node.kind == NodeKind::text) {
            mesh.dims[i].name = fields.graph().text(node).substr(0, longest);
        }
    }
}

/// False where a coordinate is recorded that the mesh does not have.
bool readPlace(const RecordFields& fields, DeviceMesh& mesh)
{
    const auto order = fields.find("_preserve_rank_order");
    mesh.keepsOrder =
        order && fields.graph().nodes[*order].kind == NodeKind::boolean && fields.graph().nodes[*order].integer != 0;
    const auto rank = fields.integer("_rank");
    if (rank && *rank >= 0 && *rank <= std::numeric_limits<std::int32_t>::max()) {
        mesh.rank = rank;
    }
    const auto found = fields.find("_coordinate_on_dim");
    if (!found || fields.graph().nodes[*found].kind == NodeKind::none) {
        mesh.outside = found.has_value();
        return true;
    }
    Shape coordinate;
    if (!readIntegers(fields.graph(), *found, coordinate) || coordinate.size() != mesh.dims.size()) {
        return false;
    }
    for (std::size_t i = 0; i < coordinate.size(); ++i) {
        if (coordinate[i] < 0 || coordinate[i] >= mesh.dims[i].size) {
            return false;
        }
    }
    mesh.coordinate = std::move(coordinate);
    return true;
}

/// A pickled DeviceMesh, checked for what it says of itself. Returns what is wrong with it as a clause, or nothing.
std::string readMesh(const RecordFields& fields, DeviceMesh& mesh)
{
    if (fields.type() != RecordClass::mesh || !(readLayout(fields, mesh) || readTable(fields, mesh))) {
        mesh.dims.clear();
        return noLayout;
    }
    readNames(fields, mesh);
    if (!sizesFit(mesh)) {
        mesh.dims.clear();
        return badSizes;
    }
    return readPlace(fields, mesh) ? std::string() : "it names a place that its mesh does not have";
}

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

void note(Sharding& sharding, std::string_view problem)
{
    if (sharding.problem.empty()) {
        sharding.problem = problem;
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
    if (const auto problem = readMesh(RecordFields(graph, *mesh), sharding.mesh); !problem.empty()) {
        note(sharding, problem);
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
