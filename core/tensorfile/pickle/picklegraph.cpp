// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/pickle/picklegraph.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/try.h"

namespace nanscope::tensorfile {

namespace {

struct Allowed
{
    std::string_view module;
    std::string_view name;
    Known known;
};

constexpr std::array allowed {
    Allowed {"torch._utils", "_rebuild_tensor", Known::rebuildTensor},
    Allowed {"torch._utils", "_rebuild_tensor_v2", Known::rebuildTensorV2},
    Allowed {"torch._utils", "_rebuild_tensor_v3", Known::rebuildTensorV3},
    Allowed {"torch._utils", "_rebuild_parameter", Known::rebuildParameter},
    Allowed {"torch._utils", "_rebuild_parameter_with_state", Known::rebuildParameter},
    Allowed {"torch._utils", "_rebuild_wrapper_subclass", Known::rebuildWrapper},
    Allowed {"torch._tensor", "_rebuild_from_type_v2", Known::rebuildFromType},
    Allowed {"collections", "OrderedDict", Known::dict},
    Allowed {"collections", "defaultdict", Known::dict},
    Allowed {"collections", "Counter", Known::dict},
    Allowed {"builtins", "dict", Known::dict},
    Allowed {"__builtin__", "dict", Known::dict},
    Allowed {"torch", "Size", Known::list},
    Allowed {"builtins", "list", Known::list},
    Allowed {"builtins", "tuple", Known::list},
    Allowed {"builtins", "set", Known::list},
    Allowed {"builtins", "frozenset", Known::list},
    Allowed {"__builtin__", "list", Known::list},
    Allowed {"__builtin__", "tuple", Known::list},
    Allowed {"__builtin__", "set", Known::list},
    Allowed {"__builtin__", "frozenset", Known::list},
    Allowed {"torch", "device", Known::device},
    Allowed {"torch.serialization", "_get_layout", Known::layout},
    Allowed {"torch.storage", "UntypedStorage", Known::untypedStorage},
    Allowed {"torch", "UntypedStorage", Known::untypedStorage},
    Allowed {"torch", "Tensor", Known::tensorClass},
    Allowed {"torch._tensor", "Tensor", Known::tensorClass},
    Allowed {"torch.nn.parameter", "Parameter", Known::tensorClass},
    Allowed {"torch.nn.parameter", "Buffer", Known::tensorClass},
};

struct RecordName
{
    std::string_view name;
    RecordClass type;
};

// Their modules moved from torch.distributed._tensor to torch.distributed.tensor and within it; the names stayed.
constexpr std::array recordClasses {
    RecordName {"DTensor", RecordClass::dtensor},
    RecordName {"AsyncCollectiveTensor", RecordClass::asyncTensor},
    RecordName {"DTensorSpec", RecordClass::spec},
    RecordName {"TensorMeta", RecordClass::tensorMeta},
    RecordName {"ShardOrderEntry", RecordClass::shardOrder},
    RecordName {"DeviceMesh", RecordClass::mesh},
    RecordName {"_MeshLayout", RecordClass::meshLayout},
    RecordName {"_FlatLayout", RecordClass::flatLayout},
    RecordName {"Shard", RecordClass::shard},
    RecordName {"_StridedShard", RecordClass::stridedShard},
    RecordName {"Replicate", RecordClass::replicate},
    RecordName {"Partial", RecordClass::partial},
    RecordName {"_Partial", RecordClass::partial},
    RecordName {"_MaskPartial", RecordClass::maskPartial},
    RecordName {"_NormPartial", RecordClass::normPartial},
    // The .metadata of a distributed checkpoint: torch/distributed/checkpoint/metadata.py and filesystem.py.
    RecordName {"Metadata", RecordClass::checkpoint},
    RecordName {"TensorStorageMetadata", RecordClass::checkpointTensor},
    RecordName {"BytesStorageMetadata", RecordClass::checkpointObject},
    RecordName {"TensorProperties", RecordClass::checkpointProperties},
    RecordName {"MetadataIndex", RecordClass::checkpointIndex},
    RecordName {"_StorageInfo", RecordClass::checkpointStorage},
};

struct StorageClass
{
    std::string_view name;
    DType dtype;
};

constexpr std::array storageClasses {
    StorageClass {"DoubleStorage", DType::float64},
    StorageClass {"FloatStorage", DType::float32},
    StorageClass {"HalfStorage", DType::float16},
    StorageClass {"BFloat16Storage", DType::bfloat16},
    StorageClass {"LongStorage", DType::int64},
    StorageClass {"IntStorage", DType::int32},
    StorageClass {"ShortStorage", DType::int16},
    StorageClass {"CharStorage", DType::int8},
    StorageClass {"ByteStorage", DType::uint8},
    StorageClass {"BoolStorage", DType::boolean},
    StorageClass {"ComplexFloatStorage", DType::complex64},
    StorageClass {"ComplexDoubleStorage", DType::complex128},
};

} // namespace

PickleGlobal resolveGlobal(std::string_view module, std::string_view name)
{
    constexpr std::size_t longestName = 100; // in messages and lists
    PickleGlobal global;
    global.name = std::string(module.substr(0, longestName)) + " " + std::string(name.substr(0, longestName));
    for (const auto& entry : allowed) {
        if (entry.module == module && entry.name == name) {
            global.known = entry.known;
            return global;
        }
    }
    for (const auto& entry : recordClasses) {
        if (module.starts_with("torch.distributed.") && entry.name == name) {
            global.known = Known::record;
            global.record = entry.type;
            return global;
        }
    }
    const bool torch = module == "torch";
    if (const auto dtype = parseDType(name); torch && dtype && torchName(*dtype) == name) {
        global.known = Known::dtype;
        global.dtype = *dtype;
        return global;
    }
    for (const auto& entry : storageClasses) {
        if ((torch || module == "torch.cuda") && entry.name == name) {
            global.known = Known::typedStorage;
            global.dtype = entry.dtype;
        }
    }
    return global;
}

std::string_view nameOf(RecordClass record)
{
    const auto found = std::find_if(
        recordClasses.begin(), recordClasses.end(), [&](const auto& entry) { return entry.type == record; });
    return found == recordClasses.end() ? "object" : found->name;
}

namespace {

constexpr int deepest = 100;

/// A value takes a hundred times the room of the byte that may have made it.
std::size_t mostValues(const PickleGraph& graph)
{
    constexpr std::size_t always = std::size_t {1} << 20;
    return std::min(4096 + 4 * graph.nodes.size(), always + graph.pickle.size() / 4);
}

/// Copies what is reachable into a tree. Sharing is unfolded, so its cost is counted against the pickle's size.
class Unfolding
{
public:
    explicit Unfolding(PickleGraph& graph)
        : m_graph(graph)
        , m_values(mostValues(graph))
        , m_bytes(65536 + 8 * graph.pickle.size())
    { }

    Result<PickleValue> value(NodeId id, int depth);

private:
    Result<PickleValue> list(const Node& node, int depth);
    Result<PickleValue> dict(const Node& node, int depth);
    PickleValue global(const Node& node) const;
    PickleValue record(const Node& node);
    bool pay(std::size_t values, std::size_t bytes);

    PickleGraph& m_graph;
    std::size_t m_values;
    std::size_t m_bytes;
};

bool Unfolding::pay(std::size_t values, std::size_t bytes)
{
    if (values > m_values || bytes > m_bytes) {
        return false;
    }
    m_values -= values;
    m_bytes -= bytes;
    return true;
}

auto unjustified()
{
    return failure(ErrorKind::refused,
        "The pickle inside unfolds to many times its size; it is damaged or made to fill the memory");
}

PickleValue Unfolding::global(const Node& node) const
{
    const auto& global = m_graph.globals[node.index];
    if (global.known == Known::dtype) {
        return {"torch." + std::string(torchName(global.dtype))};
    }
    return {OpaqueObject {global.name}};
}

PickleValue Unfolding::record(const Node& node)
{
    auto name = "torch.distributed " + std::string(nameOf(m_graph.records[node.index].type));
    m_graph.noteOpaque(name);
    return {OpaqueObject {std::move(name)}};
}

Result<PickleValue> Unfolding::list(const Node& node, int depth)
{
    PickleList list;
    const auto items = m_graph.items(node);
    if (items.size() > m_values) {
        return unjustified();
    }
    list.reserve(items.size());
    for (const auto item : items) {
        list.push_back(TRY(value(item, depth + 1)));
    }
    return PickleValue {std::move(list)};
}

Result<PickleValue> Unfolding::dict(const Node& node, int depth)
{
    PickleDict dict;
    std::unordered_map<std::string_view, std::size_t> texts; // slices of the pickle
    std::unordered_map<std::int64_t, std::size_t> numbers;
    const auto placeOf = [&](const Node& key) {
        const auto next = dict.size();
        return key.kind == NodeKind::text   ? texts.try_emplace(m_graph.text(key), next).first->second
            : key.kind == NodeKind::integer ? numbers.try_emplace(key.integer, next).first->second
                                            : next;
    };
    const auto entries = m_graph.items(node);
    dict.reserve(std::min(entries.size() / 2, m_values));
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
        auto key = TRY(value(entries[i], depth + 1));
        auto held = TRY(value(entries[i + 1], depth + 1));
        const auto place = placeOf(m_graph.nodes[entries[i]]);
        if (place < dict.size()) {
            dict[place].second = std::move(held); // a later entry of the same key wins, as in Python
        } else {
            dict.push_back({std::move(key), std::move(held)});
        }
    }
    return PickleValue {std::move(dict)};
}

Result<PickleValue> Unfolding::value(NodeId id, int depth)
{
    const auto& node = m_graph.nodes[id];
    const bool text = node.kind == NodeKind::text;
    if (!pay(1, text ? node.index : 0)) {
        return unjustified();
    }
    if (depth > deepest) {
        return failure(ErrorKind::refused,
            "The pickle inside is nested more than 100 deep or contains itself; it is damaged or made to do harm");
    }
    switch (node.kind) {
    case NodeKind::none:
        return PickleValue {};
    case NodeKind::boolean:
        return PickleValue {node.integer != 0};
    case NodeKind::integer:
        return PickleValue {node.integer};
    case NodeKind::real:
        return PickleValue {node.real};
    case NodeKind::text:
        return PickleValue {std::string(m_graph.text(node))};
    case NodeKind::sequence:
        return list(node, depth);
    case NodeKind::dict:
        return dict(node, depth);
    case NodeKind::tensor:
        return PickleValue {m_graph.tensors[node.index]};
    case NodeKind::storage:
        return PickleValue {OpaqueObject {"torch storage"}};
    case NodeKind::record:
        return record(node);
    case NodeKind::global:
    case NodeKind::opaque:
        break;
    }
    return global(node);
}

} // namespace

Result<PickleValue> unfold(PickleGraph& graph)
{
    return Unfolding(graph).value(graph.root, 0);
}

} // namespace nanscope::tensorfile
