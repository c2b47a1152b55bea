// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/tensorfile/pickle/picklegraph.h"

namespace nanscope::tensorfile {

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
        auto inner = value(item, depth + 1);
        if (!inner) {
            return inner;
        }
        list.push_back(std::move(*inner));
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
        auto key = value(entries[i], depth + 1);
        auto held = value(entries[i + 1], depth + 1);
        if (!key || !held) {
            return key ? held : key;
        }
        const auto place = placeOf(m_graph.nodes[entries[i]]);
        if (place < dict.size()) {
            dict[place].second = std::move(*held); // a later entry of the same key wins, as in Python
        } else {
            dict.push_back({std::move(*key), std::move(*held)});
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
