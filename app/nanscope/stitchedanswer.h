// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/shards/shards.h"

namespace nanscope {

/// One logical tensor, and which side of which call it is.
struct StitchedSide
{
    shards::ShardSide side = shards::ShardSide::input;
    std::string matchedBy;
    std::optional<std::int64_t> spreadMs; ///< between the first and the last dump, by the times in their names
    shards::Stitched tensor;
};

std::string stitchedText(const StitchedSide& side);
nlohmann::ordered_json stitchedJson(const StitchedSide& side);

} // namespace nanscope
