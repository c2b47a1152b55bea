// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/svg.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

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
    m_shapes.push_back({Shape::Kind::outline, std::string(classes), {{{from, to}, false}}});
}

void Svg::rect(const Box& box, std::string_view classes)
{
    element(fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}")", classes, coordinate(box.x),
                coordinate(box.y), coordinate(box.width), coordinate(box.height)),
        "rect", {});
    m_shapes.push_back({Shape::Kind::outline, std::string(classes), {outlineOf(box)}});
}

void Svg::circle(Spot centre, double radius, std::string_view classes, std::string_view hint)
{
    element(fmt::format(R"(<circle class="{}" cx="{}" cy="{}" r="{}")", classes, coordinate(centre.x),
                coordinate(centre.y), coordinate(radius)),
        "circle", hint);
    m_shapes.push_back({Shape::Kind::outline, std::string(classes), {outlineOfCircle(centre, radius)}});
}

void Svg::path(std::string_view data, std::string_view classes, std::string_view hint)
{
    element(fmt::format(R"(<path class="{}" d="{}")", classes, data), "path", hint);
    m_shapes.push_back({Shape::Kind::outline, std::string(classes), outlinesOf(data)});
}

void Svg::text(Spot at, std::string_view words, std::string_view classes)
{
    m_body += fmt::format(
        R"(<text class="{}" x="{}" y="{}">{}</text>)", classes, coordinate(at.x), coordinate(at.y), escaped(words));
    m_shapes.push_back({Shape::Kind::text, std::string(classes), {}, {at.x, at.y, 0, 0}, std::string(words)});
}

void Svg::paint(const Box& box, std::string_view colour)
{
    m_shapes.push_back({Shape::Kind::paint, {}, {}, box, std::string(colour)});
}

void Svg::hatch(const Box& box, std::string_view kind)
{
    m_shapes.push_back({Shape::Kind::hatch, std::string(kind), {}, box, {}});
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

namespace {

std::vector<double> decades(const Axis& axis, int about)
{
    const auto first = static_cast<int>(std::ceil(std::log10(axis.low) - 1e-9));
    const auto last = static_cast<int>(std::floor(std::log10(axis.high) + 1e-9));
    const auto stride = std::max(1, (last - first + about) / std::max(about, 1));
    std::vector<double> result;
    for (int power = first; power <= last; power += stride) {
        result.push_back(std::pow(10.0, power));
    }
    return result;
}

double roundStep(double span, int about)
{
    const auto raw = span / std::max(about, 1);
    const auto power = std::pow(10.0, std::floor(std::log10(raw)));
    const auto factor = raw / power;
    return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

} // namespace

double Axis::at(double value) const
{
    const auto place = logarithmic ? (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low))
                                   : (value - low) / (high - low);
    return from + std::clamp(place, 0.0, 1.0) * (to - from);
}

Axis valueAxis(double low, double high, double from, double to)
{
    if (low > 0 && high / low > 100) {
        return {low / 1.3, high * 1.3, from, to, true};
    }
    const auto span = high - low;
    const auto room = span > 0 ? span * 0.06 : std::max(std::abs(high) * 0.1, 1e-300);
    // Within it, differences of the ends are finite as well.
    constexpr double largest = 4e307;
    return {std::max(low - room, -largest), std::min(high + room, largest), from, to, false};
}

std::vector<double> ticks(const Axis& axis, int about)
{
    if (axis.logarithmic) {
        return decades(axis, about);
    }
    std::vector<double> result;
    const auto step = roundStep(axis.high - axis.low, about);
    for (auto k = std::ceil(axis.low / step - 1e-9); result.size() < 32; ++k) {
        if (k * step > axis.high + step * 1e-9) {
            break;
        }
        result.push_back(k * step);
    }
    return result;
}

std::string tickText(double value)
{
    return fmt::format("{:.6g}", value == 0 ? 0.0 : value); // no negative zero
}

void drawValueAxis(Svg& svg, const Box& plot, const Axis& y)
{
    svg.rect(plot, "frame");
    for (const auto tick : ticks(y, 4)) {
        const auto at = y.at(tick);
        svg.line({plot.x, at}, {plot.right(), at}, "grid");
        svg.text({plot.x - 6, at + 4}, tickText(tick), "end");
    }
}

void drawStepAxis(Svg& svg, const Box& plot, const Axis& x, bool numbers)
{
    const auto whole = [](double tick) { return std::abs(tick - std::round(tick)) < 1e-6; };
    for (const auto tick : ticks(x, 8)) {
        if (!whole(tick)) {
            continue;
        }
        const auto at = x.at(tick);
        svg.line({at, plot.bottom()}, {at, plot.bottom() + 4}, "axis");
        if (numbers) {
            svg.text({at, plot.bottom() + 17}, fmt::format("{}", std::llround(tick)), "mid");
        }
    }
}

namespace {

constexpr double laneHeight = 14;
constexpr std::array states {PointState::nan, PointState::posInf, PointState::negInf};

bool occurs(const std::vector<LaneMark>& marks, PointState state)
{
    return std::any_of(marks.begin(), marks.end(), [state](const LaneMark& mark) { return mark.state == state; });
}

} // namespace

std::string_view stateText(PointState state)
{
    switch (state) {
    case PointState::nan:
        return "NaN";
    case PointState::posInf:
        return "+Inf";
    case PointState::negInf:
        return "−Inf";
    case PointState::finite:
    case PointState::reported:
        break;
    }
    return "finite";
}

double lanesHeight(const std::vector<LaneMark>& marks)
{
    const auto rows =
        std::count_if(states.begin(), states.end(), [&marks](PointState state) { return occurs(marks, state); });
    return static_cast<double>(rows) * laneHeight;
}

void drawLanes(Svg& svg, const Box& area, const std::vector<LaneMark>& marks)
{
    auto top = area.y;
    for (const auto state : states) {
        if (!occurs(marks, state)) {
            continue;
        }
        svg.rect({area.x, top, area.width, laneHeight}, "lane");
        svg.text({area.x - 6, top + laneHeight - 3}, stateText(state), "end");
        for (const auto& mark : marks) {
            if (mark.state == state) {
                svg.mark(state, {mark.x, top + laneHeight / 2}, mark.hint);
            }
        }
        top += laneHeight;
    }
}

} // namespace nanscope::report
