// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/svg.h"

#include <fmt/format.h>

#include "core/report/style/stylesheets.h"

namespace nanscope::report {

std::string escaped(std::string_view text)
{
    std::string result;
    result.reserve(text.size());
    for (const auto byte : text) {
        switch (byte) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '"':
            result += "&quot;";
            break;
        case '\'':
            result += "&#39;";
            break;
        default:
            result += byte;
        }
    }
    return result;
}

std::string coordinate(double value)
{
    auto text = fmt::format("{:.1f}", value);
    if (text.ends_with(".0")) {
        text.resize(text.size() - 2);
    }
    return text == "-0" ? "0" : text;
}

void Svg::element(std::string_view start, std::string_view name, std::string_view hint)
{
    m_body += start;
    if (hint.empty()) {
        m_body += "/>";
    } else {
        m_body += fmt::format("><title>{}</title></{}>", escaped(hint), name);
    }
}

void Svg::line(Spot from, Spot to, std::string_view classes)
{
    element(fmt::format(R"(<path class="{}" d="M{} {}L{} {}")", classes, coordinate(from.x), coordinate(from.y),
                coordinate(to.x), coordinate(to.y)),
        "path", {});
}

void Svg::rect(const Box& box, std::string_view classes)
{
    element(fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}")", classes, coordinate(box.x),
                coordinate(box.y), coordinate(box.width), coordinate(box.height)),
        "rect", {});
}

void Svg::circle(Spot centre, double radius, std::string_view classes, std::string_view hint)
{
    element(fmt::format(R"(<circle class="{}" cx="{}" cy="{}" r="{}")", classes, coordinate(centre.x),
                coordinate(centre.y), coordinate(radius)),
        "circle", hint);
}

void Svg::path(std::string_view data, std::string_view classes, std::string_view hint)
{
    element(fmt::format(R"(<path class="{}" d="{}")", classes, data), "path", hint);
}

void Svg::text(Spot at, std::string_view words, std::string_view classes)
{
    m_body += fmt::format(
        R"(<text class="{}" x="{}" y="{}">{}</text>)", classes, coordinate(at.x), coordinate(at.y), escaped(words));
}

void Svg::mark(PointState state, Spot at, std::string_view hint)
{
    const auto begin = fmt::format("M{} {}", coordinate(at.x), coordinate(at.y));
    switch (state) {
    case PointState::nan:
        path(begin + "m-3-3l6 6m0-6l-6 6", "mark nan", hint);
        break;
    case PointState::posInf:
        path(begin + "m0-3.5l4 7h-8z", "mark posinf", hint);
        break;
    case PointState::negInf:
        path(begin + "m0 3.5l4-7h-8z", "mark neginf", hint);
        break;
    case PointState::finite:
    case PointState::reported:
        break;
    }
}

std::string Svg::inlined(std::string_view alt) const
{
    constexpr auto frame =
        R"(<svg class="fig" role="img" aria-label="{0}" width="{1}" height="{2}" viewBox="0 0 {1} {2}">{3}</svg>)";
    return fmt::format(frame, escaped(alt), coordinate(m_width), coordinate(m_height), m_body);
}

std::string Svg::file(std::string_view alt) const
{
    constexpr auto frame = R"(<svg xmlns="http://www.w3.org/2000/svg" class="fig" role="img" width="{1}" height="{2}" )"
                           R"(viewBox="0 0 {1} {2}"><title>{0}</title><style>{4}</style>)"
                           R"(<rect class="paper" x="0" y="0" width="{1}" height="{2}"/>{3}</svg>)";
    return fmt::format(frame, escaped(alt), coordinate(m_width), coordinate(m_height), m_body, figureStyle()) + "\n";
}

} // namespace nanscope::report
