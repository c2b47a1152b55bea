// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "core/tensorfile/pickle/picklegraph.h"
#include "core/tensorfile/sharding.h"

namespace nanscope::tensorfile {

/// The tensor that an object of such a class wraps, found in its state.
std::optional<NodeId> wrappedTensor(const PickleGraph& graph, RecordClass type, NodeId state);

/// What a DTensor says of the whole: `wrapper` are the arguments it is rebuilt with, `state` its own, `local` the part
/// in it. torch 2.6, 2.11 and 2.15 write it in three ways; fields that are not known are passed over.
Sharding readSharding(const PickleGraph& graph, NodeId wrapper, NodeId state, const Tensor& local);

/// Objects of a pickle that would take the same room.
std::size_t chargeOf(const Sharding& sharding);

} // namespace nanscope::tensorfile
