// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QString>

#include "core/replay/analysis/cliff.h"

namespace nanscope {

/// One step of a schedule as both cliff plots show it. The limit is theory, everything else was measured in a replay.
struct CliffStep
{
    int step = 1;
    double limit = 0;
    bool replayed = false;
    std::optional<double> own; ///< under the cell's own rounding; none where the iterate is not finite
    std::optional<replay::SigmaRange> range; ///< over the roundings

    /// Of the own value; below zero beyond the limit.
    std::optional<double> slackPercent() const;
};

struct CliffPicture
{
    std::vector<replay::Coefficients> schedule; ///< of the shown setting
    std::vector<CliffStep> steps;
    int roundings = 0;
    bool current = false; ///< what was measured is of the shown setting and not of the one before
    bool gram = false; ///< the iteration tracks the Gram matrix instead of X
};

/// `replayed` may be null. Its own limits go with what it measured.
CliffPicture makeCliffPicture(
    const std::vector<replay::Coefficients>& schedule, const replay::ReplayedCliff* replayed, bool current);

/// "Step 3: σ_max 1.966 (1.966–1.967 over 8 roundings) · limit 2.075 · slack 5.5 %".
QString cliffStepText(const CliffPicture& picture, const CliffStep& step);

/// "finite", "NaN, first +Inf in step 3 gram", with how many of its replays, one for each rounding, stayed finite.
QString cliffOutcomeText(const replay::ReplayedCliff& cliff);

} // namespace nanscope
