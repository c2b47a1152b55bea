// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <simdjson.h>

#include "core/ingest/settings/settingsink.h"
#include "core/ingest/text/pythonjson.h"

namespace nanscope::ingest {

namespace {

using simdjson::ondemand::json_type;
using Value = simdjson::ondemand::value;

constexpr int deepestJson = 100;

class JsonSettings
{
public:
    JsonSettings(const simdjson::padded_string& text, SettingSink& sink)
        : m_counted(text.data())
        , m_sink(sink)
    { }

    bool readTable(simdjson::ondemand::object object, std::string_view key, int depth)
    {
        m_sink.open(key, false, m_line);
        for (auto field : object) {
            std::string_view name;
            Value value;
            if (field.unescaped_key().get(name) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS
                || !read(std::string(name), value, depth)) {
                return false;
            }
        }
        m_sink.close();
        return true;
    }

    std::int64_t line() const { return m_line; }

private:
    bool read(const std::string& key, Value value, int depth)
    {
        json_type type {};
        if (depth > deepestJson || value.type().get(type) != simdjson::SUCCESS) {
            return false;
        }
        countTo(value);
        if (type == json_type::object) {
            simdjson::ondemand::object object;
            return value.get_object().get(object) == simdjson::SUCCESS && readTable(object, key, depth + 1);
        }
        if (type == json_type::array) {
            simdjson::ondemand::array array;
            return value.get_array().get(array) == simdjson::SUCCESS && readList(array, key, depth + 1);
        }
        return readScalar(key, value, type);
    }

    bool readList(simdjson::ondemand::array array, const std::string& key, int depth)
    {
        m_sink.open(key, true, m_line);
        for (auto element : array) {
            Value value;
            if (element.get(value) != simdjson::SUCCESS || !read({}, value, depth)) {
                return false;
            }
        }
        m_sink.close();
        return true;
    }

    bool readScalar(const std::string& key, Value value, json_type type)
    {
        std::string_view text;
        if (type == json_type::string) {
            if (value.get_string().get(text) != simdjson::SUCCESS) {
                return false;
            }
            m_sink.value(key, text, m_line);
            return true;
        }
        // Numbers are strings by now: this is true, false or null.
        bool flag = false;
        bool null = false;
        if (type == json_type::boolean && value.get_bool().get(flag) == simdjson::SUCCESS) {
            m_sink.value(key, flag ? "true" : "false", m_line);
            return true;
        }
        if (type == json_type::null && value.is_null().get(null) == simdjson::SUCCESS && null) {
            m_sink.value(key, "null", m_line);
            return true;
        }
        return false;
    }

    void countTo(Value& value)
    {
        const char* place = nullptr;
        if (value.current_location().get(place) == simdjson::SUCCESS && place > m_counted) {
            m_line += std::count(m_counted, place, '\n');
            m_counted = place;
        }
    }

    const char* m_counted;
    std::int64_t m_line = 1;
    SettingSink& m_sink;
};

} // namespace

Result<void> readJsonSettings(std::string_view text, SettingSink& sink)
{
    const simdjson::padded_string padded(strictJson(text));
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    JsonSettings reader(padded, sink);
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS) {
        return failure(ErrorKind::format, "not valid JSON", {});
    }
    json_type type {};
    if (document.type().get(type) == simdjson::SUCCESS && type != json_type::object) {
        return {};
    }
    if (document.get_object().get(object) != simdjson::SUCCESS || !reader.readTable(object, {}, 0)) {
        return failure(ErrorKind::format, fmt::format("not valid JSON behind line {}", reader.line()), {});
    }
    return {};
}

} // namespace nanscope::ingest
