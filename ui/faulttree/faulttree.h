// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <QPointF>
#include <QSizeF>
#include <QString>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope {

/// Places in the tree are int, as those of widgets.
inline std::size_t toIndex(int place)
{
    return static_cast<std::size_t>(place);
}

using StepPair = std::pair<std::int64_t, std::int64_t>;

/// A capture as the fault tree needs it.
struct FaultCapture
{
    int index = 0; ///< into RunData::captures
    std::optional<int> rank;
    std::optional<StepPair> step;
    Role role = Role::birth;
    int cause = -1; ///< index of the capture it descends from
};

/// One rank, or neighbouring ranks in which nothing began.
struct FaultLane
{
    std::optional<int> first;
    std::optional<int> last;
    int ranks = 1;
};

/// One update; none for captures whose step is not known. `roles` are those that occur in it, each at its own place
/// from left to right, so that what follows from a birth of the same update stands right of it.
struct FaultColumn
{
    std::optional<StepPair> step;
    std::vector<Role> roles;
};

/// All captures of one lane, update and role.
struct FaultNode
{
    int lane = 0;
    int column = 0;
    int slot = 0; ///< place within the column
    Role role = Role::birth;
    std::vector<int> captures; ///< indices into RunData::captures, lowest rank first
};

/// From a cause to what follows from it first in a lane; from there `along` the lane to what follows next.
struct FaultEdge
{
    int from = 0;
    int to = 0;
    bool along = false;
};

/// The edges that leave a cause for other lanes share one line across the lanes up to their furthest.
struct FaultTrunk
{
    int from = 0;
    int firstLane = 0;
    int lastLane = 0;
    int number = 0; ///< of the cause within its column, so that neighbours' lines lie side by side
};

struct FaultTree
{
    std::vector<FaultLane> lanes;
    std::vector<FaultColumn> columns;
    std::vector<FaultNode> nodes; ///< by lane, then from left to right
    std::vector<int> laneBegin; ///< first node of each lane, and the end
    std::vector<FaultEdge> edges; ///< by target
    std::vector<FaultTrunk> trunks; ///< by cause
    int ranks = 0; ///< before lanes were merged
};

std::vector<FaultCapture> faultCaptures(const RunData& run, const Diagnosis& diagnosis);

/// Lanes of their own for all ranks, or, where those are more than `mostLanes`, for the ranks in which something began;
/// the others share lanes with their neighbours.
FaultTree layOutFaults(const std::vector<FaultCapture>& captures, int mostLanes);

/// "25 → 1": damaged captures and what they come down to.
QString faultSummary(const Triage& triage);

/// Where things lie, in pixels.
struct FaultGeometry
{
    double laneHeight = 0;
    double slotWidth = 0;
    std::vector<double> columnLeft; ///< one more than columns
    QSizeF size;

    QPointF centerOf(const FaultNode& node) const;
};

/// Fills `room` where there are few lanes or columns, and grows beyond it where there are many.
FaultGeometry placeFaults(const FaultTree& tree, const QSizeF& room, double leastLane, double leastSlot);

/// Nodes of a lane that reach into a range of x, as indices [begin, end).
std::pair<int, int> nodesBetween(
    const FaultTree& tree, const FaultGeometry& geometry, int lane, double left, double right);

/// The node within `reach` of a point, or -1.
int nodeAt(const FaultTree& tree, const FaultGeometry& geometry, const QPointF& point, double reach);

enum class FaultMove { left, right, up, down, first, last };

/// The node that an arrow key leads to; the same one at the end of the way.
int nodeAfter(const FaultTree& tree, int node, FaultMove move);

/// The node that holds a capture, or -1.
int nodeOf(const FaultTree& tree, int capture);

/// The capture a click on a node selects: the first, or the one after the one that is selected already.
int captureToSelect(const FaultNode& node, int selected);

/// One line per capture, tab-separated, a heading first: what the fault tree is to who does not see it. By rank, update
/// and time; "call" counts the captured calls of a rank within one update.
QString faultTable(const RunData& run, std::vector<FaultCapture> captures);

} // namespace nanscope
