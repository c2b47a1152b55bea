// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "ui/timeline/trace.h"

class QCPAxis;

namespace nanscope {

/// `automatic` is logarithmic where all values are positive and far apart.
enum class ScaleChoice { automatic, linear, logarithmic };

struct ValueScale
{
    Interval values {0, 1};
    bool logarithmic = false;
    bool operator==(const ValueScale&) const = default;
};

/// QCPRange refuses spans below 1e-280 and values beyond 1e250.
Interval drawable(Interval range);

/// Whether values spread over so many powers of ten that a linear axis would show the largest alone.
bool callForLogarithm(Interval finite);

ValueScale chooseScale(std::optional<Interval> finite, std::optional<Interval> positive, bool logarithmic);

void applyScale(QCPAxis* axis, const ValueScale& scale);

} // namespace nanscope
