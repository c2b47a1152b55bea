// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/instruments/matrices.h"

namespace nanscope::instruments {

/// A rectangle of some matrices of a batch.
struct Cut
{
    std::vector<std::int64_t> batches;
    std::int64_t row = 0;
    std::int64_t rows = 0;
    std::int64_t col = 0;
    std::int64_t cols = 0;
};

/// As many dimensions as before; row-major, whatever the strides were.
Matrices cutOut(const Matrices& from, const Cut& cut);

/// Bit for bit: a negative zero is something that can be left out.
bool isZeroIn(const Matrices& matrices, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols);

/// The same with a rectangle of every matrix set to zero.
Matrices withZeros(const Matrices& from, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols);

std::int64_t nonZeroIn(const Matrices& matrices);

} // namespace nanscope::instruments
