// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/document/console.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/text.h"

namespace nanscope::report {

namespace {

std::string valueText(const Point& point)
{
    switch (point.state) {
    case PointState::nan:
        return "nan";
    case PointState::posInf:
        return "inf";
    case PointState::negInf:
        return "-inf";
    case PointState::reported:
        return "missing";
    case PointState::finite:
        break;
    }
    return numberText(point.value);
}

std::string rankPrefix(const std::optional<int>& rank)
{
    return rank ? fmt::format("[rank {}] ", *rank) : std::string {};
}

void addPoints(const Series& series, std::map<std::int64_t, std::string>& lines)
{
    for (const auto& point : series.points) {
        auto& line = lines[point.line];
        if (line.empty()) {
            line = fmt::format("{}step {}:", rankPrefix(series.rank), point.step);
        }
        line += fmt::format(" {}={}", series.name, valueText(point));
    }
}

std::map<std::int64_t, std::string> linesOf(const RunData& run, const std::string& source)
{
    std::map<std::int64_t, std::string> lines;
    for (const auto& series : run.series) {
        if (series.source == source) {
            addPoints(series, lines);
        }
    }
    for (const auto& event : run.events) {
        if (event.source == source) {
            lines[event.line] = rankPrefix(event.rank) + event.text;
        }
    }
    return lines;
}

const Event* firstTrouble(const RunData& run)
{
    const auto trouble = [](const Event& event) { return event.kind != EventKind::other; };
    const auto found = std::find_if(run.events.begin(), run.events.end(), trouble);
    return found == run.events.end() ? nullptr : &*found;
}

} // namespace

const Event* namingEvent(const RunData& run, const std::string& capture)
{
    const auto names = [&capture](const Event& event) {
        return event.kind == EventKind::captureDumped && event.capture == capture;
    };
    const auto found = std::find_if(run.events.begin(), run.events.end(), names);
    return found == run.events.end() ? nullptr : &*found;
}

std::vector<std::string> consoleAround(
    const RunData& run, const std::string& capture, std::size_t before, std::size_t after)
{
    const auto* centre = namingEvent(run, capture);
    centre = centre != nullptr ? centre : firstTrouble(run);
    if (centre == nullptr) {
        return {};
    }
    const auto lines = linesOf(run, centre->source);
    const auto at = lines.find(centre->line);
    auto first = at;
    for (std::size_t i = 0; i < before && first != lines.begin(); ++i) {
        --first;
    }
    std::vector<std::string> result;
    const auto wanted = static_cast<std::size_t>(std::distance(first, at)) + after + 1;
    for (auto line = first; line != lines.end() && result.size() < wanted; ++line) {
        result.push_back(fmt::format("{}:{}  {}", centre->source, line->first, line->second));
    }
    return result;
}

} // namespace nanscope::report
