// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/job.h"
#include "core/base/result.h"
#include "core/replay/device/device.h"

namespace nanscope::replay {

/// Operations per second of the products of a replay in bf16 on this device: the best of replays of growing matrices,
/// two of each size, until both take a tenth of a second. Of what follows, larger matrices may do better, and a busy
/// machine worse.
Result<double> measuredRate(Device& device, const CancelToken& cancel = {});

/// "about 3 minutes", "under a second".
std::string aboutSeconds(double seconds);

/// "20 GFLOP/s", "4.1 TFLOP".
std::string operationsText(double operations, bool perSecond = false);

} // namespace nanscope::replay
