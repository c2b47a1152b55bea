// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/model/model.h"

namespace nanscope::report {

/// Where a log names a capture; nullptr where none does.
const Event* namingEvent(const RunData& run, const std::string& capture);

/// "console.log:21  [rank 0] step 5: loss=0.9958 grad_norm=0.0192" for what was read from the log around the
/// line that names the capture, else around its first sign of trouble. Values stand for the lines that gave them.
std::vector<std::string> consoleAround(
    const RunData& run, const std::string& capture, std::size_t before, std::size_t after);

} // namespace nanscope::report
