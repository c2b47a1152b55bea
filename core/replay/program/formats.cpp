// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/program/formats.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/replay/program/vectorclones.h"

namespace nanscope::replay {

namespace {

constexpr std::uint32_t exponentMask = 0x7f800000U;
constexpr std::uint32_t magnitudeMask = 0x7fffffffU;

// Keeps the upper 32 - drop bits of a float, ties to even; a carry may reach the exponent and overflow to infinity,
// which is what the format does too.
template <int drop>
inline std::uint32_t roundMantissa(std::uint32_t bits)
{
    constexpr std::uint32_t half = (1U << (drop - 1)) - 1;
    const std::uint32_t rounded = (bits + half + ((bits >> drop) & 1U)) & ~((1U << drop) - 1U);
    const bool special = (bits & exponentMask) == exponentMask;
    // The quiet bit keeps a NaN whose payload lies in the dropped bits from turning into infinity.
    const std::uint32_t kept = (bits & magnitudeMask) > exponentMask ? (bits | 0x00400000U) : bits;
    return special ? kept & ~((1U << drop) - 1U) : rounded;
}

inline float toBf16(float value)
{
    return std::bit_cast<float>(roundMantissa<16>(std::bit_cast<std::uint32_t>(value)));
}

inline float toTf32(float value)
{
    return std::bit_cast<float>(roundMantissa<13>(std::bit_cast<std::uint32_t>(value)));
}

inline float toFp16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits & ~magnitudeMask;
    const std::uint32_t magnitude = bits & magnitudeMask;
    // 65520 is half-way between 65504 and what would be 65536: from there on it is infinity.
    const std::uint32_t overflow = std::bit_cast<std::uint32_t>(65520.0F);
    const std::uint32_t smallest = std::bit_cast<std::uint32_t>(0x1p-14F);
    const std::uint32_t normal = roundMantissa<13>(magnitude);
    // Around 0.5 a float's spacing is 2^-24, the spacing of fp16's subnormals: the addition does the rounding.
    const float subnormal = (std::bit_cast<float>(magnitude) + 0.5F) - 0.5F;
    std::uint32_t result = magnitude < smallest ? std::bit_cast<std::uint32_t>(subnormal) : normal;
    result = magnitude >= overflow && magnitude <= exponentMask ? exponentMask : result;
    return std::bit_cast<float>(result | sign);
}

NANSCOPE_VECTOR_CLONES void roundToBf16(float* values, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = toBf16(values[i]);
    }
}

NANSCOPE_VECTOR_CLONES void roundToTf32(float* values, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = toTf32(values[i]);
    }
}

NANSCOPE_VECTOR_CLONES void roundToFp16(float* values, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = toFp16(values[i]);
    }
}

// Rounds a double to a float such that a second rounding to fewer bits gives the correctly rounded result.
float toOddFloat(double value)
{
    const auto nearest = static_cast<float>(value);
    if (!std::isfinite(value) || static_cast<double>(nearest) == value || !std::isfinite(nearest)) {
        return nearest;
    }
    auto bits = std::bit_cast<std::uint32_t>(nearest);
    const bool away = std::abs(static_cast<double>(nearest)) > std::abs(value);
    bits -= away ? 1U : 0U;
    return std::bit_cast<float>(bits | 1U);
}

// Spacing of the format at this magnitude, subnormals included.
double spacing(Precision format, double magnitude)
{
    const int smallestExponent = format == Precision::fp64 ? -1022 : heldIn(format) == Precision::fp16 ? -14 : -126;
    const int exponent = std::max(std::ilogb(magnitude), smallestExponent);
    return std::ldexp(epsilonOf(format), exponent);
}

} // namespace

float roundTo(Precision format, float value)
{
    switch (format) {
    case Precision::bf16:
        return toBf16(value);
    case Precision::fp16:
    case Precision::fp16Acc16:
        return toFp16(value);
    case Precision::tf32:
        return toTf32(value);
    case Precision::fp32:
    case Precision::fp64:
        break;
    }
    return value;
}

void roundTo(Precision format, std::span<float> values)
{
    switch (format) {
    case Precision::bf16:
        return roundToBf16(values.data(), values.size());
    case Precision::fp16:
    case Precision::fp16Acc16:
        return roundToFp16(values.data(), values.size());
    case Precision::tf32:
        return roundToTf32(values.data(), values.size());
    case Precision::fp32:
    case Precision::fp64:
        break;
    }
}

double roundTo(Precision format, double value)
{
    if (format == Precision::fp64) {
        return value;
    }
    if (format == Precision::fp32) {
        return static_cast<double>(static_cast<float>(value));
    }
    return static_cast<double>(roundTo(format, toOddFloat(value)));
}

double stepUlps(Precision format, double value, int ulps)
{
    if (!std::isfinite(value) || value == 0 || ulps == 0) {
        return value;
    }
    return roundTo(format, value + ulps * spacing(format, std::abs(value)));
}

std::optional<Precision> precisionOf(DType dtype)
{
    switch (dtype) {
    case DType::float64:
        return Precision::fp64;
    case DType::float32:
        return Precision::fp32;
    case DType::float16:
        return Precision::fp16;
    case DType::bfloat16:
        return Precision::bf16;
    default:
        return std::nullopt;
    }
}

namespace {

template <class T>
void put(std::span<const double> values, std::byte* out, T (*bitsOf)(double))
{
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto bits = bitsOf(values[i]);
        std::memcpy(out + i * sizeof(T), &bits, sizeof(T));
    }
}

std::uint32_t singleBits(double value)
{
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

std::uint16_t bfloatBits(double value)
{
    return static_cast<std::uint16_t>(singleBits(roundTo(Precision::bf16, value)) >> 16);
}

std::uint16_t halfBits(double value)
{
    constexpr std::uint32_t infinity = 0x7c00;
    const auto sign = std::signbit(value) ? 0x8000U : 0U;
    const double magnitude = std::abs(roundTo(Precision::fp16, value));
    if (!std::isfinite(magnitude)) {
        return static_cast<std::uint16_t>(sign | infinity | (std::isnan(magnitude) ? 0x200U : 0U));
    }
    const auto bits =
        magnitude < 0x1p-14 ? static_cast<std::uint32_t>(magnitude * 0x1p24) : (singleBits(magnitude) >> 13) - 0x1c000U;
    return static_cast<std::uint16_t>(sign | bits);
}

} // namespace

void encode(DType dtype, std::span<const double> values, std::byte* out)
{
    switch (dtype) {
    case DType::float16:
        return put(values, out, halfBits);
    case DType::bfloat16:
        return put(values, out, bfloatBits);
    case DType::float32:
        return put(values, out, singleBits);
    default:
        std::memcpy(out, values.data(), values.size_bytes());
    }
}

} // namespace nanscope::replay
