// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shardfacts.h"
#include "app/nanscope/stitchedanswer.h"
#include "core/json/records.h"
#include "core/model/words.h"

namespace nanscope {

using Json = nlohmann::ordered_json;

namespace {

template <class T>
Json orNull(const std::optional<T>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json indexJson(const Shape& shape, std::int64_t flat)
{
    return flat < 0 ? Json(nullptr) : Json(indexIn(shape, flat));
}

Json shardsJson(const shards::Stitched& tensor)
{
    auto list = Json::array();
    for (const auto& shard : tensor.shards) {
        list.push_back(
            {{"file", shard.file}, {"rank", orNull(shard.place.rank)}, {"coordinate", orNull(shard.place.coordinate)},
                {"shape", shard.tensor.shape()}, {"nonfinite", shard.scan.nonFinite()}});
    }
    return list;
}

Json missingJson(const shards::Stitched& tensor)
{
    auto list = Json::array();
    for (const auto& missing : tensor.missing) {
        list.push_back({{"rank", orNull(missing.rank)}, {"coordinate", missing.coordinate}, {"held", missing.held},
            {"replicated", missing.replicated}});
    }
    return list;
}

Json driftJson(const shards::Stitched& tensor)
{
    auto list = Json::array();
    for (const auto& drift : tensor.drift) {
        list.push_back({{"a", tensor.shards[drift.a].file}, {"b", tensor.shards[drift.b].file},
            {"rank_a", orNull(tensor.shards[drift.a].place.rank)},
            {"rank_b", orNull(tensor.shards[drift.b].place.rank)}, {"differing", drift.differing},
            {"class_changes", drift.classChanges}, {"nan_bits", drift.nanBits},
            {"first", indexJson(tensor.sharding.shape, drift.first)}});
    }
    return list;
}

Json reducedJson(const shards::ReducedTotals& totals, DType type, const Shape& shape)
{
    auto json = toJson(totals.scan, shape);
    json["dtype"] = shortName(type);
    json["overflowed"] = totals.overflowed;
    json["first_overflow"] = indexJson(shape, totals.firstOverflow);
    return json;
}

Json partialJson(const shards::Stitched& tensor)
{
    if (!tensor.partial) {
        return nullptr;
    }
    const auto& partial = *tensor.partial;
    Json json {{"reduction", partial.operation}, {"parts", partial.parts},
        {"own", reducedJson(partial.own, tensor.dtype, tensor.sharding.shape)}, {"wide", nullptr}};
    if (partial.wide) {
        json["wide"] = reducedJson(*partial.wide, partial.wideType, tensor.sharding.shape);
        json["wide"]["overflowed_before_rounding"] = partial.wideOverflowed;
    }
    return json;
}

Json unusedJson(const shards::Stitched& tensor)
{
    auto list = Json::array();
    for (const auto& unused : tensor.unused) {
        list.push_back({{"file", unused.file}, {"reason", unused.why}});
    }
    return list;
}

} // namespace

Json stitchedJson(const StitchedSide& side)
{
    const auto& tensor = side.tensor;
    const bool computed = tensor.problem.empty() && !tensor.shards.empty();
    const auto rank = tensor.shards.empty() ? std::nullopt : tensor.shards.front().place.rank;
    return {{"side", side.side == shards::ShardSide::input ? "input" : "output"}, {"shape", tensor.sharding.shape},
        {"dtype", shortName(tensor.dtype)}, {"placements", placementsJson(tensor.sharding)},
        {"mesh", meshJson(tensor.sharding, rank)}, {"matched_by", side.matchedBy},
        {"dumped_within_ms", orNull(side.spreadMs)}, {"shards", shardsJson(tensor)},
        {"missing_ranks", tensor.missingRanks}, {"missing", missingJson(tensor)}, {"unused", unusedJson(tensor)},
        {"drift", driftJson(tensor)}, {"unknown_elements", tensor.unknown},
        {"parts_nonfinite", tensor.partsNonFinite()}, {"logical_nonfinite", orNull(tensor.logicalNonFinite())},
        {"parts", toJson(tensor.parts, {})},
        {"logical", computed ? toJson(tensor.logical, tensor.sharding.shape) : Json(nullptr)},
        {"partial", partialJson(tensor)}, {"problem", tensor.problem.empty() ? Json(nullptr) : Json(tensor.problem)}};
}

} // namespace nanscope
