// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What tests of verdicts begin with: an input without random numbers, what a variant makes of it, and tensors of both.
#pragma once

#include <cmath>
#include <cstring>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

#include "core/diagnose/identify/envelope.h"
#include "core/replay/engine/replay.h"
#include "core/replay/program/formats.h"
#include "core/replay/variants/variant.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope::test {

using Matrix = std::vector<double>;

/// Waves of several lengths: full rank, spread singular values.
inline Matrix waves(std::size_t size, double phase)
{
    Matrix values(size);
    for (std::size_t i = 0; i < size; ++i) {
        const auto x = static_cast<double>(i);
        values[i] = replay::roundTo(Precision::bf16, std::sin(1.7 * x + phase) + 0.5 * std::cos(0.013 * x * x));
    }
    return values;
}

/// Normally distributed around 0, in bf16.
inline Matrix gaussian(std::size_t size, unsigned seed, double scale = 1)
{
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal(0, scale);
    Matrix values(size);
    for (auto& x : values) {
        x = replay::roundTo(Precision::bf16, normal(generator));
    }
    return values;
}

inline diagnose::Member memberOf(std::string_view variantName)
{
    const auto* variant = replay::builtInVariant(variantName);
    return {variant, variant->precision};
}

/// In the variant's own format and lowering, with an epsilon of 1e-8, as a dump in fp32 holds it.
inline Matrix healthyOutput(std::string_view variantName, const Matrix& input, std::int64_t rows, std::int64_t cols)
{
    const auto& variant = *replay::builtInVariant(variantName);
    const auto device = replay::makeEigenDevice(1);
    replay::ReplayOptions options;
    options.precision = variant.precision;
    options.rounding.lowering = variant.lowering;
    options.epsilon = 1e-8;
    options.keepOutput = true;
    auto output = replay::replay(variant, {1, rows, cols}, input, *device, options)->outputs[0].doubles();
    for (auto& value : output) {
        value = static_cast<float>(value);
    }
    return output;
}

inline tensorfile::TensorToWrite floatTensor(const std::vector<Matrix>& batches, std::int64_t rows, std::int64_t cols)
{
    tensorfile::TensorToWrite tensor;
    tensor.shape = {static_cast<std::int64_t>(batches.size()), rows, cols};
    for (const auto& batch : batches) {
        for (const double x : batch) {
            const auto value = static_cast<float>(x);
            std::byte bytes[sizeof value];
            std::memcpy(bytes, &value, sizeof value);
            tensor.bytes.insert(tensor.bytes.end(), std::begin(bytes), std::end(bytes));
        }
    }
    return tensor;
}

/// Large enough for every rule, and quick to replay.
constexpr std::int64_t smallRows = 16;
constexpr std::int64_t smallCols = 24;
constexpr std::size_t smallSize = smallRows * smallCols;

inline Matrix smallWaves(double phase = 0)
{
    return waves(smallSize, phase);
}

inline Matrix smallOutput(std::string_view variant, const Matrix& input)
{
    return healthyOutput(variant, input, smallRows, smallCols);
}

inline tensorfile::TensorToWrite smallTensor(const std::vector<Matrix>& batches)
{
    return floatTensor(batches, smallRows, smallCols);
}

} // namespace nanscope::test
