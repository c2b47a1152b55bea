// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/pickle/picklecalls.h"

#include <algorithm>

#include "core/base/bytes.h"
#include "core/base/try.h"
#include "core/tensorfile/corrupt.h"
#include "core/tensorfile/tensorsource.h"

namespace nanscope::tensorfile {

namespace {

constexpr std::size_t mostNames = 100;

auto badTensor()
{
    return corrupt("A tensor in the pickle inside is not described the way torch does; the file is damaged");
}

} // namespace

std::string_view PickleGraph::text(const Node& node) const
{
    return asText(pickle.subspan(node.offset, node.index));
}

std::span<const NodeId> PickleGraph::items(const Node& node) const
{
    const bool container = node.kind == NodeKind::sequence || node.kind == NodeKind::dict;
    return container && node.index != none ? std::span<const NodeId>(sequences[node.index]) : std::span<const NodeId>();
}

std::vector<NodeId>& PickleGraph::growable(NodeId id)
{
    auto& node = nodes[id];
    if (node.index == none) {
        node.index = static_cast<std::uint32_t>(sequences.size());
        sequences.emplace_back();
    }
    return sequences[node.index];
}

void PickleGraph::noteOpaque(const std::string& name)
{
    if (opaque.size() < mostNames && std::find(opaque.begin(), opaque.end(), name) == opaque.end()) {
        opaque.push_back(name);
    }
}

Result<void> PickleCalls::charge(std::size_t objects)
{
    if (objects > m_graph.budget) {
        return failure(ErrorKind::refused,
            "The pickle inside makes more objects than its size justifies; it is damaged or made to fill the memory");
    }
    m_graph.budget -= objects;
    return {};
}

Result<NodeId> PickleCalls::make(const Node& node)
{
    TRY(charge(1));
    m_graph.nodes.push_back(node);
    return static_cast<NodeId>(m_graph.nodes.size() - 1);
}

Result<NodeId> PickleCalls::makeSequence(NodeKind kind, std::span<const NodeId> items)
{
    Node node;
    node.kind = kind;
    node.index = PickleGraph::none;
    auto id = make(node);
    if (id && !items.empty()) {
        m_graph.growable(*id).assign(items.begin(), items.end());
    }
    return id;
}

Result<NodeId> PickleCalls::makeGlobal(std::string_view module, std::string_view name)
{
    auto global = resolveGlobal(module, name);
    if (global.known == Known::opaque) {
        return makeOpaque(global.name);
    }
    Node node;
    node.kind = NodeKind::global;
    node.index = static_cast<std::uint32_t>(m_graph.globals.size());
    m_graph.globals.push_back(std::move(global));
    return charge(2).and_then([&] { return make(node); });
}

Result<NodeId> PickleCalls::makeOpaque(const std::string& name)
{
    m_graph.noteOpaque(name);
    Node node;
    node.kind = NodeKind::opaque;
    node.index = static_cast<std::uint32_t>(m_graph.globals.size());
    m_graph.globals.push_back({Known::opaque, DType::float32, name, RecordClass::none});
    return charge(2).and_then([&] { return make(node); });
}

Result<NodeId> PickleCalls::persistent(NodeId id)
{
    const auto fields = m_graph.items(at(id));
    if (at(id).kind != NodeKind::sequence || fields.size() < 5 || at(fields[0]).kind != NodeKind::text
        || m_graph.text(at(fields[0])) != "storage" || at(fields[2]).kind != NodeKind::text
        || at(fields[4]).kind != NodeKind::integer) {
        return makeOpaque("persistent id");
    }
    const auto& type = at(fields[1]);
    if (type.kind == NodeKind::opaque) {
        return make(type);
    }
    PickledStorage storage {std::string(m_graph.text(at(fields[2]))), at(fields[4]).integer, DType::uint8, false};
    if (type.kind != NodeKind::global) {
        return badTensor();
    }
    const auto& global = m_graph.globals[type.index];
    storage.typed = global.known == Known::typedStorage;
    if (storage.typed) {
        storage.dtype = global.dtype;
    } else if (global.known != Known::untypedStorage) {
        return badTensor();
    }
    Node node;
    node.kind = NodeKind::storage;
    node.index = static_cast<std::uint32_t>(m_graph.storages.size());
    return charge(2 + storage.key.size() / 16).and_then([&] {
        m_graph.storages.push_back(std::move(storage));
        return make(node);
    });
}

bool PickleCalls::integers(NodeId id, Shape& out) const
{
    const auto items = m_graph.items(at(id));
    constexpr std::size_t longest = 64;
    if (at(id).kind != NodeKind::sequence || items.size() > longest) {
        return false;
    }
    for (const auto item : items) {
        if (at(item).kind != NodeKind::integer) {
            return false;
        }
        out.push_back(at(item).integer);
    }
    return true;
}

/// True for the marks of a conjugate or negated view that torch has not yet carried out.
bool PickleCalls::lazyView(NodeId metadata) const
{
    const auto& node = at(metadata);
    return node.kind != NodeKind::none && !(node.kind == NodeKind::dict && m_graph.items(node).empty());
}

Result<NodeId> PickleCalls::rebuildTensor(Known how, std::span<const NodeId> arguments)
{
    const bool third = how == Known::rebuildTensorV3;
    const std::size_t metadata = third ? 7 : 6;
    if (arguments.size() < (third ? 7U : 4U)) {
        return badTensor();
    }
    if (at(arguments[0]).kind == NodeKind::opaque) {
        return make(at(arguments[0]));
    }
    if (arguments.size() > metadata && lazyView(arguments[metadata])) {
        return makeOpaque("torch lazily negated or conjugated tensor");
    }
    Shape shape;
    Shape strides;
    if (at(arguments[0]).kind != NodeKind::storage || at(arguments[1]).kind != NodeKind::integer
        || !integers(arguments[2], shape) || !integers(arguments[3], strides)) {
        return badTensor();
    }
    const auto& storage = m_graph.storages[at(arguments[0]).index];
    auto dtype = storage.dtype;
    if (third) {
        const auto& type = at(arguments[6]);
        if (type.kind == NodeKind::opaque) {
            return make(type);
        }
        if (type.kind != NodeKind::global || m_graph.globals[type.index].known != Known::dtype) {
            return badTensor();
        }
        dtype = m_graph.globals[type.index].dtype;
    }
    const auto* stored = m_source->find(storage.key);
    if (stored != nullptr
        && (storage.elements < 0
            || static_cast<std::uint64_t>(storage.elements) > stored->size / sizeOf(storage.dtype))) {
        return corrupt("A storage holds fewer bytes than its tensor was saved with; the file is cut off or damaged");
    }
    auto tensor =
        TRY(makeTensor(m_source, storage.key, dtype, std::move(shape), std::move(strides), at(arguments[1]).integer));
    return makeTensorNode(std::move(tensor));
}

Result<NodeId> PickleCalls::makeTensorNode(Tensor tensor)
{
    Node node;
    node.kind = NodeKind::tensor;
    node.index = static_cast<std::uint32_t>(m_graph.tensors.size());
    return charge(2 + tensor.shape().size() / 4).and_then([&] {
        m_graph.tensors.push_back(std::make_shared<const Tensor>(std::move(tensor)));
        return make(node);
    });
}

Result<NodeId> PickleCalls::rebuildFromType(std::span<const NodeId> arguments, int depth)
{
    if (arguments.size() < 3 || at(arguments[2]).kind != NodeKind::sequence || depth > 3) {
        return badTensor();
    }
    const auto& function = at(arguments[0]);
    if (function.kind != NodeKind::global) {
        return function.kind == NodeKind::opaque ? make(function) : badTensor();
    }
    const auto global = m_graph.globals[function.index];
    return global.known == Known::rebuildWrapper ? rebuildWrapper(arguments)
                                                 : callKnown(global, arguments[2], depth + 1);
}

Result<NodeId> PickleCalls::rebuildDict(std::span<const NodeId> arguments)
{
    std::vector<NodeId> entries;
    for (const auto argument : arguments) {
        const auto& given = at(argument);
        const auto pairs = m_graph.items(given);
        if (given.kind != NodeKind::sequence && given.kind != NodeKind::dict) {
            continue; // defaultdict's factory
        }
        TRY(charge(pairs.size()));
        if (given.kind == NodeKind::dict) {
            entries.insert(entries.end(), pairs.begin(), pairs.end());
            continue;
        }
        for (const auto pair : pairs) {
            const auto two = m_graph.items(at(pair));
            if (at(pair).kind != NodeKind::sequence || two.size() != 2) {
                return corrupt("A dict in the pickle inside is not made of pairs; the file is damaged");
            }
            entries.insert(entries.end(), two.begin(), two.end());
        }
    }
    return makeSequence(NodeKind::dict, entries);
}

Result<NodeId> PickleCalls::callKnown(const PickleGlobal& global, NodeId tuple, int depth)
{
    const auto arguments = m_graph.items(at(tuple));
    switch (global.known) {
    case Known::rebuildTensor:
    case Known::rebuildTensorV2:
    case Known::rebuildTensorV3:
        return rebuildTensor(global.known, arguments);
    case Known::rebuildParameter:
        return arguments.empty() ? badTensor() : Result<NodeId>(arguments[0]);
    case Known::rebuildFromType:
        return rebuildFromType(arguments, depth);
    case Known::dict:
        return rebuildDict(arguments);
    case Known::list:
        // The items are shared, not copied: copies of one long tuple would cost what the file did not pay for.
        if (!arguments.empty() && at(arguments[0]).kind == NodeKind::sequence) {
            return make(at(arguments[0]));
        }
        return makeSequence(NodeKind::sequence, {});
    case Known::record:
        return makeRecord(global.record, tuple);
    case Known::device:
    case Known::layout:
        return arguments.empty() ? makeOpaque(global.name) : Result<NodeId>(arguments[0]);
    default:
        return makeOpaque(global.name);
    }
}

Result<NodeId> PickleCalls::call(NodeId callable, NodeId arguments)
{
    const auto& function = at(callable);
    if (at(arguments).kind != NodeKind::sequence && at(arguments).kind != NodeKind::opaque) {
        return corrupt("A call in the pickle inside has no arguments; the file is damaged");
    }
    if (function.kind != NodeKind::global) {
        return function.kind == NodeKind::opaque ? make(function) : makeOpaque("not callable");
    }
    if (at(arguments).kind == NodeKind::opaque) {
        return make(at(arguments));
    }
    const auto global = m_graph.globals[function.index];
    return callKnown(global, arguments, 0);
}

Result<NodeId> PickleCalls::makeRecord(RecordClass type, NodeId arguments)
{
    Node node;
    node.kind = NodeKind::record;
    node.index = static_cast<std::uint32_t>(m_graph.records.size());
    return charge(1).and_then([&] {
        m_graph.records.push_back({type, arguments, PickleGraph::none});
        return make(node);
    });
}

void PickleCalls::build(NodeId object, NodeId state)
{
    if (at(object).kind == NodeKind::record) {
        m_graph.records[at(object).index].state = state;
    }
}

/// Subclasses of tensors that wrap others. Of a DTensor its own part is kept, and what it says of the whole.
Result<NodeId> PickleCalls::rebuildWrapper(std::span<const NodeId> arguments)
{
    const auto& type = at(arguments[1]);
    if (type.kind == NodeKind::opaque) {
        return make(type);
    }
    const auto record = type.kind == NodeKind::global ? m_graph.globals[type.index].record : RecordClass::none;
    const auto local = arguments.size() > 3 ? wrappedTensor(m_graph, record, arguments[3]) : std::nullopt;
    if (!local) {
        return makeOpaque("torch.distributed " + std::string(nameOf(record)) + " without the tensor in it");
    }
    if (record != RecordClass::dtensor) {
        return make(at(*local));
    }
    const auto& tensor = *m_graph.tensors[at(*local).index];
    auto sharding = std::make_shared<Sharding>(readSharding(m_graph, arguments[2], arguments[3], tensor));
    return charge(chargeOf(*sharding)).and_then([&] { return makeTensorNode(tensor.withSharding(sharding)); });
}

} // namespace nanscope::tensorfile
