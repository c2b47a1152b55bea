// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/model/dtype.h"

namespace nanscope::tensorfile {

/// Exact, NaN payloads kept.
inline float bfloat16ToFloat(std::uint16_t bits)
{
    return std::bit_cast<float>(std::uint32_t {bits} << 16);
}

inline float halfToFloat(std::uint16_t bits)
{
    const std::uint32_t sign = std::uint32_t {bits & 0x8000U} << 16;
    const std::uint32_t magnitude = bits & 0x7fffU;
    const std::uint32_t normal = (magnitude << 13) + 0x38000000U;
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
    const std::uint32_t special = (magnitude << 13) | 0x7f800000U;
    const std::uint32_t value = magnitude >= 0x7c00U ? special : magnitude < 0x400U ? subnormal : normal;
    return std::bit_cast<float>(sign | value);
}

/// False for complex numbers, which have no place in a matrix of reals.
bool isReal(DType dtype);

/// Smallest normal magnitude of a stored type; 0 where it has no subnormals.
double smallestNormalOf(DType dtype);

/// Converts `count` elements in native byte order. Exact but for float64 to float and integers beyond the
/// mantissa, which are rounded to nearest. `dtype` must be real.
void convert(DType dtype, const std::byte* bits, std::size_t count, float* out);
void convert(DType dtype, const std::byte* bits, std::size_t count, double* out);

/// Reverses the bytes of each of `count` numbers.
void swapBytes(std::byte* bytes, std::size_t width, std::size_t count);

} // namespace nanscope::tensorfile
