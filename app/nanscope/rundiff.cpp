// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/rundiff.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/words.h"
#include "core/base/json.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

std::string valueText(const Point& point)
{
    switch (point.state) {
    case PointState::nan:
        return "NaN";
    case PointState::posInf:
        return "+Inf";
    case PointState::negInf:
        return "-Inf";
    case PointState::reported:
        return "no value";
    default:
        return fmt::format("{}", point.value);
    }
}

std::string placeText(const diagnose::Trace& trace, const Point& point)
{
    return fmt::format("{} at {}", valueText(point), diagnose::placeOf(trace, point));
}

std::string nameOf(const diagnose::SeriesComparison& series)
{
    return series.rank ? fmt::format("{} of rank {}", series.name, *series.rank) : series.name;
}

std::string headline(const diagnose::RunComparison& comparison)
{
    const auto* first = comparison.first();
    if (first != nullptr) {
        return printable(
                   fmt::format("{} differs from step {} on: {}, against {}", nameOf(*first), first->first->first.step,
                       placeText(first->a, first->first->first), placeText(first->b, first->first->second)))
            + "\n";
    }
    const bool any = std::any_of(comparison.series.begin(), comparison.series.end(),
        [](const diagnose::SeriesComparison& series) { return series.common > 0; });
    return any ? "No value differs at the steps that both logs have\n"
               : "The runs have no step of any series in common; --shift moves the second one\n";
}

std::string resolution(const diagnose::SeriesComparison& series)
{
    return series.decimals ? fmt::format("{} decimals", *series.decimals) : "in full";
}

std::string seriesTable(const diagnose::RunComparison& comparison)
{
    constexpr auto right = Table::Align::right;
    Table table({{"series"}, {"common steps", right}, {"differ", right}, {"first", right}, {"a"}, {"b"},
        {"largest |a-b|/max", right}, {"compared"}});
    for (const auto& series : comparison.series) {
        table.add({nameOf(series), countText(series.common), countText(series.differing),
            series.first ? std::to_string(series.first->first.step) : "-",
            series.first ? valueText(series.first->first) : "-", series.first ? valueText(series.first->second) : "-",
            series.largest ? fmt::format("{:.3g} at {}", series.largestRelative, series.largest->first.step) : "-",
            resolution(series)});
    }
    return "\n" + table.text();
}

std::string settingText(const std::optional<Setting>& setting)
{
    return setting ? clipped(setting->value, 60) : "-";
}

std::string settingsTable(const diagnose::RunComparison& comparison)
{
    constexpr std::size_t most = 60;
    const auto sentence = printable(diagnose::settingsSentence(comparison, "run a", "run b"));
    if (comparison.settings.empty()) {
        return "\n" + sentence + "\n";
    }
    Table table({{"setting"}, {"a"}, {"b"}});
    for (std::size_t i = 0; i < std::min(most, comparison.settings.size()); ++i) {
        const auto& one = comparison.settings[i];
        table.add({one.name, settingText(one.a), settingText(one.b)});
    }
    auto text = "\n" + table.text();
    if (comparison.settings.size() > most) {
        text += fmt::format("and {} more (--json has them all)\n", comparison.settings.size() - most);
    }
    return text + sentence + "\n";
}

std::string onlyText(std::string_view side, const std::vector<std::string>& names)
{
    return names.empty() ? std::string()
                         : printable(fmt::format("only {} has: {}", side, fmt::join(names, ", "))) + "\n";
}

Json pointJson(const diagnose::Trace& trace, const Point& point)
{
    const bool given = point.state != PointState::reported;
    return {{"step", point.step}, {"value", given ? jsonNumber(point.value) : Json(nullptr)}, {"file", trace.source},
        {"line", point.line}};
}

Json pairJson(const diagnose::SeriesComparison& series, const std::optional<std::pair<Point, Point>>& pair)
{
    return pair ? Json {{"a", pointJson(series.a, pair->first)}, {"b", pointJson(series.b, pair->second)}}
                : Json(nullptr);
}

Json seriesJson(const diagnose::SeriesComparison& series)
{
    return {{"name", series.name}, {"rank", series.rank ? Json(*series.rank) : Json(nullptr)},
        {"common", series.common}, {"differing", series.differing}, {"first", pairJson(series, series.first)},
        {"largest", pairJson(series, series.largest)}, {"largest_relative", jsonNumber(series.largestRelative)},
        {"decimals", series.decimals ? Json(*series.decimals) : Json(nullptr)}};
}

Json settingJson(const std::optional<Setting>& setting)
{
    return setting ? Json {{"value", setting->value}, {"file", setting->source}, {"line", setting->line}}
                   : Json(nullptr);
}

} // namespace

std::string runDiffText(const diagnose::RunComparison& comparison)
{
    auto text = headline(comparison);
    if (!comparison.series.empty()) {
        text += seriesTable(comparison);
    }
    return text + onlyText("a", comparison.onlyA) + onlyText("b", comparison.onlyB) + settingsTable(comparison);
}

Json runDiffJson(const diagnose::RunComparison& comparison)
{
    auto series = Json::array();
    for (const auto& one : comparison.series) {
        series.push_back(seriesJson(one));
    }
    auto settings = Json::array();
    for (const auto& one : comparison.settings) {
        settings.push_back({{"name", one.name}, {"a", settingJson(one.a)}, {"b", settingJson(one.b)}});
    }
    const auto* first = comparison.first();
    return {{"schema", "nanscope.rundiff/1"}, {"first", first != nullptr ? seriesJson(*first) : Json(nullptr)},
        {"series", std::move(series)}, {"only_a", comparison.onlyA}, {"only_b", comparison.onlyB},
        {"settings", std::move(settings)}, {"same_settings", comparison.sameSettings}};
}

} // namespace nanscope
