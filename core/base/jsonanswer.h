// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace nanscope {

/// What `make` gives for each value of a range.
template <class Range, class Make>
nlohmann::ordered_json jsonArray(const Range& range, Make make)
{
    auto array = nlohmann::ordered_json::array();
    for (const auto& value : range) {
        array.push_back(make(value));
    }
    return array;
}

/// A JSON object whose long arrays are made one element at a time, while it is written: an answer about 100,000
/// captures never exists as a whole. What its arrays are made from must live as long as the answer.
class JsonAnswer
{
public:
    using Json = nlohmann::ordered_json;
    using Sink = std::function<void(std::string_view)>;
    /// Changes a value before it is written; `place` is where that stands in the answer: "captures.3".
    using Change = std::function<void(Json& value, const std::string& place)>;

    void add(std::string key, Json value) { m_fields.push_back({std::move(key), std::move(value)}); }
    void add(std::string key, JsonAnswer object)
    {
        m_fields.push_back({std::move(key), std::make_shared<const JsonAnswer>(std::move(object))});
    }
    template <class Range, class Make>
    void addEach(std::string key, const Range& range, Make make)
    {
        m_fields.push_back(
            {std::move(key), Elements {range.size(), [&range, make](std::size_t i) { return Json(make(range[i])); }}});
    }

    template <class Range, class Make>
    void addEach(std::string key, const Range&& range, Make make) = delete;

    /// As jsonText() gives it with an indent of two, or on one line.
    void write(const Sink& sink, bool indented, const Change& change = {}) const;
    std::string text(bool indented = false) const;
    /// All of it in memory, for what is small.
    Json whole() const;

private:
    struct Elements
    {
        std::size_t count = 0;
        std::function<Json(std::size_t)> at;
    };
    struct Field
    {
        std::string key;
        std::variant<Json, Elements, std::shared_ptr<const JsonAnswer>> value;
    };
    class Writer;

    std::vector<Field> m_fields;
};

} // namespace nanscope
