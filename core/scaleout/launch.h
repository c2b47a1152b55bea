// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace nanscope::scaleout {

/// How this process was started beside others, by torchrun or by Slurm's srun.
struct Launch
{
    int rank = 0;
    int processes = 1;
    int localRank = 0; ///< among those of this machine
    std::string host; ///< where the store is kept; empty for a process that is alone
    std::uint16_t port = 0;
    bool keepsStore = true; ///< false under an agent of torchrun that keeps it, and for all ranks but 0
    std::string start; ///< the same for all that were started together; another one for each restart

    bool alone() const { return host.empty(); }
    bool operator==(const Launch&) const = default;
};

using Variables = std::function<std::optional<std::string>(const std::string& name)>;

/// From RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT, which torchrun sets; else from SLURM_PROCID and its
/// kin, where the first node of the step keeps the store at a port that follows from the numbers of job and step. A
/// process with neither is alone. Fails where some of them are there and make no sense.
Result<Launch> launchOf(const Variables& variables);

/// The first name of a list as Slurm writes it: "node07" of "node[07-12,20],login1".
std::string firstHost(const std::string& nodes);

} // namespace nanscope::scaleout
