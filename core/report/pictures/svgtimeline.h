// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/model/model.h"
#include "core/report/pictures/svg.h"

namespace nanscope::report {

/// loss and grad_norm of all ranks above one another, a lane for what is not finite, a line at each birth or group of
/// births. Of very many series, the range is drawn. Empty without points.
Svg timelinePicture(const RunData& run, const Diagnosis& diagnosis);

/// How many points the picture stands for.
std::int64_t timelinePoints(const RunData& run);

} // namespace nanscope::report
