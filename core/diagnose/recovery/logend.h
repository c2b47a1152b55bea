// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnose/recovery/metriclines.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// Which logs are looked at.
using SourceFilter = std::function<bool(std::string_view source)>;

/// How a run ended that did not come to its end.
struct LogEnd
{
    enum class How {
        died, ///< of an exception or a failure of the machine
        stopped, ///< its trainer gave up
        hung, ///< collective operations did not end
        ended, ///< it was ended from outside
        raised, ///< an exception is in a log without metrics: nothing tells whether the run went on
    } how = How::died;
    const Event* event = nullptr;
    std::optional<std::int64_t> step; ///< of the last loss before it, of the same log
};

/// None where the log goes on, where it says that training is complete, or where nothing says how it ended. A run that
/// a later attempt went on with did not end there. `events` are those of eventsOnce().
std::optional<LogEnd> logEndOf(const RunData& run, const std::vector<const Event*>& events, const MetricLines& metrics,
    const SourceFilter& isLookedAt);

/// "died after step 60: RuntimeError: CUDA error (train.log:64)"
std::string textOf(const LogEnd& end, const RunData& run);

} // namespace nanscope::diagnose
