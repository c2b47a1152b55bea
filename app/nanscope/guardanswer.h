// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/diagnose/guardwhatif.h"

namespace nanscope {

/// `nanscope whatif guard` for a terminal, and for programs.
std::string guardText(const GuardWhatIf& whatIf);
nlohmann::ordered_json guardJson(const GuardWhatIf& whatIf);

} // namespace nanscope
