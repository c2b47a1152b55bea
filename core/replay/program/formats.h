// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/model/dtype.h"

namespace nanscope::replay {

/// Rounds each element to the format, to nearest and ties to even: subnormals kept, overflow to infinity, NaN stays
/// NaN. fp32 and fp64 leave floats as they are.
void roundTo(Precision format, std::span<float> values);
float roundTo(Precision format, float value);

/// A double rounded once to the format (through fp32 only where that is exact enough not to round twice).
double roundTo(Precision format, double value);

/// The number `ulps` representable steps of the format away, towards +infinity for positive counts. NaN, infinities
/// and zero stay as they are.
double stepUlps(Precision format, double value, int ulps);

/// The format of a tensor's type; none of types that are no format of a replay.
std::optional<Precision> precisionOf(DType dtype);

/// Writes numbers, each rounded once to nearest, as elements of a type that has a format, in native byte order.
void encode(DType dtype, std::span<const double> values, std::byte* out);

} // namespace nanscope::replay
