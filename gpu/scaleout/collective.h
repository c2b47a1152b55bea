// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/base/job.h"
#include "core/scaleout/launch.h"
#include "core/scaleout/reach.h"
#include "gpu/patientthread.h"

namespace nanscope {

/// A sum over the ranks of a launch: by NCCL on the GPU of each; where the device is a CPU, of one number in the store.
class RankSum
{
public:
    /// `device` is "cuda:1" or "cpu"; `bytes` is the size of the tensor of int64 that NCCL reduces.
    RankSum(scaleout::Launch launch, std::string device, std::int64_t bytes, std::chrono::milliseconds patience,
        const CancelToken& cancel);

    std::string library() const; ///< "NCCL 2.28.9", "the store"

    /// NCCL reduces twice, of which the second is timed: the first sets up the connections. Fails where that takes
    /// longer than the patience; what hangs then goes on hanging, on a thread of its own.
    Result<scaleout::Exchanged> operator()();

    bool hangs() const { return m_hangs; } ///< so that only _Exit() ends this process

private:
    scaleout::Launch m_launch;
    std::string m_device;
    std::int64_t m_bytes;
    std::chrono::milliseconds m_patience;
    std::unique_ptr<PatientThread> m_thread;
    bool m_hangs = false;
};

} // namespace nanscope
