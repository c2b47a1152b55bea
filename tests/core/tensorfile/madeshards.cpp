// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "madeshards.h"

namespace nanscope::fixtures {

namespace {

const std::string placementTypes = "torch.distributed.tensor.placement_types";

Numbers rowMajor(const Numbers& shape)
{
    Numbers strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) {
        strides[i - 1] = strides[i] * shape[i];
    }
    return strides;
}

/// The entries of a dict without its end, so that others can follow.
std::string entries(const std::vector<std::pair<std::string, std::string>>& fields)
{
    const auto whole = dict(fields);
    return whole.substr(2, whole.size() - 3);
}

} // namespace

std::string object(const std::string& module, const std::string& name, const std::string& state)
{
    return global(module, name) + ")\x81" + state + "b";
}

std::string called(const std::string& module, const std::string& name)
{
    return global(module, name) + ")R";
}

std::string shardOn(std::int64_t dim)
{
    return object(placementTypes, "Shard", dict({{"dim", integer(dim)}}));
}

std::string stridedShardOn(std::int64_t dim, std::int64_t splitFactor)
{
    return object(
        placementTypes, "_StridedShard", dict({{"dim", integer(dim)}, {"split_factor", integer(splitFactor)}}));
}

std::string replicated()
{
    return object(placementTypes, "Replicate", "}");
}

std::string partialOf(const std::string& reduction)
{
    return object(placementTypes, "Partial", dict({{"reduce_op", text(reduction)}}));
}

std::string deviceMesh(const MadeMesh& mesh)
{
    const auto size = static_cast<std::int64_t>(mesh.ranks.size());
    const auto layout = object("torch.distributed._mesh_layout", "_MeshLayout",
        dict({{"shape", tuple(mesh.shape)}, {"stride", tuple(mesh.strides.value_or(rowMajor(mesh.shape)))}}));
    std::vector<std::pair<std::string, std::string>> fields {{"_device_type", text("cpu")},
        {"_layout", mesh.layout.empty() ? layout : mesh.layout},
        {"_rank_map", tensor("IntStorage", "1", size, {size}, {1})}, {"_root_mesh", "N"}};
    if (mesh.rank) {
        fields.emplace_back("_rank", integer(*mesh.rank));
    }
    if (mesh.coordinate) {
        fields.emplace_back("_coordinate_on_dim", tuple(*mesh.coordinate));
    }
    return object("torch.distributed.device_mesh", "DeviceMesh", "}(" + mesh.more + entries(fields) + "u");
}

std::string dtensor(const MadeShard& made)
{
    std::string placements = "(";
    for (const auto& placement : made.placements) {
        placements += placement;
    }
    const auto spec = object("torch.distributed.tensor._dtensor_spec", "DTensorSpec",
        "}(" + made.spec + entries({{"mesh", deviceMesh(made.mesh)}, {"placements", placements + "t"}}) + "u");
    const auto local =
        tensor("FloatStorage", "0", static_cast<std::int64_t>(made.values.size()), made.local, rowMajor(made.local));
    const auto state = dict({{"_local_tensor", local}, {"_spec", spec}});
    const auto type = global("torch.distributed.tensor", "DTensor");
    const auto wrapper = "(" + type + global("torch", "float32") + tuple(made.whole) + tuple(rowMajor(made.whole))
        + integer(0) + global("torch.serialization", "_get_layout") + "(" + text("torch.strided") + "tR"
        + global("torch", "device") + "(" + text("cpu") + "tR\x89t";
    return global("torch._tensor", "_rebuild_from_type_v2") + "(" + global("torch._utils", "_rebuild_wrapper_subclass")
        + type + wrapper + "(N" + state + "ttR";
}

std::string shardFile(const MadeShard& made)
{
    std::vector<std::pair<std::string, std::string>> fields {{"input", dtensor(made)}, {"epsilon", real(1e-8)}};
    if (made.dumpRank) {
        fields.emplace_back("rank", integer(*made.dumpRank));
    }
    return torchFile(pickle(dict(fields)), {bytesOf(made.values), bytesOf(made.mesh.ranks)});
}

} // namespace nanscope::fixtures
