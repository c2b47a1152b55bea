// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/shards/blocks.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope::shards {

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

/// Writes values that such a type holds exactly, in native byte order.
void encode(DType dtype, std::span<const double> values, std::byte* out);

} // namespace nanscope::shards
