// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/cliffanswer.h"

#include <cmath>

#include <fmt/format.h>

#include "core/base/json.h"
#include "core/json/records.h"
#include "core/rpc/frameparts.h"
#include "core/rpc/serverequest.h"

namespace nanscope::rpc {

namespace {

using Json = nlohmann::ordered_json;

Result<std::optional<double>> factor(const Json& request, const char* key)
{
    const auto& json = member(request, key);
    if (json.is_null()) {
        return std::nullopt;
    }
    if (!json.is_number() || !(json.get<double>() > 0) || !std::isfinite(json.get<double>())) {
        return failure(ErrorKind::usage, fmt::format("\"{}\" is not a positive number", key));
    }
    return json.get<double>();
}

Json numbers(const std::vector<double>& values)
{
    auto array = Json::array();
    for (const double value : values) {
        array.push_back(jsonNumber(value));
    }
    return array;
}

bool readNumbers(const Json& json, std::vector<double>& out)
{
    if (!json.is_array()) {
        return false;
    }
    for (const auto& item : json) {
        const auto number = readNumber(item);
        if (!number) {
            return false;
        }
        out.push_back(*number);
    }
    return true;
}

bool readReplay(const Json& json, std::size_t steps, replay::CliffReplay& replay)
{
    auto cell = cellFromJson(member(json, "cell"));
    const auto& rounding = member(json, "rounding");
    if (!cell || !rounding.is_string() || !readNumbers(member(json, "sigma"), replay.sigma)) {
        return false;
    }
    replay.cell = std::move(*cell);
    replay.rounding = rounding.get<std::string>();
    return replay.sigma.size() == steps;
}

} // namespace

Result<replay::CliffRequest> cliffFromJson(const Json& request)
{
    const auto film = filmFromJson(request);
    const auto scale = factor(request, "scale");
    const auto safety = factor(request, "safety");
    if (!film || !scale || !safety) {
        return tl::make_unexpected(!film ? film.error() : !scale ? scale.error() : safety.error());
    }
    replay::CliffRequest cliff {film->capture, film->cell, film->batch, scale->value_or(1), *safety, 1};
    const auto& roundings = member(request, "roundings");
    if (roundings.is_number_integer()) {
        cliff.roundings = static_cast<int>(std::clamp<std::int64_t>(roundings.get<std::int64_t>(), -1, 1000));
    } else if (!roundings.is_null()) {
        return failure(ErrorKind::usage, "\"roundings\" is not a whole number");
    }
    return cliff;
}

Json cliffToJson(const replay::CliffRequest& cliff)
{
    auto json = filmToJson({cliff.capture, cliff.cell, cliff.batch, {}});
    json.erase("against");
    json["do"] = "cliff";
    json["scale"] = cliff.scale;
    json["safety"] = cliff.safety ? Json(*cliff.safety) : Json(nullptr);
    json["roundings"] = cliff.roundings;
    return json;
}

Json packCliff(const replay::ReplayedCliff& cliff)
{
    auto replays = Json::array();
    for (const auto& each : cliff.replays) {
        replays.push_back({{"rounding", each.rounding}, {"sigma", numbers(each.sigma)}, {"cell", toJson(each.cell)}});
    }
    return {{"cliff",
        {{"batch", cliff.batch}, {"batches", cliff.batches}, {"scale", cliff.scale}, {"safety", cliff.safety},
            {"limits", numbers(cliff.limits)}, {"replays", std::move(replays)}}}};
}

Result<replay::ReplayedCliff> unpackCliff(const Json& answer)
{
    const auto& json = member(answer, "cliff");
    replay::ReplayedCliff cliff;
    const auto scale = readNumber(member(json, "scale"));
    const auto safety = readNumber(member(json, "safety"));
    const auto& replays = member(json, "replays");
    if (!scale || !safety || !readInteger(member(json, "batch"), cliff.batch)
        || !readInteger(member(json, "batches"), cliff.batches) || !readNumbers(member(json, "limits"), cliff.limits)
        || !replays.is_array() || replays.empty()) {
        return damagedAnswer();
    }
    cliff.scale = *scale;
    cliff.safety = *safety;
    for (const auto& each : replays) {
        if (!readReplay(each, cliff.limits.size(), cliff.replays.emplace_back())) {
            return damagedAnswer();
        }
    }
    return cliff;
}

} // namespace nanscope::rpc
