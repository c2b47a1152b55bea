// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/faulttree/faulttree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include <QStringList>

#include "core/model/verdict.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

constexpr std::array rolesInOrder {
    Role::birth, Role::upstream, Role::padding, Role::downstream, Role::healthy, Role::noOutput};

int placeOf(Role role)
{
    return static_cast<int>(std::ranges::find(rolesInOrder, role) - rolesInOrder.begin());
}

// Something began here: such a lane is never merged with others.
bool began(Role role)
{
    return role == Role::birth || role == Role::upstream || role == Role::padding;
}

std::vector<FaultLane> lanesOf(const std::vector<FaultCapture>& captures, int mostLanes)
{
    std::map<std::optional<int>, bool> loud;
    for (const FaultCapture& capture : captures) {
        loud[capture.rank] |= began(capture.role);
    }
    const auto loudCount = std::ranges::count_if(loud, [](const auto& rank) { return rank.second; });
    const auto quiet = static_cast<std::ptrdiff_t>(loud.size()) - loudCount;
    const auto room = std::max<std::ptrdiff_t>(1, mostLanes - loudCount);
    const bool merges = static_cast<int>(loud.size()) > mostLanes;
    const auto together = merges ? (quiet + room - 1) / room : 1;
    std::vector<FaultLane> lanes;
    bool open = false;
    for (const auto& [rank, own] : loud) {
        if (!own && open && lanes.back().ranks < together) {
            lanes.back().last = rank;
            ++lanes.back().ranks;
        } else {
            lanes.push_back({rank, rank, 1});
        }
        open = !own && rank.has_value();
    }
    return lanes;
}

using StepKey = std::int64_t;

// Updates in order; what belongs to none stands at the end.
StepKey keyOf(const FaultCapture& capture)
{
    return capture.step ? capture.step->first : std::numeric_limits<StepKey>::max();
}

struct Places
{
    std::map<std::optional<int>, int> lane;
    std::map<StepKey, int> column;
};

Places placesOf(const FaultTree& tree, const std::vector<FaultCapture>& captures)
{
    Places places;
    for (const FaultCapture& capture : captures) {
        places.column[keyOf(capture)] = 0;
        const auto lane = std::ranges::upper_bound(tree.lanes, capture.rank, {}, &FaultLane::first);
        places.lane[capture.rank] = static_cast<int>(lane - tree.lanes.begin()) - 1;
    }
    int number = 0;
    for (auto& [key, column] : places.column) {
        column = number++;
    }
    return places;
}

std::vector<FaultColumn> columnsOf(const std::vector<FaultCapture>& captures, const Places& places)
{
    std::vector<FaultColumn> columns(places.column.size());
    for (const FaultCapture& capture : captures) {
        FaultColumn& column = columns[static_cast<std::size_t>(places.column.at(keyOf(capture)))];
        column.step = column.step ? column.step : capture.step;
        if (std::ranges::find(column.roles, capture.role) == column.roles.end()) {
            column.roles.push_back(capture.role);
        }
    }
    for (FaultColumn& column : columns) {
        std::ranges::sort(column.roles, {}, placeOf);
    }
    return columns;
}

void addNodes(FaultTree& tree, std::vector<FaultCapture> captures, const Places& places)
{
    std::ranges::stable_sort(captures, {}, &FaultCapture::rank);
    std::map<std::tuple<int, int, int>, std::vector<int>> stacks;
    for (const FaultCapture& capture : captures) {
        const int column = places.column.at(keyOf(capture));
        const auto& roles = tree.columns[static_cast<std::size_t>(column)].roles;
        const auto slot = static_cast<int>(std::ranges::find(roles, capture.role) - roles.begin());
        stacks[{places.lane.at(capture.rank), column, slot}].push_back(capture.index);
    }
    tree.laneBegin.assign(tree.lanes.size() + 1, static_cast<int>(stacks.size()));
    for (auto& [place, indices] : stacks) {
        const auto [lane, column, slot] = place;
        int& begin = tree.laneBegin[static_cast<std::size_t>(lane)];
        begin = std::min(begin, static_cast<int>(tree.nodes.size()));
        const auto& roles = tree.columns[static_cast<std::size_t>(column)].roles;
        tree.nodes.push_back({lane, column, slot, roles[static_cast<std::size_t>(slot)], std::move(indices)});
    }
}

/// Which nodes each node descends from.
std::vector<std::set<int>> causesOf(const FaultTree& tree, const std::vector<FaultCapture>& captures)
{
    std::unordered_map<int, int> home;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        for (const int capture : tree.nodes[i].captures) {
            home[capture] = static_cast<int>(i);
        }
    }
    std::vector<std::set<int>> causes(tree.nodes.size());
    for (const FaultCapture& capture : captures) {
        const auto cause = home.find(capture.cause);
        const int own = home.at(capture.index);
        if (cause != home.end() && cause->second != own) {
            causes[static_cast<std::size_t>(own)].insert(cause->second);
        }
    }
    return causes;
}

void addEdges(FaultTree& tree, const std::vector<FaultCapture>& captures)
{
    const auto causes = causesOf(tree, captures);
    std::map<std::pair<int, int>, int> latest; // of a lane and a cause
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const int lane = tree.nodes[i].lane;
        for (const int cause : causes[i]) {
            const auto [before, first] = latest.try_emplace({lane, cause}, cause);
            const bool along = !first || tree.nodes[static_cast<std::size_t>(cause)].lane == lane;
            tree.edges.push_back({before->second, static_cast<int>(i), along});
            before->second = static_cast<int>(i);
        }
    }
}

void addTrunks(FaultTree& tree)
{
    std::map<int, FaultTrunk> trunks;
    for (const FaultEdge& edge : tree.edges) {
        if (!edge.along) {
            const int own = tree.nodes[static_cast<std::size_t>(edge.from)].lane;
            const int lane = tree.nodes[static_cast<std::size_t>(edge.to)].lane;
            FaultTrunk& trunk = trunks.try_emplace(edge.from, FaultTrunk {edge.from, own, own, 0}).first->second;
            trunk.firstLane = std::min(trunk.firstLane, lane);
            trunk.lastLane = std::max(trunk.lastLane, lane);
        }
    }
    std::map<int, int> used;
    for (auto& [cause, trunk] : trunks) {
        trunk.number = used[tree.nodes[static_cast<std::size_t>(cause)].column]++;
        tree.trunks.push_back(trunk);
    }
}

int nearestIn(const FaultTree& tree, int lane, const FaultNode& from)
{
    int best = tree.laneBegin[toIndex(lane)];
    const auto distance = [&](int node) {
        const FaultNode& other = tree.nodes[toIndex(node)];
        return std::pair(std::abs(other.column - from.column), std::abs(other.slot - from.slot));
    };
    for (int node = best; node < tree.laneBegin[toIndex(lane + 1)]; ++node) {
        best = distance(node) < distance(best) ? node : best;
    }
    return best;
}

bool sameUpdate(const FaultCapture& a, const FaultCapture& b)
{
    return a.rank == b.rank && a.step == b.step;
}

} // namespace

std::vector<FaultCapture> faultCaptures(const RunData& run, const Diagnosis& diagnosis)
{
    std::unordered_map<std::int64_t, const CaptureVerdict*> byId;
    std::unordered_map<std::string_view, const CaptureVerdict*> byFile;
    for (const CaptureVerdict& verdict : diagnosis.captures) {
        if (verdict.captureId != 0) {
            byId.emplace(verdict.captureId, &verdict);
        }
        byFile.emplace(verdict.capture, &verdict);
    }
    std::unordered_map<std::string_view, int> indices;
    for (std::size_t i = 0; i < run.captures.size(); ++i) {
        indices.emplace(run.captures[i].file, static_cast<int>(i));
    }
    std::vector<FaultCapture> captures;
    for (std::size_t i = 0; i < run.captures.size(); ++i) {
        const Capture& capture = run.captures[i];
        const auto id = byId.find(capture.id);
        const auto file = byFile.find(capture.file);
        if (id == byId.end() && file == byFile.end()) {
            continue;
        }
        const CaptureVerdict& verdict = id != byId.end() ? *id->second : *file->second;
        const auto cause = indices.find(verdict.causedBy);
        captures.push_back({static_cast<int>(i), capture.rank, verdict.step, verdict.role,
            verdict.causedBy.empty() || cause == indices.end() ? -1 : cause->second});
    }
    return captures;
}

FaultTree layOutFaults(const std::vector<FaultCapture>& captures, int mostLanes)
{
    FaultTree tree;
    tree.lanes = lanesOf(captures, mostLanes);
    for (const FaultLane& lane : tree.lanes) {
        tree.ranks += lane.ranks;
    }
    const Places places = placesOf(tree, captures);
    tree.columns = columnsOf(captures, places);
    addNodes(tree, captures, places);
    addEdges(tree, captures);
    addTrunks(tree);
    return tree;
}

QString faultSummary(const Triage& triage)
{
    const int damaged = triage.births + triage.upstream + triage.downstream + triage.padding;
    const int origins = triage.births > 0 ? triage.births : triage.upstream > 0 ? triage.upstream : triage.padding;
    if (damaged == origins) {
        return damaged == 0 ? QString() : countLabel(damaged);
    }
    return QStringLiteral("%1 → %2").arg(countLabel(damaged), countLabel(origins));
}

QPointF FaultGeometry::centerOf(const FaultNode& node) const
{
    return {columnLeft[toIndex(node.column)] + slotWidth * (node.slot + 0.5), laneHeight * (node.lane + 0.5)};
}

FaultGeometry placeFaults(const FaultTree& tree, const QSizeF& room, double leastLane, double leastSlot)
{
    constexpr double mostLaneStretch = 2;
    constexpr double mostSlotStretch = 4;
    std::size_t slots = 0;
    for (const FaultColumn& column : tree.columns) {
        slots += column.roles.size();
    }
    const auto stretched = [](double available, std::size_t parts, double least, double most) {
        return parts == 0 ? least : std::clamp(available / static_cast<double>(parts), least, most * least);
    };
    FaultGeometry geometry;
    geometry.laneHeight = stretched(room.height(), tree.lanes.size(), leastLane, mostLaneStretch);
    geometry.slotWidth = stretched(room.width(), slots, leastSlot, mostSlotStretch);
    double left = 0;
    geometry.columnLeft.push_back(left);
    for (const FaultColumn& column : tree.columns) {
        left += geometry.slotWidth * static_cast<double>(column.roles.size());
        geometry.columnLeft.push_back(left);
    }
    geometry.size = {left, geometry.laneHeight * static_cast<double>(tree.lanes.size())};
    return geometry;
}

std::pair<int, int> nodesBetween(
    const FaultTree& tree, const FaultGeometry& geometry, int lane, double left, double right)
{
    const auto begin = tree.nodes.begin() + tree.laneBegin[toIndex(lane)];
    const auto end = tree.nodes.begin() + tree.laneBegin[toIndex(lane + 1)];
    const double half = geometry.slotWidth / 2;
    const auto center = [&](const FaultNode& node) { return geometry.centerOf(node).x(); };
    const auto first = std::ranges::lower_bound(begin, end, left - half, {}, center);
    const auto last = std::ranges::upper_bound(first, end, right + half, {}, center);
    return {static_cast<int>(first - tree.nodes.begin()), static_cast<int>(last - tree.nodes.begin())};
}

int nodeAt(const FaultTree& tree, const FaultGeometry& geometry, const QPointF& point, double reach)
{
    const int lane = geometry.laneHeight > 0 ? static_cast<int>(std::floor(point.y() / geometry.laneHeight)) : -1;
    if (lane < 0 || lane >= static_cast<int>(tree.lanes.size())) {
        return -1;
    }
    const auto [begin, end] = nodesBetween(tree, geometry, lane, point.x() - reach, point.x() + reach);
    int best = -1;
    double nearest = reach;
    for (int node = begin; node < end; ++node) {
        const QPointF offset = geometry.centerOf(tree.nodes[toIndex(node)]) - point;
        const double distance = std::hypot(offset.x(), offset.y());
        if (distance <= nearest) {
            nearest = distance;
            best = node;
        }
    }
    return best;
}

int nodeAfter(const FaultTree& tree, int node, FaultMove move)
{
    const FaultNode& from = tree.nodes[toIndex(node)];
    const int begin = tree.laneBegin[toIndex(from.lane)];
    const int end = tree.laneBegin[toIndex(from.lane + 1)];
    switch (move) {
    case FaultMove::left:
        return std::max(node - 1, begin);
    case FaultMove::right:
        return std::min(node + 1, end - 1);
    case FaultMove::first:
        return begin;
    case FaultMove::last:
        return end - 1;
    case FaultMove::up:
        return from.lane == 0 ? node : nearestIn(tree, from.lane - 1, from);
    case FaultMove::down:
        return from.lane + 1 == static_cast<int>(tree.lanes.size()) ? node : nearestIn(tree, from.lane + 1, from);
    }
    return node;
}

int nodeOf(const FaultTree& tree, int capture)
{
    const auto holds = [capture](const FaultNode& node) {
        return std::ranges::find(node.captures, capture) != node.captures.end();
    };
    const auto found = std::ranges::find_if(tree.nodes, holds);
    return found == tree.nodes.end() ? -1 : static_cast<int>(found - tree.nodes.begin());
}

int captureToSelect(const FaultNode& node, int selected)
{
    const auto current = std::ranges::find(node.captures, selected);
    const bool hasNext = current != node.captures.end() && current + 1 != node.captures.end();
    return hasNext ? *(current + 1) : node.captures.front();
}

QString faultTable(const RunData& run, std::vector<FaultCapture> captures)
{
    const auto captureOf = [&run](
                               int index) -> const Capture& { return run.captures[static_cast<std::size_t>(index)]; };
    std::ranges::stable_sort(captures, {}, [&](const FaultCapture& each) {
        const Capture& capture = captureOf(each.index);
        return std::tuple(each.rank, !each.step, each.step, capture.timestampMs, std::string_view(capture.file));
    });
    QStringList lines {QStringLiteral("rank\tupdate\tcall\trole\tfile\tcaused_by")};
    int call = 0;
    for (std::size_t i = 0; i < captures.size(); ++i) {
        const FaultCapture& shown = captures[i];
        call = i > 0 && sameUpdate(captures[i - 1], shown) ? call + 1 : 1;
        const QStringList cells {shown.rank ? QString::number(*shown.rank) : QString(), stepLabel(shown.step, {}),
            QString::number(call), roleWord(shown.role), qstr(captureOf(shown.index).file),
            shown.cause < 0 ? QString() : qstr(captureOf(shown.cause).file)};
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace nanscope
