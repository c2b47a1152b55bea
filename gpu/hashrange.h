// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "core/base/result.h"
#include "core/replay/engine/agreement.h"

namespace nanscope {

/// The smallest and the largest of each word over all GPUs: equal where all hashes are.
struct HashRange
{
    replay::ReplayHash least;
    replay::ReplayHash most;
    bool equal() const { return least == most; }
};

/// "2.28.9", empty in a build without NCCL.
std::string ncclVersion();

/// Reduces one hash per GPU, cuda:0 first, over NCCL to all of them. Fails where NCCL does, and where the GPUs are left
/// with different answers.
Result<HashRange> reduceHashes(std::span<const replay::ReplayHash> hashes);

} // namespace nanscope
