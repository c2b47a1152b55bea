// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What a variant does to a matrix, as far as it follows from its singular values: how near a replay can come to the
// limits of its schedule, and the result but for roundings.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/replay/variants/variant.h"

namespace nanscope::replay {

/// What a forecast is made from.
struct InputSize
{
    double absmax = 0;
    double frobenius = 0;
    bool square = false; ///< as many rows as columns
};

struct Forecast
{
    /// As of slackOfSchedule(), of any matrix whose singular values are at most 1. Nothing for a Gram form, whose R may
    /// sink to its own rounding noise: a replay of the same steps tells.
    std::optional<double> slackPercent;
    double largest = 0; ///< no magnitude that lives in the compute format exceeds it
};

/// True where the steps are taken in a Gram form: some variants take the standard one for square matrices.
bool isGramForm(const Variant& variant, bool square);

/// True where all that the variant does to a matrix is done to its singular values alone: no scaling of rows.
bool actsOnValuesAlone(const Variant& variant);

/// The denominator that the variant divides a matrix of this Frobenius norm by. `epsilon` is the capture's.
double denominatorOf(const Variant& variant, double frobenius, std::optional<double> epsilon);

/// p(s) / s of the whole schedule at s = value / denominator, over the denominator: what each singular value is
/// multiplied by.
std::vector<double> gainsOf(const Variant& variant, std::span<const double> values, double denominator);

/// Nothing where the input or its norm leaves the normal range of the format, or where it is not the Frobenius norm
/// that brings the singular values to 1. `epsilon` is the capture's.
std::optional<Forecast> forecast(
    const Variant& variant, Precision precision, const InputSize& input, std::optional<double> epsilon);

} // namespace nanscope::replay
