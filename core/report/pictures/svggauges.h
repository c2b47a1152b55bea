// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "core/model/cell.h"
#include "core/report/pictures/svg.h"

namespace nanscope::report {

/// A cell with the name it goes by in the picture.
struct GaugeLine
{
    const Cell* cell = nullptr;
    std::string label;
};

/// Per iteration, side by side: the bound of ||X||_2 against the divergence limit, max|Q|, the distance from
/// orthogonality, the largest magnitude. What is not finite is in the lanes above. Empty without gauges.
Svg gaugePicture(std::span<const GaugeLine> lines);

} // namespace nanscope::report
