// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensorfile/tensorfile.h"

namespace nanscope::tensorfile {

/// What a name in a pickle may stand for. Everything that is not here is opaque.
enum class Known : std::uint8_t {
    opaque,
    rebuildTensor,
    rebuildTensorV2,
    rebuildTensorV3,
    rebuildParameter,
    rebuildFromType,
    rebuildWrapper,
    dict,
    list,
    device,
    layout,
    dtype,
    typedStorage,
    untypedStorage,
    tensorClass,
    record,
};

/// Classes of torch.distributed whose objects are kept as what they were made from, and nothing else.
enum class RecordClass : std::uint8_t {
    none,
    dtensor,
    asyncTensor,
    spec,
    tensorMeta,
    shardOrder,
    mesh,
    meshLayout,
    flatLayout,
    shard,
    stridedShard,
    replicate,
    partial,
    maskPartial,
    normPartial,
    checkpoint,
    checkpointTensor,
    checkpointObject,
    checkpointProperties,
    checkpointIndex,
    checkpointStorage,
};

struct PickleGlobal
{
    Known known = Known::opaque;
    DType dtype = DType::float32; ///< for dtype and typedStorage
    std::string name; ///< "module qualname"
    RecordClass record = RecordClass::none;
};

PickleGlobal resolveGlobal(std::string_view module, std::string_view name);
std::string_view nameOf(RecordClass record);

enum class NodeKind : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    text,
    sequence,
    dict,
    global,
    storage,
    tensor,
    record,
    opaque
};

using NodeId = std::uint32_t;

/// One object of a pickle. `index` leads into the graph's side tables; a text is a slice of the pickle.
struct Node
{
    NodeKind kind = NodeKind::none;
    std::uint32_t index = 0;
    union {
        std::int64_t integer = 0;
        double real;
        std::uint64_t offset;
    };
};

struct PickledStorage
{
    std::string key;
    std::int64_t elements = 0;
    DType dtype = DType::uint8;
    bool typed = false;
};

struct PickledRecord
{
    RecordClass type = RecordClass::none;
    NodeId arguments = 0; ///< a sequence
    NodeId state = 0; ///< of BUILD; none where there was none
};

/// Objects of a pickle as a graph in flat tables: shared and cyclic objects cost nothing, and nothing is destroyed
/// recursively.
struct PickleGraph
{
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    std::span<const std::byte> pickle;
    std::vector<Node> nodes;
    std::vector<std::vector<NodeId>> sequences; ///< items; keys and values in turn for dicts
    std::vector<PickleGlobal> globals;
    std::vector<PickledStorage> storages;
    std::vector<std::shared_ptr<const Tensor>> tensors; ///< shared with what is unfolded
    std::vector<PickledRecord> records;
    std::vector<std::string> opaque; ///< names, each once
    NodeId root = 0;
    std::size_t budget = 0; ///< objects that may still be made

    std::string_view text(const Node& node) const;
    std::span<const NodeId> items(const Node& node) const; ///< none where it is no container
    std::vector<NodeId>& growable(NodeId id);
    void noteOpaque(const std::string& name);
};

/// Runs a pickle of protocol 0 to 5 into a graph. Tensors are views into `source`; calls outside the allow-list
/// and their results become opaque nodes, and nothing is ever executed.
Result<PickleGraph> readPickleGraph(std::span<const std::byte> pickle, std::shared_ptr<const Tensor::Source> source);

/// The graph as plain data. Refuses cycles, nesting beyond 100, sharing that would unfold to a multiple of what was
/// read, and more than a million values where the pickle is not large itself. Records that are no part of a tensor
/// become opaque, and are noted as such.
Result<PickleValue> unfold(PickleGraph& graph);

} // namespace nanscope::tensorfile
