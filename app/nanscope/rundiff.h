// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/diagnose/compareruns.h"

namespace nanscope {

/// Two runs side by side, as text for a terminal and as nanscope.rundiff/1.
std::string runDiffText(const diagnose::RunComparison& comparison);
nlohmann::ordered_json runDiffJson(const diagnose::RunComparison& comparison);

} // namespace nanscope
