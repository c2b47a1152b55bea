// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/job.h"
#include "core/replay/device/share.h"

namespace nanscope::replay {

/// Tells a job how far a decomposition is, for Device::follow(): phase "decomposing", in percent, once it has taken a
/// second. `name` is that of the job, `what` is decomposed.
ShareDone decomposing(const JobContext& job, std::string name, std::string what);

} // namespace nanscope::replay
