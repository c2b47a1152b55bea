// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/shards/shards.h"

namespace nanscope {

/// "input: rank 3 at (1, 1) of mesh 2x2 (dp, tp), rows 4 to 6 of 7x5; Shard(0) over dp, Replicate over tp", one line
/// per side that is a shard; nothing for other captures.
std::string shardText(const tensorfile::CaptureFile& file);

/// The same as the keys "shard" and "output_shard"; null for what is no shard.
void addShardJson(nlohmann::ordered_json& answer, const tensorfile::CaptureFile& file);

nlohmann::ordered_json placementsJson(const tensorfile::Sharding& sharding);
nlohmann::ordered_json meshJson(const tensorfile::Sharding& sharding, std::optional<std::int64_t> rank);

} // namespace nanscope
