// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/model/model.h"

namespace nanscope {

/// Which update a capture belongs to, as far as the logs tell.
struct StepLink
{
    std::optional<std::pair<std::int64_t, std::int64_t>> between; ///< after the line of the first, before the second
    StepSource source = StepSource::unknown;
    std::string file; ///< of the console line that names the dump
    std::int64_t line = 0;
    bool closed = false; ///< a later step line of the same rank exists; else the second is only the next number
};

StepLink linkStep(const RunData& run, const Capture& capture);

/// "after the line of step 5, before that of step 6"
std::string stepText(const StepLink& link);
std::string stepText(const std::optional<std::pair<std::int64_t, std::int64_t>>& between);

} // namespace nanscope
