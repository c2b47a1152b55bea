// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/pickle/picklefields.h"

#include <algorithm>

namespace nanscope::tensorfile {

namespace {

std::optional<NodeId> findIn(const PickleGraph& graph, NodeId dict, std::string_view name)
{
    constexpr std::size_t mostFields = 256;
    if (graph.nodes[dict].kind != NodeKind::dict) {
        return std::nullopt;
    }
    const auto entries = graph.items(graph.nodes[dict]);
    std::optional<NodeId> found;
    for (std::size_t i = 0; i + 1 < std::min(entries.size(), 2 * mostFields); i += 2) {
        const auto& key = graph.nodes[entries[i]];
        if (key.kind == NodeKind::text && graph.text(key) == name) {
            found = entries[i + 1]; // a later entry of the same key wins, as in Python
        }
    }
    return found;
}

} // namespace

std::optional<std::int64_t> readInteger(const PickleGraph& graph, NodeId id)
{
    const auto& node = graph.nodes[id];
    return node.kind == NodeKind::integer ? std::optional(node.integer) : std::nullopt;
}

bool readIntegers(const PickleGraph& graph, NodeId id, Shape& out)
{
    const auto items = graph.items(graph.nodes[id]);
    if (graph.nodes[id].kind != NodeKind::sequence || items.size() > RecordFields::mostDims) {
        return false;
    }
    return std::all_of(items.begin(), items.end(), [&](NodeId item) {
        const auto value = readInteger(graph, item);
        out.push_back(value.value_or(0));
        return value.has_value();
    });
}

RecordFields::RecordFields(const PickleGraph& graph, NodeId id)
    : m_graph(&graph)
{
    const auto& node = graph.nodes[id];
    if (node.kind == NodeKind::record) {
        const auto& record = graph.records[node.index];
        m_type = record.type;
        m_state = record.state;
        m_arguments = graph.items(graph.nodes[record.arguments]);
    }
}

RecordFields::RecordFields(const PickleGraph& graph, RecordClass type, NodeId state)
    : m_graph(&graph)
    , m_type(type)
    , m_state(state)
{ }

std::optional<NodeId> RecordFields::find(std::string_view name) const
{
    if (m_state == PickleGraph::none) {
        return std::nullopt;
    }
    const auto& node = m_graph->nodes[m_state];
    if (node.kind != NodeKind::sequence) {
        return findIn(*m_graph, m_state, name);
    }
    const auto pair = m_graph->items(node);
    if (pair.size() != 2) {
        return std::nullopt;
    }
    const auto slot = findIn(*m_graph, pair[1], name);
    return slot ? slot : findIn(*m_graph, pair[0], name);
}

std::optional<std::int64_t> RecordFields::integer(std::string_view name) const
{
    const auto found = find(name);
    return found ? readInteger(*m_graph, *found) : std::nullopt;
}

std::optional<std::string_view> RecordFields::text(std::string_view name) const
{
    const auto found = find(name);
    const bool isText = found && m_graph->nodes[*found].kind == NodeKind::text;
    return isText ? std::optional(m_graph->text(m_graph->nodes[*found])) : std::nullopt;
}

std::optional<std::span<const NodeId>> RecordFields::items(std::string_view name) const
{
    const auto found = find(name);
    const bool isSequence = found && m_graph->nodes[*found].kind == NodeKind::sequence;
    return isSequence ? std::optional(m_graph->items(m_graph->nodes[*found])) : std::nullopt;
}

} // namespace nanscope::tensorfile
