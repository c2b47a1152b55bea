// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

/// The GPUs' own agreement, and what NCCL made of it.
struct GpuAgreement
{
    replay::Agreement agreement;
    std::optional<HashRange> range; ///< over NCCL; none where that was not possible, which a note says
    std::vector<std::string> notes; ///< one sentence each
    bool hangs = false; ///< a thread of this process waits in NCCL for ever, so that only _Exit() ends it
};

using HashReducer = std::function<Result<HashRange>(std::span<const replay::ReplayHash> hashes)>;

/// Adds what NCCL makes of the hashes, or in a note why it makes nothing of them. Where it does not answer in time, the
/// agreement stands without it.
void addReduction(GpuAgreement& result, const HashReducer& reduce, std::chrono::milliseconds patience);

/// One replay, repeated, on every GPU of this machine. Fails with ErrorKind::unsupported where there is none. A
/// reduction that contradicts the hashes as the host sees them is a failure of the communication, and said to be one.
Result<GpuAgreement> agreeOnGpus(const replay::AgreementRequest& request, const CancelToken& cancel = {});

} // namespace nanscope
