// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/verdict.h"
#include "core/model/words.h"
#include "core/report/pictures/pictures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace nanscope::report {

namespace {

constexpr double faultsLeft = 132;
constexpr double faultLaneHeight = 34;
constexpr double top = 12;
constexpr double faultsPlotWidth = 770;
constexpr std::size_t mostLanes = 24;
constexpr std::size_t mostColumns = 32;

using Rank = std::optional<int>;
using Update = std::optional<std::pair<std::int64_t, std::int64_t>>;

/// Captures of one rank and one update.
struct Node
{
    std::vector<const CaptureVerdict*> captures;
    Role role = Role::healthy;
};

struct Plan
{
    std::vector<std::string> lanes;
    std::vector<std::string> columns;
    std::map<std::pair<std::size_t, std::size_t>, Node> nodes; ///< by lane, column
    double columnWidth = 0;
    Spot at(std::size_t lane, std::size_t column) const
    {
        return {faultsLeft + (static_cast<double>(column) + 0.5) * columnWidth,
            top + (static_cast<double>(lane) + 0.5) * faultLaneHeight};
    }
};

int weight(Role role)
{
    switch (role) {
    case Role::birth:
        return 4;
    case Role::upstream:
        return 3;
    case Role::padding:
        return 2;
    case Role::downstream:
        return 1;
    case Role::healthy:
    case Role::noOutput:
        break;
    }
    return 0;
}

/// Ranks with a birth before the others; what does not fit shares the last lane.
std::map<Rank, std::size_t> laneNumbers(const Diagnosis& diagnosis, Plan& plan)
{
    std::set<Rank> births;
    std::set<Rank> all;
    for (const auto& verdict : diagnosis.captures) {
        all.insert(verdict.rank);
        if (verdict.role == Role::birth) {
            births.insert(verdict.rank);
        }
    }
    std::vector<Rank> order(births.begin(), births.end());
    std::set_difference(all.begin(), all.end(), births.begin(), births.end(), std::back_inserter(order));
    const auto shown = order.size() <= mostLanes ? order.size() : mostLanes - 1;
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown));
    std::map<Rank, std::size_t> lanes;
    for (std::size_t i = 0; i < order.size(); ++i) {
        lanes[order[i]] = std::min(i, shown);
        if (i < shown) {
            plan.lanes.push_back(order[i] ? fmt::format("rank {}", *order[i]) : std::string("rank not recorded"));
        }
    }
    if (shown < order.size()) {
        plan.lanes.push_back(fmt::format("{} more ranks", order.size() - shown));
    }
    return lanes;
}

std::string updateText(const Update& update)
{
    if (!update) {
        return "not recorded";
    }
    return update->first == update->second ? fmt::format("{}", update->first)
                                           : fmt::format("{}–{}", update->first, update->second);
}

std::map<Update, std::size_t> columnNumbers(const Diagnosis& diagnosis, Plan& plan)
{
    std::set<Update> updates;
    for (const auto& verdict : diagnosis.captures) {
        if (verdict.step) {
            updates.insert(verdict.step);
        }
    }
    std::vector<Update> order(updates.begin(), updates.end());
    const auto unknown = [](const CaptureVerdict& verdict) { return !verdict.step; };
    if (std::any_of(diagnosis.captures.begin(), diagnosis.captures.end(), unknown)) {
        order.emplace_back();
    }
    const auto shown = order.size() <= mostColumns ? order.size() : mostColumns - 1;
    std::map<Update, std::size_t> columns;
    for (std::size_t i = 0; i < order.size(); ++i) {
        columns[order[i]] = std::min(i, shown);
        if (i < shown) {
            plan.columns.push_back(updateText(order[i]));
        }
    }
    if (shown < order.size()) {
        plan.columns.emplace_back("later");
    }
    return columns;
}

Plan planOf(const Diagnosis& diagnosis)
{
    Plan plan;
    const auto lanes = laneNumbers(diagnosis, plan);
    const auto columns = columnNumbers(diagnosis, plan);
    plan.columnWidth = std::min(110.0, faultsPlotWidth / static_cast<double>(plan.columns.size()));
    for (const auto& verdict : diagnosis.captures) {
        auto& node = plan.nodes[{lanes.at(verdict.rank), columns.at(verdict.step)}];
        node.captures.push_back(&verdict);
        node.role = weight(verdict.role) > weight(node.role) ? verdict.role : node.role;
    }
    return plan;
}

void drawArrow(Svg& svg, Spot from, Spot to)
{
    const auto dx = to.x - from.x;
    const auto dy = to.y - from.y;
    const auto length = std::hypot(dx, dy);
    if (length < 24) {
        return;
    }
    const auto ux = dx / length;
    const auto uy = dy / length;
    const Spot begin {from.x + 9 * ux, from.y + 9 * uy};
    const Spot tip {to.x - 9 * ux, to.y - 9 * uy};
    svg.line(begin, {tip.x - 4 * ux, tip.y - 4 * uy}, "arrow");
    svg.path(fmt::format("M{} {}L{} {}L{} {}z", coordinate(tip.x), coordinate(tip.y),
                 coordinate(tip.x - 8 * ux - 3.5 * uy), coordinate(tip.y - 8 * uy + 3.5 * ux),
                 coordinate(tip.x - 8 * ux + 3.5 * uy), coordinate(tip.y - 8 * uy - 3.5 * ux)),
        "arrowhead");
}

bool descends(const Node& node, const Node& birth)
{
    return std::any_of(node.captures.begin(), node.captures.end(), [&birth](const CaptureVerdict* verdict) {
        return verdict->role == Role::downstream
            && std::any_of(birth.captures.begin(), birth.captures.end(),
                [verdict](const CaptureVerdict* cause) { return cause->capture == verdict->causedBy; });
    });
}

/// From every birth to the first of its descendants in each lane.
void drawArrows(Svg& svg, const Plan& plan)
{
    for (const auto& [place, birth] : plan.nodes) {
        if (birth.role != Role::birth) {
            continue;
        }
        std::set<std::size_t> reached;
        for (const auto& [other, node] : plan.nodes) {
            if (other != place && descends(node, birth) && reached.insert(other.first).second) {
                drawArrow(svg, plan.at(place.first, place.second), plan.at(other.first, other.second));
            }
        }
    }
}

std::string hintOf(const Node& node)
{
    std::map<Role, int> counts;
    for (const auto* verdict : node.captures) {
        ++counts[verdict->role];
    }
    std::string text;
    for (const auto& [role, count] : counts) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, roleText(role));
    }
    return text;
}

void drawNode(Svg& svg, const Node& node, Spot at)
{
    const auto hint = hintOf(node);
    const auto begin = fmt::format("M{} {}", coordinate(at.x), coordinate(at.y));
    switch (node.role) {
    case Role::birth:
        svg.circle(at, 7, "birth", hint);
        break;
    case Role::upstream:
        svg.path(begin + "m0-7l7 12h-14z", "upstream", hint);
        break;
    case Role::padding:
        svg.path(begin + "m-5-5h10v10h-10z", "descendant", hint);
        break;
    case Role::downstream:
        svg.circle(at, 5.5, "descendant", hint);
        break;
    case Role::healthy:
        svg.path(begin + "m-5 0l4 4l7-8", "healthy", hint);
        break;
    case Role::noOutput:
        svg.path(begin + "m-5 0h10", "descendant", hint);
        break;
    }
    if (node.captures.size() > 1) {
        svg.text({at.x + 10, at.y - 5}, fmt::format("×{}", node.captures.size()), "quiet");
    }
}

/// The last one always: it may stand for all the later ones.
void drawUpdates(Svg& svg, const Plan& plan, double y)
{
    std::size_t longest = 0;
    for (const auto& text : plan.columns) {
        longest = std::max(longest, text.size());
    }
    constexpr double character = 7;
    const auto stride =
        static_cast<std::size_t>(std::ceil((static_cast<double>(longest) * character + character) / plan.columnWidth));
    const auto last = plan.columns.size() - 1;
    for (std::size_t column = 0; column <= last; ++column) {
        const bool room = column % stride == 0 && column + stride <= last;
        if (room || column == last) {
            svg.text({plan.at(0, column).x, y}, plan.columns[column], "mid");
        }
    }
}

struct RoleWord
{
    Role role;
    const char* words;
};

void drawLegend(Svg& svg, const Plan& plan, double y)
{
    constexpr RoleWord roles[] {{Role::birth, "birth"}, {Role::upstream, "damaged input, no earlier birth"},
        {Role::padding, "zero input"}, {Role::downstream, "descends from a birth"}, {Role::healthy, "healthy"},
        {Role::noOutput, "no output"}};
    auto x = faultsLeft + 7;
    for (const auto& [role, words] : roles) {
        const auto is = [role = role](const auto& entry) { return entry.second.role == role; };
        if (std::any_of(plan.nodes.begin(), plan.nodes.end(), is)) {
            drawNode(svg, {{}, role}, {x, y - 4});
            svg.text({x + 14, y}, words);
            x += 40 + 7 * static_cast<double>(std::string_view(words).size());
        }
    }
}

} // namespace

Svg faultPicture(const Diagnosis& diagnosis)
{
    if (diagnosis.captures.empty()) {
        return {};
    }
    const auto plan = planOf(diagnosis);
    Svg svg(faultsLeft + faultsPlotWidth + 18, 0);
    const auto right = faultsLeft + plan.columnWidth * static_cast<double>(plan.columns.size());
    for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
        const auto y = plan.at(lane, 0).y;
        svg.text({faultsLeft - 12, y + 4}, plan.lanes[lane], "end");
        svg.line({faultsLeft, y}, {right, y}, "grid");
    }
    drawArrows(svg, plan);
    for (const auto& [place, node] : plan.nodes) {
        drawNode(svg, node, plan.at(place.first, place.second));
    }
    const auto bottom = top + faultLaneHeight * static_cast<double>(plan.lanes.size());
    drawUpdates(svg, plan, bottom + 16);
    svg.text({faultsLeft - 12, bottom + 16}, "between steps", "end quiet");
    drawLegend(svg, plan, bottom + 44);
    svg.setHeight(bottom + 52);
    return svg;
}

} // namespace nanscope::report
