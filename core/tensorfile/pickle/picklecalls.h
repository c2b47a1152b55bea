// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "core/tensorfile/pickle/picklegraph.h"
#include "core/tensorfile/sharding.h"

namespace nanscope::tensorfile {

/// Makes nodes, and carries out the few calls that are allowed, on a graph under construction.
class PickleCalls
{
public:
    PickleCalls(PickleGraph& graph, std::shared_ptr<const Tensor::Source> source)
        : m_graph(graph)
        , m_source(std::move(source))
    { }

    Result<NodeId> make(const Node& node);
    Result<NodeId> makeSequence(NodeKind kind, std::span<const NodeId> items);
    Result<NodeId> makeGlobal(std::string_view module, std::string_view name);
    Result<NodeId> makeOpaque(const std::string& name);

    /// callable(*arguments)
    Result<NodeId> call(NodeId callable, NodeId arguments);

    /// Gives an object its state, where its class is one whose state is kept.
    void build(NodeId object, NodeId state);

    /// The object that a persistent id names; torch uses them for storages.
    Result<NodeId> persistent(NodeId id);

private:
    const Node& at(NodeId id) const { return m_graph.nodes[id]; }
    Result<void> charge(std::size_t objects);
    bool integers(NodeId id, Shape& out) const;
    bool lazyView(NodeId metadata) const;
    Result<NodeId> rebuildTensor(Known how, std::span<const NodeId> arguments);
    Result<NodeId> rebuildFromType(std::span<const NodeId> arguments, int depth);
    Result<NodeId> rebuildWrapper(std::span<const NodeId> arguments);
    Result<NodeId> makeTensorNode(Tensor tensor);
    Result<NodeId> makeRecord(RecordClass type, NodeId arguments);
    Result<NodeId> rebuildDict(std::span<const NodeId> arguments);
    Result<NodeId> callKnown(const PickleGlobal& global, NodeId tuple, int depth);

    PickleGraph& m_graph;
    std::shared_ptr<const Tensor::Source> m_source;
};

// DTensors: dtensor.cpp.

/// The tensor that an object of such a class wraps, found in its state.
std::optional<NodeId> wrappedTensor(const PickleGraph& graph, RecordClass type, NodeId state);

/// What a DTensor says of the whole: `wrapper` are the arguments it is rebuilt with, `state` its own, `local` the part
/// in it. torch 2.6, 2.11 and 2.15 write it in three ways; fields that are not known are passed over.
Sharding readSharding(const PickleGraph& graph, NodeId wrapper, NodeId state, const Tensor& local);

/// Objects of a pickle that would take the same room.
std::size_t chargeOf(const Sharding& sharding);

} // namespace nanscope::tensorfile
