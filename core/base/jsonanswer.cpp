// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/base/jsonanswer.h"

#include <fmt/format.h>

#include "core/base/json.h"

namespace nanscope {

/// Keeps to the layout of nlohmann's dump(), which whole answers are written with.
class JsonAnswer::Writer
{
public:
    Writer(const Sink& sink, bool indented, const Change& change)
        : m_sink(sink)
        , m_change(change)
        , m_indented(indented)
    { }

    void write(const JsonAnswer& object, const std::string& place)
    {
        open('{');
        for (const auto& field : object.m_fields) {
            next();
            m_sink(jsonText(Json(field.key)) + (m_indented ? ": " : ":"));
            const auto within = place.empty() ? field.key : fmt::format("{}.{}", place, field.key);
            std::visit([&](const auto& one) { write(one, within); }, field.value);
        }
        close('}');
    }

private:
    void write(const std::shared_ptr<const JsonAnswer>& object, const std::string& place) { write(*object, place); }

    void write(const Elements& elements, const std::string& place)
    {
        open('[');
        for (std::size_t i = 0; i < elements.count; ++i) {
            next();
            write(elements.at(i), fmt::format("{}.{}", place, i));
        }
        close(']');
    }

    void write(Json value, const std::string& place)
    {
        if (m_change) {
            m_change(value, place);
        }
        if (!m_indented) {
            m_sink(jsonText(value));
            return;
        }
        // Line ends within strings are escaped: each one here is of the layout.
        const auto text = jsonText(value, 2);
        std::string_view rest = text;
        for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
            m_sink(rest.substr(0, end));
            newLine();
            rest.remove_prefix(end + 1);
        }
        m_sink(rest);
    }

    void open(char bracket)
    {
        m_sink(std::string_view(&bracket, 1));
        ++m_depth;
        m_empty = true;
    }

    void next()
    {
        if (!m_empty) {
            m_sink(",");
        }
        m_empty = false;
        newLine();
    }

    void close(char bracket)
    {
        --m_depth;
        if (!m_empty) {
            newLine();
        }
        m_empty = false;
        m_sink(std::string_view(&bracket, 1));
    }

    void newLine()
    {
        if (m_indented) {
            m_sink("\n" + std::string(2 * m_depth, ' '));
        }
    }

    const Sink& m_sink;
    const Change& m_change;
    bool m_indented;
    bool m_empty = true; ///< of the innermost object or array
    std::size_t m_depth = 0;
};

void JsonAnswer::write(const Sink& sink, bool indented, const Change& change) const
{
    Writer(sink, indented, change).write(*this, {});
}

std::string JsonAnswer::text(bool indented) const
{
    std::string text;
    write([&text](std::string_view part) { text += part; }, indented);
    return text;
}

JsonAnswer::Json JsonAnswer::whole() const
{
    auto whole = Json::object();
    for (const auto& [key, value] : m_fields) {
        auto& place = whole[key];
        if (const auto* elements = std::get_if<Elements>(&value)) {
            place = Json::array();
            for (std::size_t i = 0; i < elements->count; ++i) {
                place.push_back(elements->at(i));
            }
        } else if (const auto* object = std::get_if<std::shared_ptr<const JsonAnswer>>(&value)) {
            place = (*object)->whole();
        } else {
            place = std::get<Json>(value);
        }
    }
    return whole;
}

} // namespace nanscope
