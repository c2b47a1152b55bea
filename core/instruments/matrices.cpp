// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/matrices.h"

#include <algorithm>
#include <utility>

#include "core/base/try.h"
#include "core/replay/program/formats.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::instruments {

namespace {

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
    result.bytes.resize(values.size() * sizeOf(dtype));
    replay::encode(dtype, values, result.bytes.data());
    return result;
}

bool isPackable(DType dtype)
{
    return replay::precisionOf(dtype).has_value();
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
        auto bits = TRY(tensor.readBits(batch));
        result.bytes.insert(result.bytes.end(), bits.begin(), bits.end());
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
