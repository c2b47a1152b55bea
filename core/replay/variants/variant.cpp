// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/variants/variant.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace nanscope::replay {

namespace {

constexpr std::size_t maxNameBytes = 64;
constexpr std::size_t maxTextBytes = 300;

// A name stands in lists with commas, before colons and in paths.
bool usableName(std::string_view name)
{
    const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; };
    return !name.empty() && name.size() <= maxNameBytes && name != "all"
        && std::isalnum(static_cast<unsigned char>(name.front())) != 0 && std::all_of(name.begin(), name.end(), plain);
}

std::string problemOfSteps(const Variant& v)
{
    if (v.steps.empty() || v.steps.size() > maxSteps) {
        return fmt::format("it has {} steps; give 1 to {}", v.steps.size(), maxSteps);
    }
    for (std::size_t i = 0; i < v.steps.size(); ++i) {
        for (const double c : v.steps[i]) {
            if (!std::isfinite(c)) {
                return fmt::format("step {} has a coefficient that is not a finite number", i + 1);
            }
        }
    }
    const auto size = static_cast<int>(v.steps.size());
    const auto outside = [size](int step) { return step < 1 || step >= size; };
    if (std::any_of(v.restarts.begin(), v.restarts.end(), outside)) {
        return fmt::format("a restart is before one of the steps 1 to {}, counted from 0", size - 1);
    }
    return {};
}

std::string problemOfNumbers(const Variant& v)
{
    if (!(v.epsilon >= 0) || !std::isfinite(v.epsilon)) {
        return "its epsilon is not a finite number from 0 on";
    }
    for (const auto& [value, what] :
        {std::pair {v.normFactor, "norm factor"}, std::pair {v.safetyFactor, "safety factor"}}) {
        if (!(value > 0) || !std::isfinite(value)) {
            return fmt::format("its {} is not a positive number", what);
        }
    }
    const bool gram = v.form == Form::gram || v.form == Form::gramFromLeft;
    if (!gram && !v.restarts.empty()) {
        return "only the gram forms have restarts";
    }
    if (gram && v.normalization == Normalization::aol) {
        return "AOL scaling is for the standard forms";
    }
    return {};
}

} // namespace

Result<void> checkVariant(const Variant& variant)
{
    if (!usableName(variant.name)) {
        return failure(ErrorKind::usage,
            fmt::format(
                "a variant's name is 1 to {} letters, digits, '-', '_' and '.', begins with a letter or digit and "
                "is not 'all'",
                maxNameBytes));
    }
    for (const auto* text : {&variant.title, &variant.source, &variant.family}) {
        if (text->size() > maxTextBytes) {
            return failure(ErrorKind::usage,
                fmt::format("the variant '{}' has a text of more than {} bytes", variant.name, maxTextBytes));
        }
    }
    auto problem = problemOfSteps(variant);
    if (problem.empty()) {
        problem = problemOfNumbers(variant);
    }
    return problem.empty()
        ? Result<void>()
        : failure(ErrorKind::usage, fmt::format("the variant '{}' cannot be run: {}", variant.name, problem));
}

double epsilonUsed(const Variant& variant, std::optional<double> callers)
{
    return variant.ignoresCallerEpsilon ? variant.epsilon : callers.value_or(variant.epsilon);
}

Result<void> checkEpsilon(std::optional<double> epsilon)
{
    if (epsilon && !(std::isfinite(*epsilon) && *epsilon >= 0)) {
        return failure(ErrorKind::usage, "the epsilon of a sweep is a finite number of zero or more");
    }
    return {};
}

Result<void> checkSteps(std::optional<int> steps)
{
    if (steps && (*steps < 1 || *steps > maxSteps)) {
        return failure(ErrorKind::usage, fmt::format("{} steps: give 1 to {}", *steps, maxSteps));
    }
    return {};
}

Result<void> checkSteps(const Variant& variant, std::optional<int> steps)
{
    const auto own = static_cast<int>(variant.steps.size());
    if (variant.beyond == Beyond::exact && steps.value_or(own) != own) {
        return failure(ErrorKind::usage,
            fmt::format("{} is a schedule of exactly {} steps; leave the number of steps out", variant.name, own));
    }
    return checkSteps(steps);
}

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
