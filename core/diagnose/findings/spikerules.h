// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The rules by which trainers call a value a spike, as data.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace nanscope::diagnose::cards {

/// What a value is held against.
enum class Baseline {
    maxOfFirst, ///< factor times the largest of the first `window` values
    mean, ///< factor times the mean of the last `window`
    sigmas, ///< mean and factor standard deviations of the last `window`
    ema, ///< factor times the moving average
    emaSigmas, ///< moving average and factor moving standard deviations
};

/// What becomes of an outlier in what the next value is held against.
enum class Outliers { learned, clipped, ignored };

struct SpikeRule
{
    std::string_view name;
    std::string_view series;
    Baseline baseline;
    std::size_t window;
    std::size_t fewest; ///< values before it speaks
    double factor;
    std::size_t inARow; ///< outliers that make a spike
    double decay; ///< of a moving average
    Outliers outliers;
    std::string_view text; ///< the rule in words, with its source
};

const std::vector<SpikeRule>& spikeRules();
const SpikeRule& defaultSpikeRule();
Result<const SpikeRule*> findSpikeRule(std::string_view name);

struct Spike
{
    std::size_t first = 0; ///< places in the list of points
    std::size_t last = 0;
    double limit = 0; ///< at the first
};

/// Spikes among finite points, in order.
std::vector<Spike> spikesOf(const std::vector<Point>& points, const SpikeRule& rule);

} // namespace nanscope::diagnose::cards
