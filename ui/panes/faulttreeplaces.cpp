// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/faulttreeplaces.h"

#include <algorithm>
#include <cmath>

namespace nanscope {

namespace {

std::size_t at(int index)
{
    return static_cast<std::size_t>(index);
}

int nearestIn(const FaultTree& tree, int lane, const FaultNode& from)
{
    int best = tree.laneBegin[at(lane)];
    const auto distance = [&](int node) {
        const FaultNode& other = tree.nodes[at(node)];
        return std::pair(std::abs(other.column - from.column), std::abs(other.slot - from.slot));
    };
    for (int node = best; node < tree.laneBegin[at(lane + 1)]; ++node) {
        best = distance(node) < distance(best) ? node : best;
    }
    return best;
}

} // namespace

QPointF FaultGeometry::centerOf(const FaultNode& node) const
{
    return {columnLeft[at(node.column)] + slotWidth * (node.slot + 0.5), laneHeight * (node.lane + 0.5)};
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
    const auto begin = tree.nodes.begin() + tree.laneBegin[at(lane)];
    const auto end = tree.nodes.begin() + tree.laneBegin[at(lane + 1)];
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
        const QPointF offset = geometry.centerOf(tree.nodes[at(node)]) - point;
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
    const FaultNode& from = tree.nodes[at(node)];
    const int begin = tree.laneBegin[at(from.lane)];
    const int end = tree.laneBegin[at(from.lane + 1)];
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

} // namespace nanscope
