// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Optimizer steps that were left out, from whatever a log has of them: counters, warnings, the loss scale itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/diagnose/findings/cards.h"

namespace nanscope::diagnose::cards {

/// So many of the steps up to this one, since the line before, were left out.
struct SkipCount
{
    std::int64_t step = 0;
    std::int64_t steps = 0; ///< since the line before
    std::int64_t skipped = 0;
    Evidence line;

    bool all() const { return steps > 0 && skipped >= steps; }
};

/// Steps left out with none between that was taken.
struct SkipStreak
{
    std::int64_t count = 0;
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    bool atStart = false; ///< of the run, or of what went on from a checkpoint: there a loss scale is being found
    Evidence first;
    Evidence last;
};

struct Skips
{
    bool known = false; ///< the log has something that would show them
    bool byScaler = false; ///< a loss scale is what makes this run leave steps out
    bool onlyWarnings = false; ///< Python shows a warning once: there may be more of them
    std::int64_t total = 0;
    std::vector<SkipCount> counts; ///< in order of step
    std::vector<SkipStreak> streaks;
    std::optional<double> firstScale;
};

Skips skipsOf(const RunSummary& summary);

/// The step was left out by a loss scaler.
bool isScalerSkip(const Event& event);

/// How many steps the search for a loss scale can take: it halves down to 1, after a hysteresis of 2.
std::int64_t calibrationSteps(const Skips& skips);

/// The longest streak that lies at a start, or that does not; null where there is none.
const SkipStreak* longest(const std::vector<SkipStreak>& streaks, bool atStart);

/// Streaks of logged points at which the loss scale fell each time.
std::vector<SkipStreak> scaleFalls(const RunSummary& summary);

} // namespace nanscope::diagnose::cards
