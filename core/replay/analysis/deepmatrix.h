// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the deep gauges (deep.h). Matrices are finite, row-major and square where only `size` is given; a
// ratio whose denominator is 0 or out of range is none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/replay/program/program.h"

namespace nanscope::replay {

/// ||matrix||_F, also where squares would leave the range.
double frobeniusOf(std::span<const double> matrix);

/// ||R - R^T||_F / ||R||_F.
std::optional<double> symmetryErrorOf(std::span<const double> matrix, std::int64_t size);

/// ||A B - B A||_F / (||A||_F ||B||_F).
std::optional<double> commutatorOf(std::span<const double> a, std::span<const double> b, std::int64_t size);

/// Q X or X Q as the program multiplies them, with X and the result in the capture's own orientation.
std::vector<double> timesQ(const Program& program, std::span<const double> q, std::span<const double> x);

} // namespace nanscope::replay
