// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/probe/nandetector.h"

namespace nanscope::probe {

/// What a line of the detector says. `step` is counted before the trainer's increment: a trainer that prints its
/// metrics after it would have printed the step behind.
struct NanMessage
{
    std::int64_t step = 0;
    bool otherRank = false; ///< this rank's own loss was finite; such a line names no last good loss
    std::int64_t consecutive = 0;
    std::int64_t total = 0;
    std::optional<double> lastGoodLoss;
    std::optional<std::int64_t> lastGoodStep;
};

/// The line, without the prefix that a logger puts before it; for `raise` the text of the error.
std::string textOf(const NanMessage& message, NanAction action);

std::string gradientText(std::string_view parameter, std::int64_t step);

/// Finds the detector's words anywhere in a line, whatever its action was. The loss comes as it was printed: four
/// digits behind the point.
std::optional<NanMessage> parseNanMessage(std::string_view line);

} // namespace nanscope::probe
