// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/reduction.h"

#include <algorithm>

namespace nanscope::instruments {

namespace {

std::size_t offsetOf(const MatrixShape& shape, std::int64_t batch, std::int64_t row, std::int64_t col, DType dtype)
{
    return static_cast<std::size_t>((batch * shape.rows + row) * shape.cols + col) * sizeOf(dtype);
}

} // namespace

Matrices cutOut(const Matrices& from, const Cut& cut)
{
    const auto shape = from.matrices();
    Matrices result {from.dtype, from.shape, {}, {}};
    if (result.shape.size() > 2) {
        result.shape = {static_cast<std::int64_t>(cut.batches.size()), cut.rows, cut.cols};
    } else if (result.shape.size() == 2) {
        result.shape = {cut.rows, cut.cols};
    } else {
        result.shape = {cut.cols};
    }
    const auto width = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(cut.cols) * sizeOf(from.dtype));
    for (const auto batch : cut.batches) {
        for (auto row = cut.row; row < cut.row + cut.rows; ++row) {
            const auto begin =
                from.bytes.begin() + static_cast<std::ptrdiff_t>(offsetOf(shape, batch, row, cut.col, from.dtype));
            result.bytes.insert(result.bytes.end(), begin, begin + width);
        }
    }
    return result;
}

bool isZeroIn(const Matrices& matrices, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols)
{
    const auto shape = matrices.matrices();
    const auto width = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(cols) * sizeOf(matrices.dtype));
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
        for (auto at = row; at < row + rows; ++at) {
            const auto begin =
                matrices.bytes.begin() + static_cast<std::ptrdiff_t>(offsetOf(shape, batch, at, col, matrices.dtype));
            if (std::any_of(begin, begin + width, [](std::byte byte) { return byte != std::byte {0}; })) {
                return false;
            }
        }
    }
    return true;
}

Matrices withZeros(const Matrices& from, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols)
{
    auto result = from;
    const auto shape = from.matrices();
    const auto width = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(cols) * sizeOf(from.dtype));
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
        for (auto at = row; at < row + rows; ++at) {
            const auto begin =
                result.bytes.begin() + static_cast<std::ptrdiff_t>(offsetOf(shape, batch, at, col, from.dtype));
            std::fill(begin, begin + width, std::byte {0});
        }
    }
    return result;
}

std::int64_t nonZeroIn(const Matrices& matrices)
{
    const auto values = valuesOf(matrices);
    return std::ranges::count_if(values, [](double value) { return value != 0; });
}

} // namespace nanscope::instruments
