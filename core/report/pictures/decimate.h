// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "core/model/run.h"
#include "core/report/pictures/svg.h"

namespace nanscope::report {

/// Non-finite points of one class that share a column.
struct NonFiniteColumn
{
    int column = 0;
    PointState state = PointState::nan;
    std::int64_t firstStep = 0;
    std::int64_t count = 0;
};

/// A series as a picture needs it. x is the step, y the value.
struct Decimated
{
    std::vector<std::vector<Spot>> lines; ///< broken where a value is not finite, and where steps go back
    std::vector<NonFiniteColumn> marks;
};

/// Steps as columns of a picture.
struct Columns
{
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    int count = 1;
    int of(std::int64_t step) const;
};

/// At most four points per column: first, smallest, largest, last. No extreme is lost, and no point that is not
/// finite goes without a mark; `markColumns` may be coarser, because marks are wider than lines.
Decimated decimate(std::span<const Point> points, const Columns& columns, const Columns& markColumns);

} // namespace nanscope::report
