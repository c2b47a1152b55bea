// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The attempts of a run: what its logs hold of each start and each resume. Two of them can tell what one cannot.
#pragma once

#include <optional>
#include <vector>

#include "core/diagnose/findings/cards.h"

namespace nanscope::diagnose::cards {

struct Attempt
{
    const Series* loss = nullptr; ///< the log that has most of it
    std::int64_t firstStep = 0;
    std::optional<std::int64_t> firstBad; ///< step of the line, or of the line that was not printed
    Evidence bad;
    bool goodBefore = false; ///< a finite loss came first: it did not start from bad weights
    std::optional<double> peakLr;
};

/// In order. Attempts without a point are left out.
std::vector<Attempt> attemptsOf(const Story& story);

} // namespace nanscope::diagnose::cards
