// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/forecast.h"

#include <algorithm>
#include <cmath>

#include "core/replay/variants/variant.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::replay {

namespace {

// Squares of smaller elements vanish in fp32, those of larger ones overflow in the sum.
constexpr double squaresFrom = 1e-15;
constexpr double squaresTo = 1e18;

double smallestSubnormal(Precision precision)
{
    return tensorfile::smallestNormal(precision) * epsilonOf(precision);
}

/// Its elements keep about the relative precision of the format.
bool staysNormal(double absmax, Precision precision)
{
    constexpr double above = 0x1p12;
    return absmax >= above * smallestSubnormal(precision);
}

/// Bound on all that one step of the standard form computes from ||X||_2 = s.
double largestOfStep(const Coefficients& step, double s)
{
    const auto& [a, b, c] = step;
    const double square = s * s;
    const double polynomial = std::abs(b) * square + std::max(1.0, std::abs(c)) * square * square;
    return std::max(square, std::abs(a) * s + std::max(1.0, s) * polynomial);
}

} // namespace

bool isGramForm(const Variant& variant, bool square)
{
    const bool form = variant.form == Form::gram || variant.form == Form::gramFromLeft;
    return form && !(square && variant.squareUsesStandard);
}

bool actsOnValuesAlone(const Variant& variant)
{
    return variant.normalization == Normalization::frobenius && !variant.equalizeRows && !variant.rescaleOutput;
}

double denominatorOf(const Variant& variant, double frobenius, std::optional<double> epsilon)
{
    const double used = variant.ignoresCallerEpsilon ? variant.epsilon : epsilon.value_or(variant.epsilon);
    const double norm = frobenius * variant.normFactor;
    return variant.epsilonRule == EpsilonRule::clamp ? std::max(norm, used) : norm + used;
}

std::vector<double> gainsOf(const Variant& variant, std::span<const double> values, double denominator)
{
    std::vector<double> gains;
    for (const double value : values) {
        double s = value / denominator;
        double gain = 1 / denominator;
        for (const auto& [a, b, c] : variant.steps) {
            const double factor = a + s * s * (b + s * s * c);
            gain *= factor;
            s *= factor;
        }
        gains.push_back(gain);
    }
    return gains;
}

std::optional<Forecast> forecast(
    const Variant& variant, Precision precision, const InputSize& input, std::optional<double> epsilon)
{
    // What sums in fp16 lose depends on how many products there are, which no spectrum tells.
    if (precision == Precision::fp16Acc16) {
        return std::nullopt;
    }
    const bool castsFirst = variant.castOrder == CastOrder::castFirst;
    const double denominator = denominatorOf(variant, input.frobenius, epsilon);
    const bool inRange = input.absmax >= squaresFrom && input.frobenius <= squaresTo
        && (!castsFirst || staysNormal(input.absmax, precision)) && staysNormal(input.absmax / denominator, precision)
        && denominator >= input.frobenius;
    if (!inRange || variant.normalization != Normalization::frobenius) {
        return std::nullopt;
    }
    Forecast forecast;
    if (!isGramForm(variant, input.square)) {
        forecast.slackPercent = slackOfSchedule(variant.steps);
    }
    forecast.largest = castsFirst ? std::max(input.frobenius, input.absmax) : 0;
    const auto largest = largestOnEntry(variant.steps);
    for (std::size_t k = 0; k < largest.size(); ++k) {
        forecast.largest = std::max(forecast.largest, largestOfStep(variant.steps[k], largest[k]));
    }
    return forecast;
}

} // namespace nanscope::replay
