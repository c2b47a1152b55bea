// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/model/verdict.h"
#include "core/report/pictures/svg.h"
#include "core/report/pictures/svgaxis.h"

namespace nanscope::report {

struct BirthLine
{
    double x = 0;
    std::string label; ///< empty where a neighbour's label speaks for it too
};

/// Where the births with a known step stand on an axis of steps; those that share a pixel are one.
std::vector<BirthLine> birthLines(const Diagnosis& diagnosis, const Axis& x);

void drawBirths(Svg& svg, const std::vector<BirthLine>& births, const Box& plot);

} // namespace nanscope::report
