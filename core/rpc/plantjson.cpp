// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/plantjson.h"

#include <array>

#include "core/rpc/frameparts.h"

namespace nanscope::rpc {

namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> usage(const char* what)
{
    return failure(ErrorKind::usage, what);
}

bool readTile(const Json& json, replay::Region& tile)
{
    if (!json.is_array() || json.size() != 4) {
        return false;
    }
    return readInteger(json[0], tile.row) && readInteger(json[1], tile.col) && readInteger(json[2], tile.rows)
        && readInteger(json[3], tile.cols);
}

} // namespace

Json plantToJson(const replay::PlantedFault& fault)
{
    const auto& [row, col, rows, cols] = fault.region;
    return {{"op", name(fault.op)}, {"iteration", fault.iteration}, {"tile", {row, col, rows, cols}},
        {"value", replay::valueText(fault)}, {"mirrored", fault.mirrored}};
}

Result<replay::PlantedFault> plantFromJson(const Json& json)
{
    replay::PlantedFault fault;
    const auto& op = member(json, "op");
    const auto known = op.is_string() ? parseOpName(op.get<std::string>()) : std::nullopt;
    if (!known) {
        return usage("the \"op\" of \"plant\" is not known");
    }
    constexpr std::int64_t mostIterations = 100;
    std::int64_t iteration = 0;
    if (!readInteger(member(json, "iteration"), iteration) || iteration > mostIterations) {
        return usage("the \"iteration\" of \"plant\" is not a whole number from 0 to 100");
    }
    if (!readTile(member(json, "tile"), fault.region)) {
        return usage("the \"tile\" of \"plant\" is not [row, col, rows, cols]");
    }
    const auto& value = member(json, "value");
    if (!value.is_null() && !(value.is_string() && replay::parseValue(value.get<std::string>(), fault))) {
        return usage("the \"value\" of \"plant\" is not nan, inf, -inf, zero, stale or stale:NUMBER");
    }
    fault.op = *known;
    fault.iteration = static_cast<int>(iteration);
    fault.mirrored = member(json, "mirrored") == true;
    return fault;
}

} // namespace nanscope::rpc
