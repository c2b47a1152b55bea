// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/model/facts.h"

namespace nanscope {

/// Facts as a stored diagnosis holds them, whole: what is read back is judged as the facts themselves.
nlohmann::ordered_json toJson(const Facts& facts);

/// Keys that are missing or of another type keep their default: an older or a damaged session gives less, never an
/// exception.
Facts factsFromJson(const nlohmann::ordered_json& json);

} // namespace nanscope
