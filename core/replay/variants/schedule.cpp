// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/replay/variants/scheduleslack.h"
#include "core/replay/variants/variant.h"

namespace nanscope::replay {

namespace {

// Beyond this the composed output is no longer that of a working schedule; overflow follows almost at once.
constexpr double divergedOutput = 1.5;

struct Interval
{
    double low = 0;
    double high = 0;

    double largest() const { return std::max(std::abs(low), std::abs(high)); }
    void widenTo(double value)
    {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

/// All values of p(x) = ax + bx^3 + cx^5 over an interval: an interval again, whose ends p has at the ends of the first
/// or where p'(x) = a + 3bx^2 + 5cx^4 = 0.
Interval image(const Coefficients& step, const Interval& over)
{
    const auto value = [&](double x) { return applySchedule({&step, 1}, x); };
    Interval all {value(over.low), value(over.low)};
    all.widenTo(value(over.high));
    const auto consider = [&](double square) {
        const double x = std::sqrt(square);
        for (const double at : {x, -x}) {
            if (at > over.low && at < over.high) {
                all.widenTo(value(at));
            }
        }
    };
    const auto& [a, b, c] = step;
    const double root = std::sqrt(9 * b * b - 20 * a * c);
    // Without c both formulas would divide by zero; NaN is in no interval.
    for (const double square : {(-3 * b + root) / (10 * c), (-3 * b - root) / (10 * c), -a / (3 * b)}) {
        consider(square);
    }
    return all;
}

Interval image(std::span<const Coefficients> steps, Interval over)
{
    for (const auto& step : steps) {
        over = image(step, over);
    }
    return over;
}

/// Some value up to sigma diverges.
bool diverges(std::span<const Coefficients> steps, double sigma)
{
    return !(image(steps, {0, sigma}).largest() <= divergedOutput);
}

double firstDivergence(std::span<const Coefficients> steps)
{
    constexpr double never = 0x1p20;
    double high = 1;
    while (!diverges(steps, high) && high < never) {
        high *= 2;
    }
    double low = 0;
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
    std::vector<double> maxima;
    Interval reached {0, 1};
    for (const auto& step : steps) {
        maxima.push_back(reached.largest());
        reached = image(step, reached);
    }
    return maxima;
}

std::vector<double> divergenceLimits(std::span<const Coefficients> steps)
{
    std::vector<double> limits;
    for (std::size_t k = 0; k < steps.size(); ++k) {
        limits.push_back(firstDivergence(steps.subspan(k)));
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

} // namespace nanscope::replay
