// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/diagnose/detectorreplay.h"

namespace nanscope {

/// `nanscope whatif detector` for a terminal, and for programs.
std::string detectorText(std::span<const DetectorReplay> replays);
nlohmann::ordered_json detectorJson(std::span<const DetectorReplay> replays, const NanDetectorOptions& options);

} // namespace nanscope
