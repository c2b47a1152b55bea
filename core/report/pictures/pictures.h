// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model/cell.h"
#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/report/pictures/svg.h"

namespace nanscope::report {

/// loss and grad_norm of all ranks above one another, a lane for what is not finite, a line at each birth or group of
/// births. Of very many series, the range is drawn. Empty without points.
Svg timelinePicture(const RunData& run, const Diagnosis& diagnosis);

/// How many points the picture stands for.
std::int64_t timelinePoints(const RunData& run);

/// The captures of a run as ranks x updates: births filled, what descends from them as grey rings, arrows from a
/// birth to its first descendant on every rank. Empty without captures.
Svg faultPicture(const Diagnosis& diagnosis);

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
