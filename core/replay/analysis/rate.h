// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/job.h"
#include "core/base/result.h"
#include "core/replay/device/device.h"

namespace nanscope::replay {

struct Rate
{
    double operations = 0; ///< per second
    std::string device; ///< that was measured
};

/// Of the products of a replay in bf16 on this device: the best of replays of growing matrices, two of each size, until
/// both take a tenth of a second. Of what follows, larger matrices may do better, and a busy machine worse. A device
/// that cannot leaves such replays to core's CPU device, which is measured instead.
Result<Rate> measuredRate(Device& device, const CancelToken& cancel = {});

/// "about 3 minutes", "under a second".
std::string aboutSeconds(double seconds);

/// "20 GFLOP/s", "4.1 TFLOP".
std::string operationsText(double operations, bool perSecond = false);

} // namespace nanscope::replay
