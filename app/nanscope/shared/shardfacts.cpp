// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/shardfacts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/jsonanswer.h"
#include "core/base/utf8.h"
#include "core/json/jsonfields.h"
#include "core/shards/shardlayout.h"

namespace nanscope {

using jsonfields::Writer;
using Json = nlohmann::ordered_json;

namespace {

/// What a shard says, and what that means.
struct ShardFacts
{
    const tensorfile::Sharding* sharding = nullptr;
    std::optional<std::int64_t> captureRank;
    tensorfile::ShardPlace place;
    std::string held;
};

ShardFacts factsOf(const tensorfile::CaptureFile& file, const tensorfile::Tensor& tensor)
{
    ShardFacts facts;
    facts.sharding = tensor.sharding();
    facts.captureRank = file.capture.rank ? std::optional<std::int64_t>(*file.capture.rank) : std::nullopt;
    const auto& mesh = facts.sharding->mesh;
    const auto ranks = tensorfile::meshRanks(mesh, facts.captureRank);
    facts.place = tensorfile::shardPlace(mesh, ranks, facts.captureRank);
    if (!facts.sharding->problem.empty() || !facts.place.coordinate) {
        return facts;
    }
    if (auto problem = ranks ? tensorfile::rankOrderProblem(*facts.sharding, *ranks) : std::string();
        !problem.empty()) {
        facts.place.note = std::move(problem);
    } else {
        const auto held = shards::heldAt(*facts.sharding, *facts.place.coordinate);
        facts.held = held ? shards::heldText(*held, facts.sharding->shape) : std::string();
    }
    return facts;
}

std::string placeText(const ShardFacts& facts)
{
    const auto& place = facts.place;
    if (!place.coordinate) {
        return "place in the mesh not known (" + place.note + ")";
    }
    auto text = fmt::format("{} at {} of mesh {}", place.rank ? fmt::format("rank {}", *place.rank) : "unknown rank",
        shards::coordinateText(*place.coordinate), shards::meshText(facts.sharding->mesh));
    if (place.how == tensorfile::ShardPlace::How::fromRank) {
        text += ", by the rank in the dump";
    } else if (facts.captureRank && place.rank && *facts.captureRank != *place.rank) {
        text += fmt::format(" (rank {} in the dump)", *facts.captureRank);
    }
    return place.note.empty() ? text : text + " (" + place.note + ")";
}

std::string lineOf(const ShardFacts& facts)
{
    const auto& sharding = *facts.sharding;
    if (!sharding.problem.empty()) {
        return fmt::format("a part of a DTensor {}, of which {}", shapeText(sharding.shape), sharding.problem);
    }
    return fmt::format("{}, {} of {}; {}", placeText(facts), facts.held.empty() ? "a part" : facts.held,
        shapeText(sharding.shape), tensorfile::placementsText(sharding));
}

std::string_view kindName(tensorfile::Placement::Kind kind)
{
    switch (kind) {
    case tensorfile::Placement::Kind::shard:
        return "shard";
    case tensorfile::Placement::Kind::stridedShard:
        return "strided_shard";
    case tensorfile::Placement::Kind::partial:
        return "partial";
    case tensorfile::Placement::Kind::replicate:
        break;
    }
    return "replicate";
}

std::string_view howName(tensorfile::ShardPlace::How how)
{
    switch (how) {
    case tensorfile::ShardPlace::How::recorded:
        return "mesh";
    case tensorfile::ShardPlace::How::fromRank:
        return "rank";
    case tensorfile::ShardPlace::How::unknown:
        break;
    }
    return "unknown";
}

Json shardJson(const tensorfile::CaptureFile& file, const tensorfile::Tensor* tensor)
{
    if (tensor == nullptr) {
        return nullptr;
    }
    const auto facts = factsOf(file, *tensor);
    const auto& sharding = *facts.sharding;
    return {{"global_shape", sharding.shape}, {"global_strides", sharding.strides}, {"local_shape", tensor->shape()},
        {"placements", placementsJson(sharding)}, {"mesh", meshJson(sharding, facts.captureRank)},
        {"rank", Writer::written(facts.place.rank)}, {"coordinate", Writer::written(facts.place.coordinate)},
        {"coordinate_from", howName(facts.place.how)}, {"held", orNull(facts.held)}, {"note", orNull(facts.place.note)},
        {"problem", orNull(sharding.problem)}};
}

} // namespace

std::string shardText(const tensorfile::CaptureFile& file)
{
    std::string text;
    const auto* input = shards::shardOf(file, shards::ShardSide::input);
    const auto* output = shards::shardOf(file, shards::ShardSide::output);
    if (input != nullptr) {
        text = "shard: " + printable(lineOf(factsOf(file, *input))) + '\n';
    }
    if (output != nullptr) {
        const auto line = "shard: " + printable(lineOf(factsOf(file, *output))) + '\n';
        text = line == text || input == nullptr ? line : text + "output's " + line;
    }
    return text.empty() ? text : text + '\n';
}

void addShardJson(Json& answer, const tensorfile::CaptureFile& file)
{
    answer["shard"] = shardJson(file, shards::shardOf(file, shards::ShardSide::input));
    answer["output_shard"] = shardJson(file, shards::shardOf(file, shards::ShardSide::output));
}

Json placementsJson(const tensorfile::Sharding& sharding)
{
    return jsonArray(sharding.placements, [](const tensorfile::Placement& placement) -> Json {
        return {{"kind", kindName(placement.kind)}, {"dim", placement.shards() ? Json(placement.dim) : Json(nullptr)},
            {"split_factor",
                placement.kind == tensorfile::Placement::Kind::stridedShard ? Json(placement.splitFactor)
                                                                            : Json(nullptr)},
            {"reduction", orNull(placement.reduction)}, {"text", tensorfile::placementText(placement)}};
    });
}

Json meshJson(const tensorfile::Sharding& sharding, std::optional<std::int64_t> rank)
{
    constexpr std::size_t mostListed = 4096;
    auto names = jsonArray(sharding.mesh.dims, [](const tensorfile::MeshDim& dim) { return orNull(dim.name); });
    const auto ranks = tensorfile::meshRanks(sharding.mesh, rank);
    return {{"shape", sharding.mesh.shape()}, {"names", std::move(names)},
        {"ranks", ranks && ranks->size() <= mostListed ? Json(*ranks) : Json(nullptr)}};
}

} // namespace nanscope
