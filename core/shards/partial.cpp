// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/shards/partial.h"

#include <array>
#include <cmath>
#include <limits>

#include "core/base/try.h"
#include "core/replay/program/formats.h"

namespace nanscope::shards {

namespace {

struct ReductionName
{
    std::string_view name;
    Reduction reduction;
};

constexpr std::array reductions {
    ReductionName {"sum", Reduction::sum},
    ReductionName {"avg", Reduction::average},
    ReductionName {"max", Reduction::largest},
    ReductionName {"min", Reduction::smallest},
};

bool adds(Reduction reduction)
{
    return reduction == Reduction::sum || reduction == Reduction::average;
}

double combined(Reduction reduction, double a, double b)
{
    if (adds(reduction)) {
        return a + b;
    }
    if (std::isnan(a) || std::isnan(b)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return reduction == Reduction::largest ? std::max(a, b) : std::min(a, b);
}

/// Adds a part to what is there; the sum of two numbers of a type is exact enough in a double to be rounded once.
void addPart(std::vector<double>& sums, std::span<const double> part, Reduction reduction, DType dtype, bool first)
{
    for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] = first ? part[i] : roundTo(dtype, combined(reduction, sums[i], part[i]));
    }
}

void divide(std::vector<double>& sums, std::size_t parts, DType dtype)
{
    for (auto& sum : sums) {
        sum = roundTo(dtype, sum / static_cast<double>(parts));
    }
}

} // namespace

std::optional<Reduction> parseReduction(std::string_view name)
{
    for (const auto& entry : reductions) {
        if (entry.name == name) {
            return entry.reduction;
        }
    }
    return std::nullopt;
}

bool canReduce(DType dtype)
{
    return replay::precisionOf(dtype).has_value();
}

std::optional<DType> widerType(DType dtype)
{
    switch (dtype) {
    case DType::float16:
    case DType::bfloat16:
        return DType::float32;
    case DType::float32:
        return DType::float64;
    default:
        return std::nullopt;
    }
}

double roundTo(DType dtype, double value)
{
    return replay::roundTo(replay::precisionOf(dtype).value_or(Precision::fp64), value);
}

Result<ReducedBlock> reduceBlock(std::span<const tensorfile::Tensor> parts, Reduction reduction, const Block& block)
{
    const auto dtype = parts.front().dtype();
    const auto wider = adds(reduction) ? widerType(dtype) : std::nullopt;
    const auto count = static_cast<std::size_t>(block.elements());
    ReducedBlock result;
    result.own.resize(count);
    result.wide.resize(wider ? count : 0);
    result.finite.assign(count, 1);
    std::vector<double> values(count);
    for (const auto& tensor : parts) {
        const auto part = tensor.part(block.batch, block.row, block.rows, block.col, block.cols);
        TRY(part.read(0, std::span<double>(values)));
        const bool first = &tensor == parts.data();
        addPart(result.own, values, reduction, dtype, first);
        addPart(result.wide, values, reduction, wider.value_or(dtype), first);
        for (std::size_t i = 0; i < count; ++i) {
            result.finite[i] &= std::isfinite(values[i]) ? 1 : 0;
        }
    }
    if (reduction == Reduction::average) {
        divide(result.own, parts.size(), dtype);
        divide(result.wide, parts.size(), wider.value_or(dtype));
    }
    return result;
}

} // namespace nanscope::shards
