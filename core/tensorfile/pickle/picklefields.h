// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/tensorfile/pickle/picklegraph.h"

namespace nanscope::tensorfile {

/// The state of an object by the names of its fields. Only the first few hundred are looked at: real objects have a
/// dozen, and one dict may be the state of any number of objects.
class RecordFields
{
public:
    static constexpr std::size_t mostDims = 64;

    /// Nothing is found where `id` is no record.
    RecordFields(const PickleGraph& graph, NodeId id);
    /// `state` is a dict, or a pair of two with those of __slots__ second.
    RecordFields(const PickleGraph& graph, RecordClass type, NodeId state);

    const PickleGraph& graph() const { return *m_graph; }
    RecordClass type() const { return m_type; }
    std::optional<NodeId> find(std::string_view name) const;
    /// What the object was called with.
    std::span<const NodeId> arguments() const { return m_arguments; }

    std::optional<std::int64_t> integer(std::string_view name) const;
    std::optional<std::string_view> text(std::string_view name) const; ///< a view of the pickle
    std::optional<std::span<const NodeId>> items(std::string_view name) const; ///< of a sequence

private:
    const PickleGraph* m_graph;
    RecordClass m_type = RecordClass::none;
    NodeId m_state = PickleGraph::none;
    std::span<const NodeId> m_arguments;
};

std::optional<std::int64_t> readInteger(const PickleGraph& graph, NodeId id);

/// Appends a sequence of at most 64 integers; false where it is none.
bool readIntegers(const PickleGraph& graph, NodeId id, Shape& out);

} // namespace nanscope::tensorfile
