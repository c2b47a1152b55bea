// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/scaleplace.h"

#include <cmath>

namespace nanscope::instruments {

namespace {

/// What rounds to Inf, what rounds to zero, and what does once it is squared (1.8447e19 in fp32).
constexpr FormatPlace places[] {
    {false, 65520, "the largest element rounds to Inf in fp16"},
    {false, 0x1p-25, "the largest element rounds to zero in fp16"},
    {false, 0x1p-75, "the square of the largest element rounds to zero in fp32"},
    {false, 0x1p-134, "the largest element rounds to zero in bf16"},
    {false, 0x1p-150, "the largest element rounds to zero in fp32"},
    {true, 65520, "the norm rounds to Inf in fp16"},
    {true, 0x1p64, "the square of the norm overflows fp32"},
};

constexpr double fp16Underflow = 0x1p-25;

/// How far the edge lies from a place, relative; nothing where it lies elsewhere.
std::optional<double> distance(const ScaleEdge& edge, const FormatPlace& place)
{
    const double outside = place.ofNorm ? edge.frobenius : edge.absmax;
    const double away = std::abs(outside / place.value - 1);
    return away <= edge.width() + closedFormWidth ? std::optional(away) : std::nullopt;
}

} // namespace

std::span<const FormatPlace> formatPlaces()
{
    return places;
}

std::string_view closedFormOf(const ScaleEdge& edge, std::optional<double> epsilon)
{
    constexpr double farthest = 0.01; // an edge that is known no better could be any of them
    if (edge.width() > farthest) {
        return {};
    }
    std::optional<double> least;
    std::string_view words;
    const auto consider = [&](const FormatPlace& place) {
        const auto away = distance(edge, place);
        if (away && (!least || *away < *least)) {
            least = away;
            words = place.words;
        }
    };
    for (const auto& place : places) {
        consider(place);
    }
    if (epsilon && *epsilon > 0) {
        consider({false, fp16Underflow * *epsilon, "the largest element over epsilon rounds to zero in fp16"});
    }
    return words;
}

} // namespace nanscope::instruments
