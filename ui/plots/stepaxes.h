// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QFont>

class QCustomPlot;
class QCPItemStraightLine;

namespace nanscope {

/// What the small plots of gauges share: steps on the x axis, a logarithmic y axis, a marker at the current step.

/// Ticks at whole steps and at powers of ten.
void prepareStepAxes(QCustomPlot& plot);

/// Colours of the theme.
void styleStepAxes(QCustomPlot& plot, const QFont& font);

/// What a logarithmic axis can show.
std::optional<double> drawable(std::optional<double> value);

/// A new one at this step, hidden before the first.
QCPItemStraightLine* addStepMarker(QCustomPlot& plot, int iteration);
void moveStepMarker(QCPItemStraightLine& marker, int iteration);

/// The step under this pixel.
int stepAt(const QCustomPlot& plot, double x);

} // namespace nanscope
