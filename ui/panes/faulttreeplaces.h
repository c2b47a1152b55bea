// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>
#include <vector>

#include <QPointF>
#include <QSizeF>

#include "ui/panes/faulttreelayout.h"

namespace nanscope {

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

} // namespace nanscope
