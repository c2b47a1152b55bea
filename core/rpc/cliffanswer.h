// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Cliffs on their way through the pipe (serve.h says how they are written).
#pragma once

#include <nlohmann/json.hpp>

#include "core/replay/analysis/cliff.h"

namespace nanscope::rpc {

/// The request of a line, or what is wrong with it; and the line of a request, without its id.
Result<replay::CliffRequest> cliffFromJson(const nlohmann::ordered_json& request);
nlohmann::ordered_json cliffToJson(const replay::CliffRequest& cliff);

/// An answer without its id, and the way back. Nothing that contradicts itself is believed.
nlohmann::ordered_json packCliff(const replay::ReplayedCliff& cliff);
Result<replay::ReplayedCliff> unpackCliff(const nlohmann::ordered_json& answer);

} // namespace nanscope::rpc
