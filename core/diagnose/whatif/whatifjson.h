// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What-ifs for programs: docs/whatif.md has the fields.
#pragma once

#include <span>

#include <nlohmann/json_fwd.hpp>

#include "core/diagnose/whatif/detectorreplay.h"
#include "core/diagnose/whatif/guardwhatif.h"

namespace nanscope::diagnose {

nlohmann::ordered_json detectorJson(std::span<const DetectorReplay> replays, const DetectorQuestion& question);
nlohmann::ordered_json guardJson(const GuardWhatIf& whatIf);

} // namespace nanscope::diagnose
