// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/shapestyle.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "core/report/style/stylesheets.h"

namespace nanscope::report {

namespace {

struct StyleRule
{
    std::string_view element; ///< or empty
    std::vector<std::string_view> classes;
    std::string_view declarations;
};

std::vector<std::string_view> parts(std::string_view text, char between)
{
    std::vector<std::string_view> all;
    while (!text.empty()) {
        const auto end = std::min(text.find(between), text.size());
        if (end > 0) {
            all.push_back(text.substr(0, end));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

/// Of a line ".fig .mark.nan{stroke:#e0173f}".
std::optional<StyleRule> ruleOf(std::string_view line)
{
    constexpr std::string_view scope = ".fig";
    const auto open = line.find('{');
    const auto close = line.rfind('}');
    if (!line.starts_with(scope) || open == std::string_view::npos || close == std::string_view::npos) {
        return std::nullopt;
    }
    StyleRule rule {{}, {}, line.substr(open + 1, close - open - 1)};
    const auto selector = line.substr(0, open);
    if (selector.size() > scope.size()) {
        const auto inner = selector.substr(scope.size() + 1);
        rule.element = inner.substr(0, inner.find('.'));
        rule.classes = parts(inner.substr(rule.element.size()), '.');
    }
    return rule;
}

/// Those before the dark colours.
std::vector<StyleRule> lightRules()
{
    const auto style = figureStyle();
    std::vector<StyleRule> rules;
    for (const auto line : parts(style.substr(0, style.find("@media")), '\n')) {
        if (auto rule = ruleOf(line)) {
            rules.push_back(std::move(*rule));
        }
    }
    return rules;
}

double numberOf(std::string_view text)
{
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

void apply(ShapeStyle& style, std::string_view property, std::string_view value)
{
    if (property == "fill") {
        style.fill = colourOf(value);
    } else if (property == "stroke") {
        style.stroke = colourOf(value);
    } else if (property == "stroke-width") {
        style.strokeWidth = numberOf(value);
    } else if (property == "stroke-dasharray") {
        style.dashes.clear();
        for (const auto length : parts(value, ' ')) {
            style.dashes.push_back(numberOf(length));
        }
    } else if (property == "stroke-linecap") {
        style.round = value == "round";
    } else if (property == "font-weight") {
        style.bold = numberOf(value) >= 600;
    } else if (property == "text-anchor") {
        style.anchor = value == "end" ? Anchor::end : value == "middle" ? Anchor::middle : Anchor::start;
    }
}

bool concerns(const StyleRule& rule, std::string_view element, const std::vector<std::string_view>& classes)
{
    return (rule.element.empty() || rule.element == element)
        && std::ranges::all_of(
            rule.classes, [&](std::string_view wanted) { return std::ranges::find(classes, wanted) != classes.end(); });
}

} // namespace

std::optional<Rgb8> colourOf(std::string_view text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    if (text.empty() || text.front() != '#' || (text.size() != 4 && text.size() != 7)) {
        return std::nullopt;
    }
    const std::size_t width = text.size() == 4 ? 1 : 2;
    Rgb8 colour {};
    for (std::size_t i = 0; i < colour.size(); ++i) {
        const auto high = digits.find(text[1 + i * width]);
        const auto low = digits.find(text[i * width + width]);
        if (high == std::string_view::npos || low == std::string_view::npos) {
            return std::nullopt;
        }
        colour.at(i) = static_cast<std::uint8_t>(high * 16 + low);
    }
    return colour;
}

ShapeStyle styleOf(std::string_view element, std::string_view classes)
{
    static const auto rules = lightRules();
    const auto own = parts(classes, ' ');
    ShapeStyle style;
    for (const auto& rule : rules) {
        if (!concerns(rule, element, own)) {
            continue;
        }
        for (const auto declaration : parts(rule.declarations, ';')) {
            const auto colon = std::min(declaration.find(':'), declaration.size() - 1);
            apply(style, declaration.substr(0, colon), declaration.substr(colon + 1));
        }
    }
    return style;
}

} // namespace nanscope::report
