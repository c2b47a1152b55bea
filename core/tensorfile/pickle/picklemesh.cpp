// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/pickle/picklemesh.h"

#include <algorithm>
#include <limits>

#include "core/tensorfile/bytes.h"

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

} // namespace

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

} // namespace nanscope::tensorfile
