// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/matrices.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/replay/program/formats.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::instruments {

namespace {

template <class T>
void append(std::vector<std::byte>& bytes, T value)
{
    const auto at = bytes.size();
    bytes.resize(at + sizeof(T));
    std::memcpy(bytes.data() + at, &value, sizeof(T));
}

std::uint16_t bfloatBits(double value)
{
    const auto rounded = static_cast<float>(replay::roundTo(Precision::bf16, value));
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded) >> 16U);
}

std::uint16_t halfBits(double value)
{
    const double rounded = std::abs(replay::roundTo(Precision::fp16, value));
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    std::uint16_t magnitude = 0x7e00;
    if (std::isinf(rounded)) {
        magnitude = 0x7c00;
    } else if (rounded < 0x1p-14) {
        magnitude = static_cast<std::uint16_t>(rounded * 0x1p24);
    } else if (!std::isnan(rounded)) {
        const int exponent = std::ilogb(rounded);
        const auto mantissa = static_cast<unsigned>(std::ldexp(rounded, 10 - exponent)) & 0x3ffU;
        magnitude = static_cast<std::uint16_t>(static_cast<unsigned>(exponent + 15) << 10U | mantissa);
    }
    return sign | magnitude;
}

void appendAs(DType dtype, std::vector<std::byte>& bytes, double value)
{
    switch (dtype) {
    case DType::float32:
        return append(bytes, static_cast<float>(value));
    case DType::bfloat16:
        return append(bytes, bfloatBits(value));
    case DType::float16:
        return append(bytes, halfBits(value));
    default:
        return append(bytes, value);
    }
}

/// Dense in some order of its dimensions: what torch.empty_strided() makes without gaps or elements that share a place.
bool isDense(const Shape& shape, const Shape& strides)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] > 1) {
            dimensions.emplace_back(strides[i], shape[i]);
        }
    }
    std::sort(dimensions.begin(), dimensions.end());
    std::int64_t expected = 1;
    return std::all_of(dimensions.begin(), dimensions.end(),
        [&](const auto& dimension) { return dimension.first == std::exchange(expected, expected * dimension.second); });
}

Shape shapeOf(const tensorfile::Tensor& tensor, std::int64_t count)
{
    auto shape = tensor.shape();
    if (shape.size() > 2 && count != tensor.matrices().batch) {
        const auto rows = shape[shape.size() - 2];
        const auto cols = shape.back();
        shape = {count, rows, cols};
    }
    return shape;
}

} // namespace

std::vector<double> valuesOf(const Matrices& matrices)
{
    std::vector<double> values(matrices.bytes.size() / sizeOf(matrices.dtype));
    tensorfile::convert(matrices.dtype, matrices.bytes.data(), values.size(), values.data());
    return values;
}

Matrices packed(DType dtype, Shape shape, std::span<const double> values)
{
    Matrices result {dtype, std::move(shape), {}, {}};
    result.bytes.reserve(values.size() * sizeOf(dtype));
    for (const double value : values) {
        appendAs(dtype, result.bytes, value);
    }
    return result;
}

bool isPackable(DType dtype)
{
    return dtype == DType::float64 || dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16;
}

std::string hashOf(const Matrices& matrices)
{
    tensorfile::ContentHash hash;
    hash.add(torchName(matrices.dtype));
    for (const auto extent : matrices.shape) {
        hash.add(static_cast<std::uint64_t>(extent));
    }
    hash.add(std::span<const std::byte>(matrices.bytes));
    return hash.hex();
}

Result<Matrices> readMatrices(const tensorfile::Tensor& tensor, std::int64_t first, std::int64_t count)
{
    Matrices result {tensor.dtype(), shapeOf(tensor, count), {}, {}};
    for (auto batch = first; batch < first + count; ++batch) {
        auto bits = tensor.readBits(batch);
        if (!bits) {
            return tl::make_unexpected(bits.error());
        }
        result.bytes.insert(result.bytes.end(), bits->begin(), bits->end());
    }
    if (!isPackable(result.dtype)) {
        return packed(DType::float32, result.shape, valuesOf(result));
    }
    if (!tensor.contiguous() && result.shape == tensor.shape() && isDense(tensor.shape(), tensor.strides())) {
        result.strides = tensor.strides();
    }
    return result;
}

} // namespace nanscope::instruments
