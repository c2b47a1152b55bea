// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/replay/scheduleslack.h"
#include "core/replay/variant.h"

namespace nanscope {

namespace {

// Beyond this the composed output is no longer that of a working schedule; overflow follows almost at once.
constexpr double divergedOutput = 1.5;

bool diverges(std::span<const Coefficients> steps, double sigma)
{
    return !(std::abs(applySchedule(steps, sigma)) <= divergedOutput);
}

// First diverging value above `low`, where nothing diverges.
double firstDivergence(std::span<const Coefficients> steps, double low)
{
    constexpr double stride = 1e-3;
    double high = low + stride;
    while (!diverges(steps, high) && high < 4 * low + 4) {
        low = high;
        high += stride;
    }
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (diverges(steps, middle) ? high : low) = middle;
    }
    return low;
}

} // namespace

std::vector<Coefficients> withSafetyFactor(std::vector<Coefficients> steps, double factor)
{
    const double cubed = factor * factor * factor;
    for (auto& [a, b, c] : steps) {
        a /= factor;
        b /= cubed;
        c /= cubed * factor * factor;
    }
    return steps;
}

std::vector<Coefficients> stepsOf(const Variant& variant, std::optional<int> count, std::optional<double> safety)
{
    auto steps = variant.steps;
    if (count) {
        const auto own = steps.size();
        steps.resize(static_cast<std::size_t>(*count), variant.steps.back());
        for (auto i = own; i < steps.size() && variant.beyond == Beyond::cycle; ++i) {
            steps[i] = variant.steps[i % own];
        }
    }
    // The schedule to its last digit where the factor is its own.
    const bool changed = safety && *safety != variant.safetyFactor;
    return changed ? withSafetyFactor(std::move(steps), *safety / variant.safetyFactor) : steps;
}

double applySchedule(std::span<const Coefficients> steps, double sigma)
{
    for (const auto& [a, b, c] : steps) {
        const double square = sigma * sigma;
        sigma *= a + square * (b + square * c);
    }
    return sigma;
}

std::vector<double> largestOnEntry(std::span<const Coefficients> steps)
{
    constexpr int samples = 20000;
    std::vector<double> maxima(steps.size(), 0.0);
    for (int i = 1; i <= samples; ++i) {
        double sigma = static_cast<double>(i) / samples;
        for (std::size_t k = 0; k < steps.size(); ++k) {
            maxima[k] = std::max(maxima[k], std::abs(sigma));
            sigma = applySchedule(steps.subspan(k, 1), sigma);
        }
    }
    return maxima;
}

std::vector<double> divergenceLimits(std::span<const Coefficients> steps)
{
    const auto maxima = largestOnEntry(steps);
    std::vector<double> limits;
    for (std::size_t k = 0; k < steps.size(); ++k) {
        const auto rest = steps.subspan(k);
        // A schedule without slack may already diverge a rounding error above its own maximum.
        double start = diverges(rest, maxima[k]) ? maxima[k] * (1 - 1e-6) : maxima[k];
        // With too small a safety factor it diverges within (0, 1] already.
        start = diverges(rest, start) ? 0 : start;
        limits.push_back(firstDivergence(rest, start));
    }
    return limits;
}

double slackOfSchedule(std::span<const Coefficients> steps)
{
    const auto limits = divergenceLimits(steps);
    const auto maxima = largestOnEntry(steps);
    double slack = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < limits.size(); ++k) {
        slack = std::min(slack, 100 * (limits[k] / maxima[k] - 1));
    }
    return slack;
}

std::array<double, 2> outputRange(std::span<const Coefficients> steps)
{
    constexpr int samples = 20000;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (int i = 0; i <= samples; ++i) {
        const double sigma = std::pow(10.0, -2.0 * i / samples);
        const double out = std::abs(applySchedule(steps, sigma));
        low = std::min(low, out);
        high = std::max(high, out);
    }
    return {low, high};
}

} // namespace nanscope
