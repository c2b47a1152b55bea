// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/nanscope/shared/terminal.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope {

/// The captures a sweep replays: those named, "all", or those worth it.
Result<std::vector<const Capture*>> chosenCaptures(
    const RunData& run, const std::vector<std::string>& names, Terminal& terminal);

/// The variants that may have made this capture, else all.
Result<std::vector<std::string>> plausibleVariants(
    const Capture& capture, const replay::Catalogue& catalogue, const CancelToken& cancel);

} // namespace nanscope
