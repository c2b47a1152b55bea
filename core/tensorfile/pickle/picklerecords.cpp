// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/pickle/picklecalls.h"
#include "core/tensorfile/pickle/pickledtensor.h"

namespace nanscope::tensorfile {

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
