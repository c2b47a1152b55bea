// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A planted fault as the replay service (serve.h) and `nanscope spread --json` write it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/replay/engine/plant.h"

namespace nanscope::rpc {

/// {"op":"q","iteration":3,"tile":[ROW,COL,ROWS,COLS],"value":"nan","mirrored":false}
nlohmann::ordered_json plantToJson(const replay::PlantedFault& fault);

/// The way back, or what is wrong with it. A "value" left out is a NaN.
Result<replay::PlantedFault> plantFromJson(const nlohmann::ordered_json& json);

} // namespace nanscope::rpc
