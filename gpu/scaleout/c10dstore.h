// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "core/base/job.h"
#include "core/scaleout/keyvaluestore.h"
#include "core/scaleout/launch.h"

namespace nanscope {

/// How long a store is waited for.
struct StorePatience
{
    std::chrono::milliseconds untilThere = std::chrono::minutes(5); ///< for the one that keeps it
    std::chrono::milliseconds untilAnswer = std::chrono::seconds(60); ///< for each request
};

/// The c10d store that the processes of a launch meet by: a TCPStore, kept by rank 0 or by torchrun's agent. A process
/// that is alone keeps one in its own memory. A store that does not answer in time is not asked again. Once cancelled,
/// nothing is waited for longer than a moment.
Result<std::unique_ptr<scaleout::KeyValueStore>> connectStore(
    const scaleout::Launch& launch, const StorePatience& patience = {}, const CancelToken& cancel = {});

} // namespace nanscope
