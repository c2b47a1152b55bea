// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/base/json.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/utf8.h"

namespace nanscope {

using Json = nlohmann::ordered_json;

Json jsonNumber(double value)
{
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return value > 0 ? "inf" : "-inf";
    }
    return value;
}

Json numberOrNull(const std::optional<double>& value)
{
    return value ? jsonNumber(*value) : Json(nullptr);
}

Json orNull(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

std::string jsonText(const Json& json, int indent)
{
    return printableJson(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

nlohmann::ordered_json parseBounded(std::string_view text, int deepest, std::size_t most)
{
    bool beyond = false;
    std::size_t count = 0;
    const auto keep = [&](int depth, Json::parse_event_t event, Json&) {
        const bool begins = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start
            || event == Json::parse_event_t::value;
        count += begins ? 1 : 0;
        beyond = beyond || depth > deepest || count > most;
        return !beyond;
    };
    auto json = Json::parse(text, keep, false);
    return beyond ? Json(Json::value_t::discarded) : json;
}

} // namespace nanscope
