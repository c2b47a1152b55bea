// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "wellformed.h"

#include <algorithm>
#include <array>
#include <sstream>

#include <gtest/gtest.h>

namespace nanscope::handmade {

namespace {

class Reader
{
public:
    explicit Reader(std::string_view text)
        : m_rest(text)
    { }

    Markup read()
    {
        while (m_result.error.empty() && !m_rest.empty()) {
            if (m_rest.front() == '<') {
                tag();
            } else {
                text();
            }
        }
        if (m_result.error.empty() && !m_open.empty()) {
            fail("never closed: " + m_open.back());
        }
        return std::move(m_result);
    }

private:
    void fail(const std::string& what) { m_result.error = what + " before " + std::string(m_rest.substr(0, 60)); }

    std::string_view until(char end)
    {
        const auto length = std::min(m_rest.find(end), m_rest.size());
        const auto part = m_rest.substr(0, length);
        m_rest.remove_prefix(length);
        return part;
    }

    std::string decoded(std::string_view raw)
    {
        constexpr std::array<std::pair<std::string_view, char>, 5> known {
            {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}}};
        std::string result;
        while (!raw.empty()) {
            const auto entity = std::find_if(
                known.begin(), known.end(), [raw](const auto& entry) { return raw.starts_with(entry.first); });
            if (raw.front() == '&' && entity == known.end()) {
                fail("an unknown entity");
                return {};
            }
            result += entity == known.end() ? raw.front() : entity->second;
            raw.remove_prefix(entity == known.end() ? 1 : entity->first.size());
        }
        return result;
    }

    void text()
    {
        const auto raw = until('<');
        const auto plain = decoded(raw);
        if (std::any_of(plain.begin(), plain.end(),
                [](char byte) { return static_cast<unsigned char>(byte) < 0x20 && byte != '\n'; })) {
            fail("a control character");
        }
        (!m_open.empty() && m_open.back() == "style" ? m_result.style : m_result.text) += plain;
    }

    void close()
    {
        m_rest.remove_prefix(2);
        const auto name = std::string(until('>'));
        m_rest.remove_prefix(std::min<std::size_t>(1, m_rest.size()));
        if (m_open.empty() || m_open.back() != name) {
            fail("closes " + name + " inside " + (m_open.empty() ? "nothing" : m_open.back()));
            return;
        }
        m_open.pop_back();
    }

    void tag()
    {
        if (m_rest.starts_with("<!DOCTYPE html>")) {
            m_rest.remove_prefix(15);
        } else if (m_rest.starts_with("</")) {
            close();
        } else {
            open();
        }
    }

    void open()
    {
        m_rest.remove_prefix(1);
        const auto length = m_rest.find_first_of(" />");
        const auto name = std::string(m_rest.substr(0, length));
        m_rest.remove_prefix(std::min(length, m_rest.size()));
        m_result.elements.push_back(name);
        while (m_rest.starts_with(" ") && m_result.error.empty()) {
            attribute(name);
        }
        if (m_rest.starts_with("/>")) {
            m_rest.remove_prefix(2);
        } else if (m_rest.starts_with(">")) {
            m_rest.remove_prefix(1);
            m_open.push_back(name);
        } else if (m_result.error.empty()) {
            fail("a tag that does not end");
        }
    }

    void attribute(const std::string& element)
    {
        m_rest.remove_prefix(1);
        const auto name = std::string(until('='));
        if (!m_rest.starts_with("=\"") || name.find_first_of(" <>\"'") != std::string::npos) {
            fail("an attribute without quotes: " + name);
            return;
        }
        m_rest.remove_prefix(2);
        const auto raw = until('"');
        m_rest.remove_prefix(std::min<std::size_t>(1, m_rest.size()));
        if (raw.find('<') != std::string_view::npos) {
            fail("a tag inside an attribute");
        }
        m_result.attributes.push_back({element, name, decoded(raw)});
    }

    std::string_view m_rest;
    std::vector<std::string> m_open;
    Markup m_result;
};

} // namespace

int Markup::count(std::string_view element) const
{
    return static_cast<int>(std::count(elements.begin(), elements.end(), element));
}

int Markup::countClass(std::string_view name) const
{
    return static_cast<int>(std::count_if(attributes.begin(), attributes.end(), [name](const Attribute& attribute) {
        std::istringstream words(attribute.value);
        std::string word;
        while (attribute.name == "class" && words >> word) {
            if (word == name) {
                return true;
            }
        }
        return false;
    }));
}

Markup readMarkup(std::string_view text)
{
    return Reader(text).read();
}

Markup markupOf(const report::Svg& svg)
{
    auto markup = readMarkup(svg.inlined("a picture"));
    EXPECT_EQ(markup.error, "");
    return markup;
}

} // namespace nanscope::handmade
