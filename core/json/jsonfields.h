// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// JSON both ways from one list of fields for each type, so that the writer and the reader cannot disagree. A type has a
//
//     template <class Visit> void fields(Visit& visit, jsonfields::Of<Type> auto& value)
//
// in its own namespace, which calls the visitor for each key in the order in which they are written; an enum has a
// lastOf. Keys that are missing, or of another type, keep what was there: an older or a damaged session gives less,
// never an exception.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/model/cell.h"
#include "core/model/model.h"

/// Values of JSON that this room wrote. What is missing, or of another type, leaves what was there.
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

/// Empty or 0 where it is missing, or of another type.
template <class T>
T valueIn(const Json& json, const char* key)
{
    T value {};
    read(at(json, key), value);
    return value;
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

namespace nanscope::jsonfields {

using jsonread::Json;
using Range = std::pair<std::int64_t, std::int64_t>; ///< [begin, end]

/// T is const where it is written.
template <class T, class Type>
concept Of = std::same_as<std::remove_const_t<T>, Type>;

/// The value of an enum that is the greatest; its others are counted from 0.
template <class Enum>
constexpr std::optional<Enum> lastOf {};
template <>
inline constexpr std::optional lastOf<OpName> = OpName::rescale;

class Writer
{
public:
    template <class T>
    void operator()(const char* key, const T& value)
    {
        m_json[key] = written(value);
    }

    /// Null where it is empty.
    void text(const char* key, const std::string& text) { m_json[key] = orNull(text); }

    /// An object of its own, or null; `fill` is called with the visitor for it.
    template <class Fill>
    void group(const char* key, bool present, Fill fill)
    {
        m_json[key] = present ? object(fill) : Json(nullptr);
    }

    /// Objects with other fields than those of their type.
    template <class T, class Fill>
    void each(const char* key, const std::vector<T>& values, Fill fill)
    {
        auto array = Json::array();
        for (const auto& value : values) {
            array.push_back(object([&](Writer& inner) { fill(inner, value); }));
        }
        m_json[key] = std::move(array);
    }

    /// Written and not read back; what `make` gives follows from other keys.
    template <class Make>
    void shown(const char* key, Make make)
    {
        m_json[key] = make();
    }

    template <class Fill>
    static Json object(Fill fill)
    {
        Writer writer;
        fill(writer);
        return std::move(writer.m_json);
    }

    template <class T>
    static Json written(const T& value)
    {
        if constexpr (std::is_enum_v<T>) {
            return name(value);
        } else if constexpr (std::same_as<T, double>) {
            return jsonNumber(value);
        } else if constexpr (std::integral<T> || std::same_as<T, std::string>) {
            return value;
        } else if constexpr (std::same_as<T, Range>) {
            return Json::array({value.first, value.second});
        } else {
            return object([&](Writer& writer) { fields(writer, value); });
        }
    }

    template <class T>
    static Json written(const std::optional<T>& value)
    {
        return value ? written(*value) : Json(nullptr);
    }

    template <class T>
    static Json written(const std::vector<T>& values)
    {
        auto array = Json::array();
        for (const auto& value : values) {
            array.push_back(written(value));
        }
        return array;
    }

private:
    Json m_json = Json::object();
};

class Reader
{
public:
    explicit Reader(const Json& json)
        : m_json(json)
    { }

    template <class T>
    void operator()(const char* key, T& value)
    {
        read(jsonread::at(m_json, key), value);
    }

    void text(const char* key, std::string& text) { read(jsonread::at(m_json, key), text); }

    template <class Fill>
    void group(const char* key, bool /*present*/, Fill fill)
    {
        if (const auto& json = jsonread::at(m_json, key); json.is_object()) {
            Reader inner(json);
            fill(inner);
        }
    }

    template <class T, class Fill>
    void each(const char* key, std::vector<T>& values, Fill fill)
    {
        values.clear();
        const auto& json = jsonread::at(m_json, key);
        for (const auto& item : json.is_array() ? json : Json::array()) {
            Reader inner(item);
            fill(inner, values.emplace_back());
        }
    }

    template <class Make>
    void shown(const char* /*key*/, Make /*make*/)
    { }

    template <class T>
    static void read(const Json& json, T& value)
    {
        if constexpr (std::is_enum_v<T>) {
            static_assert(lastOf<T>, "its greatest value is not known");
            jsonread::readName(json, value, *lastOf<T>);
        } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
            jsonread::read(json, value);
        } else if constexpr (std::same_as<T, Range>) {
            jsonread::readRange(json, value.first, value.second);
        } else if (json.is_object()) {
            Reader reader(json);
            fields(reader, value);
        }
    }

    template <class T>
    static void read(const Json& json, std::optional<T>& value)
    {
        T given {};
        read(json, given);
        value = isOf<T>(json) ? std::optional(std::move(given)) : std::nullopt;
    }

    template <class T>
    static void read(const Json& json, std::vector<T>& values)
    {
        values.clear();
        for (const auto& item : json.is_array() ? json : Json::array()) {
            read(item, values.emplace_back());
        }
    }

private:
    template <class T>
    static bool isOf(const Json& json)
    {
        if constexpr (std::same_as<T, double>) {
            return jsonread::number(json).has_value();
        } else if constexpr (std::integral<T>) {
            return json.is_number_integer();
        } else if constexpr (std::same_as<T, std::string> || std::is_enum_v<T>) {
            return json.is_string();
        } else if constexpr (std::same_as<T, Range>) {
            return json.is_array() && json.size() == 2;
        } else {
            return json.is_object();
        }
    }

    const Json& m_json;
};

} // namespace nanscope::jsonfields
