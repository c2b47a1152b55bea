// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/model/run.h"

#include <algorithm>
#include <cmath>

namespace nanscope {

std::int64_t pointsOf(const LogRecords& records)
{
    std::int64_t sum = 0;
    for (const auto& series : records.series) {
        sum += series.pointCount;
    }
    return sum;
}

bool EventFacts::says(Phrase phrase) const
{
    return std::binary_search(phrases.begin(), phrases.end(), phrase);
}

PointState stateOf(double value)
{
    if (std::isnan(value)) {
        return PointState::nan;
    }
    if (std::isinf(value)) {
        return value > 0 ? PointState::posInf : PointState::negInf;
    }
    return PointState::finite;
}

} // namespace nanscope
