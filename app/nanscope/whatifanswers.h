// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/diagnose/detectorreplay.h"
#include "core/diagnose/guardwhatif.h"

namespace nanscope {

/// What `nanscope whatif` answers on a terminal.
std::string detectorText(std::span<const DetectorReplay> replays);
std::string guardText(const GuardWhatIf& whatIf);

/// The same for programs: docs/whatif.md.
nlohmann::ordered_json detectorJson(std::span<const DetectorReplay> replays, const NanDetectorOptions& options);
nlohmann::ordered_json guardJson(const GuardWhatIf& whatIf);

} // namespace nanscope
