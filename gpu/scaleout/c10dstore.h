// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "core/scaleout/keyvaluestore.h"
#include "core/scaleout/launch.h"

namespace nanscope {

/// The c10d store that the processes of a launch meet by: a TCPStore, kept by rank 0 or by torchrun's agent. A process
/// that is alone keeps one in its own memory. Waits so long for the one that keeps it.
Result<std::unique_ptr<scaleout::KeyValueStore>> connectStore(
    const scaleout::Launch& launch, std::chrono::seconds patience = std::chrono::minutes(5));

} // namespace nanscope
