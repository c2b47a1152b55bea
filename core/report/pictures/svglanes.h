// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/report/pictures/svg.h"

namespace nanscope::report {

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
