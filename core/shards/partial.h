// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/capture.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope::shards {

/// A rectangle of one matrix of a batch.
struct Block
{
    std::int64_t batch = 0;
    std::int64_t row = 0;
    std::int64_t rows = 0;
    std::int64_t col = 0;
    std::int64_t cols = 0;

    std::int64_t elements() const { return rows * cols; }
};

/// Calls `visit(block)` for blocks of at most a quarter of a million elements, in row-major order, until it returns an
/// error.
template <class Visit>
Result<void> eachBlock(const MatrixShape& shape, Visit visit)
{
    constexpr std::int64_t most = std::int64_t {1} << 18;
    const auto cols = std::clamp<std::int64_t>(shape.cols, 1, most);
    const auto rows = std::max<std::int64_t>(most / cols, 1);
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
        for (std::int64_t row = 0; row < shape.rows; row += rows) {
            for (std::int64_t col = 0; col < shape.cols; col += cols) {
                auto done =
                    visit(Block {batch, row, std::min(rows, shape.rows - row), col, std::min(cols, shape.cols - col)});
                if (!done) {
                    return done;
                }
            }
        }
    }
    return {};
}

enum class Reduction : std::uint8_t { sum, average, largest, smallest };

/// None for what is not computed here: products, bitwise operations, masked sums, norms.
std::optional<Reduction> parseReduction(std::string_view name);

bool canReduce(DType dtype);

/// A wider type to add in, where there is one.
std::optional<DType> widerType(DType dtype);

/// The same elements of all parts of a Partial, reduced. A NaN in any part is a NaN in the result, also of max and min.
struct ReducedBlock
{
    std::vector<double> own; ///< every step rounded to the parts' type, in their order
    std::vector<double> wide; ///< every step rounded to the wider type; empty where there is none
    std::vector<std::uint8_t> finite; ///< 1 where every part is
};

Result<ReducedBlock> reduceBlock(std::span<const tensorfile::Tensor> parts, Reduction reduction, const Block& block);

/// Rounds to a type that canReduce().
double roundTo(DType dtype, double value);

} // namespace nanscope::shards
