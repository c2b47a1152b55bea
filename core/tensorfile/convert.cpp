// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace nanscope::tensorfile {

namespace {

/// An 8-bit float of 1 sign bit; `finiteOnly` formats have no infinity.
struct SmallFloat
{
    int exponentBits;
    int mantissaBits;
    int bias;
};

constexpr SmallFloat e4m3fn {4, 3, 7};
constexpr SmallFloat e4m3fnuz {4, 3, 8};
constexpr SmallFloat e5m2 {5, 2, 15};
constexpr SmallFloat e5m2fnuz {5, 2, 16};

using Table = std::array<float, 256>;

float decode(SmallFloat format, unsigned bits)
{
    const auto exponent = static_cast<int>(bits >> format.mantissaBits) & ((1 << format.exponentBits) - 1);
    const auto mantissa = static_cast<int>(bits & ((1U << format.mantissaBits) - 1));
    const int leading = exponent == 0 ? 0 : 1 << format.mantissaBits;
    const int power = std::max(exponent, 1) - format.bias - format.mantissaBits;
    const auto magnitude = std::ldexp(static_cast<float>(leading + mantissa), power);
    return (bits & 0x80U) != 0 ? -magnitude : magnitude;
}

Table tableOf(SmallFloat format)
{
    Table table {};
    for (unsigned bits = 0; bits < table.size(); ++bits) {
        table[bits] = decode(format, bits);
    }
    return table;
}

constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Table makeE4m3fn()
{
    auto table = tableOf(e4m3fn);
    table[0x7f] = table[0xff] = notANumber;
    return table;
}

Table makeE5m2()
{
    auto table = tableOf(e5m2);
    for (const unsigned sign : {0U, 0x80U}) {
        table[sign | 0x7cU] = sign == 0 ? infinity : -infinity;
        table[sign | 0x7dU] = table[sign | 0x7eU] = table[sign | 0x7fU] = notANumber;
    }
    return table;
}

Table makeUnsignedZero(SmallFloat format)
{
    auto table = tableOf(format);
    table[0x80] = notANumber; // where negative zero would be
    return table;
}

Table makeE8m0()
{
    Table table {};
    for (unsigned bits = 0; bits < table.size(); ++bits) {
        table[bits] = std::ldexp(1.0F, static_cast<int>(bits) - 127);
    }
    table[0xff] = notANumber;
    return table;
}

const Table& smallFloats(DType dtype)
{
    static const Table fn = makeE4m3fn();
    static const Table fnuz = makeUnsignedZero(e4m3fnuz);
    static const Table wide = makeE5m2();
    static const Table wideUz = makeUnsignedZero(e5m2fnuz);
    static const Table scale = makeE8m0();
    switch (dtype) {
    case DType::float8_e4m3fn:
        return fn;
    case DType::float8_e4m3fnuz:
        return fnuz;
    case DType::float8_e5m2:
        return wide;
    case DType::float8_e5m2fnuz:
        return wideUz;
    default:
        return scale;
    }
}

template <class From, class To, class Function>
void each(const std::byte* bits, std::size_t count, To* out, Function function)
{
    for (std::size_t i = 0; i < count; ++i) {
        From value;
        std::memcpy(&value, bits + i * sizeof(From), sizeof(From));
        out[i] = static_cast<To>(function(value));
    }
}

template <class From, class To>
void plain(const std::byte* bits, std::size_t count, To* out)
{
    each<From>(bits, count, out, [](From value) { return value; });
}

template <class To>
void convertAny(DType dtype, const std::byte* bits, std::size_t count, To* out)
{
    switch (dtype) {
    case DType::float64:
        return plain<double>(bits, count, out);
    case DType::float32:
        return plain<float>(bits, count, out);
    case DType::float16:
        return each<std::uint16_t>(bits, count, out, halfToFloat);
    case DType::bfloat16:
        return each<std::uint16_t>(bits, count, out, bfloat16ToFloat);
    case DType::int64:
        return plain<std::int64_t>(bits, count, out);
    case DType::int32:
        return plain<std::int32_t>(bits, count, out);
    case DType::int16:
        return plain<std::int16_t>(bits, count, out);
    case DType::int8:
        return plain<std::int8_t>(bits, count, out);
    case DType::uint64:
        return plain<std::uint64_t>(bits, count, out);
    case DType::uint32:
        return plain<std::uint32_t>(bits, count, out);
    case DType::uint16:
        return plain<std::uint16_t>(bits, count, out);
    case DType::uint8:
        return plain<std::uint8_t>(bits, count, out);
    case DType::boolean:
        return each<std::uint8_t>(bits, count, out, [](std::uint8_t value) { return value != 0 ? 1 : 0; });
    default:
        break;
    }
    const auto& table = smallFloats(dtype);
    each<std::uint8_t>(bits, count, out, [&](std::uint8_t value) { return table[value]; });
}

} // namespace

bool isReal(DType dtype)
{
    return dtype != DType::complex32 && dtype != DType::complex64 && dtype != DType::complex128;
}

double smallestNormalOf(DType dtype)
{
    switch (dtype) {
    case DType::float64:
        return 0x1p-1022;
    case DType::float32:
    case DType::bfloat16:
        return 0x1p-126;
    case DType::float16:
    case DType::float8_e5m2:
        return 0x1p-14;
    case DType::float8_e5m2fnuz:
        return 0x1p-15;
    case DType::float8_e4m3fn:
        return 0x1p-6;
    case DType::float8_e4m3fnuz:
        return 0x1p-7;
    default:
        return 0;
    }
}

void convert(DType dtype, const std::byte* bits, std::size_t count, float* out)
{
    convertAny(dtype, bits, count, out);
}

void convert(DType dtype, const std::byte* bits, std::size_t count, double* out)
{
    convertAny(dtype, bits, count, out);
}

void swapBytes(std::byte* bytes, std::size_t width, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) {
        std::reverse(bytes + i * width, bytes + (i + 1) * width);
    }
}

} // namespace nanscope::tensorfile
