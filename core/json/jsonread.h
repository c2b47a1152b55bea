// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Values out of the JSON that this room wrote. What is missing, or of another type, leaves what was there: an older or
// a damaged file gives less, never an exception.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace nanscope::jsonread {

using Json = nlohmann::ordered_json;

inline const Json& at(const Json& json, std::string_view key)
{
    static const Json none;
    if (!json.is_object()) {
        return none;
    }
    const auto found = json.find(std::string(key));
    return found == json.end() ? none : *found;
}

inline std::optional<double> number(const Json& json)
{
    if (json.is_number()) {
        return json.get<double>();
    }
    if (json == "nan") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (json == "inf") {
        return std::numeric_limits<double>::infinity();
    }
    if (json == "-inf") {
        return -std::numeric_limits<double>::infinity();
    }
    return std::nullopt;
}

inline void read(const Json& json, double& out)
{
    out = number(json).value_or(out);
}

inline void read(const Json& json, std::string& out)
{
    if (json.is_string()) {
        out = json.get<std::string>();
    }
}

inline void read(const Json& json, bool& out)
{
    if (json.is_boolean()) {
        out = json.get<bool>();
    }
}

template <class Int>
requires std::is_integral_v<Int>
void read(const Json& json, Int& out)
{
    if (json.is_number_integer()) {
        out = json.get<Int>();
    }
}

/// Values of an enum are few and dense, so the names are searched rather than tabled a second time. `last` is the one
/// with the greatest value.
template <class Enum>
void readName(const Json& json, Enum& out, Enum last)
{
    for (int i = 0; i <= static_cast<int>(last); ++i) {
        if (json == std::string(name(static_cast<Enum>(i)))) {
            out = static_cast<Enum>(i);
        }
    }
}

inline void readRange(const Json& json, std::int64_t& begin, std::int64_t& end)
{
    if (json.is_array() && json.size() == 2) {
        read(json[0], begin);
        read(json[1], end);
    }
}

} // namespace nanscope::jsonread
