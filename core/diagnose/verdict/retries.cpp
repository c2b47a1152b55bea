// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/verdict/retries.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/diagnose/verdict/thresholds.h"

namespace nanscope::diagnose {

double mostThatFail(std::int64_t calls)
{
    constexpr double ruleOfThree = 3;
    return std::min(1.0, ruleOfThree / static_cast<double>(calls));
}

double fewestThatFail(std::int64_t calls)
{
    return std::pow(verdict::doubt, 1 / static_cast<double>(calls));
}

double chanceOfSoFew(const CallsAgain& before, const CallsAgain& changed)
{
    // The odds of k failures among the changed calls against those of one fewer, summed as logarithms.
    const auto failed = before.failed + changed.failed;
    const auto fewest = std::max<std::int64_t>(0, failed - before.calls);
    const auto most = std::min(failed, changed.calls);
    std::vector<double> weights {0};
    for (auto k = fewest; k < most; ++k) {
        const auto more = static_cast<double>(failed - k) * static_cast<double>(changed.calls - k);
        const auto less = static_cast<double>(k + 1) * static_cast<double>(before.calls - failed + k + 1);
        weights.push_back(weights.back() + std::log(more / less));
    }
    const double largest = *std::ranges::max_element(weights);
    double few = 0;
    double all = 0;
    for (auto k = fewest; k <= most; ++k) {
        const double weight = std::exp(weights[static_cast<std::size_t>(k - fewest)] - largest);
        all += weight;
        few += k <= changed.failed ? weight : 0;
    }
    return few / all;
}

std::string callsText(const CallsAgain& called)
{
    return fmt::format(
        "{} of {} call{} with the same input failed", called.failed, called.calls, called.calls == 1 ? "" : "s");
}

bool failsElsewhere(const CallsAgain& called)
{
    return called.experiment.empty() && !called.sameGpu && called.failed == called.calls;
}

bool cameOutFinite(const CallsAgain& called)
{
    return called.experiment.empty() && called.sameGpu && called.failed < called.calls;
}

bool failsWithoutKernels(const CallsAgain& called)
{
    return called.experiment == "kernels-off" && called.calls > 0 && called.failed == called.calls;
}

} // namespace nanscope::diagnose
