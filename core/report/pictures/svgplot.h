// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/report/pictures/svg.h"

namespace nanscope::report {

/// Maps values to pixels.
struct Axis
{
    double low = 0;
    double high = 1;
    double from = 0; ///< the pixel of `low`
    double to = 1;
    bool logarithmic = false;

    double at(double value) const;
};

/// With a little room around the values; logarithmic where they are positive and span more than a factor of 100.
Axis valueAxis(double low, double high, double from, double to);

/// Round numbers on the axis, about so many.
std::vector<double> ticks(const Axis& axis, int about);
std::string tickText(double value);

/// Frame, grid and numbers of a plot.
void drawValueAxis(Svg& svg, const Box& plot, const Axis& y);
void drawStepAxis(Svg& svg, const Box& plot, const Axis& x, bool numbers);

/// One mark in the lanes above a plot; `hint` shows under the cursor.
struct LaneMark
{
    double x = 0;
    PointState state = PointState::nan;
    std::string hint;
};

/// Marks need this much room to be told apart.
constexpr double markWidth = 9;

/// "NaN", "+Inf", "−Inf".
std::string_view stateText(PointState state);

/// One row for each class that occurs, none without marks.
double lanesHeight(const std::vector<LaneMark>& marks);
void drawLanes(Svg& svg, const Box& area, const std::vector<LaneMark>& marks);

} // namespace nanscope::report
