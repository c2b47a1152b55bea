// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/tensorfile/convert.h"
#include "core/tensorfile/scan/scankernels.h"
#include "core/tensorfile/scan/scantensor.h"
#include "core/tensorfile/tensorstream.h"

namespace nanscope::tensorfile {

namespace {

std::int32_t orderOf(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::int32_t>(bits ^ ((bits >> 31) * 0x7fffffffU));
}

float fromOrder(std::int32_t order)
{
    const auto bits = static_cast<std::uint32_t>(order);
    return std::bit_cast<float>(bits ^ ((bits >> 31) * 0x7fffffffU)) + 0.0F; // no negative zero
}

float clampToFloat(double value)
{
    constexpr double largest = std::numeric_limits<float>::max();
    return static_cast<float>(std::clamp(value, -largest, largest));
}

std::uint32_t classOf(double value, double smallest)
{
    if (std::isnan(value)) {
        return classNan;
    }
    if (std::isinf(value)) {
        return value > 0 ? classPosInf : classNegInf;
    }
    if (value == 0) {
        return classZero;
    }
    return std::abs(value) < smallest ? classSubnormal : classNormal;
}

void gather(const float* values, std::int64_t count, double smallest, TileSums& sums)
{
    scanKernels().tile(reinterpret_cast<const std::uint32_t*>(values), static_cast<std::size_t>(count),
        std::bit_cast<std::uint32_t>(static_cast<float>(smallest)), sums);
}

void gather(const double* values, std::int64_t count, double smallest, TileSums& sums)
{
    for (std::int64_t i = 0; i < count; ++i) {
        sums.classes |= classOf(values[i], smallest);
        if (std::isfinite(values[i])) {
            const auto value = clampToFloat(values[i]);
            sums.low = std::min(sums.low, orderOf(value));
            sums.high = std::max(sums.high, orderOf(value));
            sums.largest = std::max(sums.largest, std::bit_cast<std::uint32_t>(std::abs(value)));
        }
    }
}

/// Tiles of a rows x cols matrix that is fed line by line, lines being columns where `transposed`.
class TileBuilder
{
public:
    TileBuilder(std::int64_t rows, std::int64_t cols, bool transposed, double smallest)
        : m_transposed(transposed)
        , m_smallest(smallest)
    {
        m_map.rows = rows;
        m_map.cols = cols;
        m_map.tileRows = std::max<std::int64_t>((rows + maxTiles - 1) / maxTiles, 1);
        m_map.tileCols = std::max<std::int64_t>((cols + maxTiles - 1) / maxTiles, 1);
        m_map.height = static_cast<std::int32_t>((rows + m_map.tileRows - 1) / m_map.tileRows);
        m_map.width = static_cast<std::int32_t>((cols + m_map.tileCols - 1) / m_map.tileCols);
        m_sums.resize(static_cast<std::size_t>(m_map.height) * static_cast<std::size_t>(m_map.width));
    }

    template <class T>
    void addLine(const T* values, std::int64_t line, std::int64_t firstPosition, std::int64_t positions)
    {
        const auto step = m_transposed ? m_map.tileRows : m_map.tileCols;
        const auto end = firstPosition + positions;
        for (auto at = firstPosition; at < end;) {
            const auto next = std::min((at / step + 1) * step, end);
            gather(values + (at - firstPosition), next - at, m_smallest, tileAt(line, at));
            at = next;
        }
    }

    TileMap finish()
    {
        for (const auto& sums : m_sums) {
            const bool any = sums.low <= sums.high;
            m_map.min.push_back(any ? fromOrder(sums.low) : 0.0F);
            m_map.max.push_back(any ? fromOrder(sums.high) : 0.0F);
            m_map.absmax.push_back(std::bit_cast<float>(sums.largest));
            m_map.classes.push_back(static_cast<std::uint8_t>(sums.classes));
        }
        return std::move(m_map);
    }

private:
    TileSums& tileAt(std::int64_t line, std::int64_t position)
    {
        const auto row = (m_transposed ? position : line) / m_map.tileRows;
        const auto col = (m_transposed ? line : position) / m_map.tileCols;
        return m_sums[static_cast<std::size_t>(row * m_map.width + col)];
    }

    bool m_transposed;
    double m_smallest;
    TileMap m_map;
    std::vector<TileSums> m_sums;
};

template <class T>
TileMap tileMemory(std::span<const T> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallest)
{
    TileBuilder builder(transposed ? cols : rows, transposed ? rows : cols, transposed, smallest);
    for (std::int64_t line = 0; line < rows; ++line) {
        builder.addLine(data.data() + line * cols, line, 0, cols);
    }
    return builder.finish();
}

template <class T>
Result<TileMap> tileStream(TensorStream& stream, const Tensor& tensor, std::int64_t batch)
{
    const auto shape = tensor.matrices();
    TileBuilder builder(shape.rows, shape.cols, stream.transposed(), smallestNormalOf(tensor.dtype()));
    std::vector<T> values;
    const auto read = stream.matrix(batch, [&](const TensorBlock& block) {
        values.resize(block.elements());
        convert(tensor.dtype(), block.bits, block.elements(), values.data());
        for (std::int64_t line = 0; line < block.lines; ++line) {
            builder.addLine(
                values.data() + line * block.positions, block.firstLine + line, block.firstPosition, block.positions);
        }
    });
    return read.map([&] { return builder.finish(); });
}

bool fitsFloat(DType dtype)
{
    return isFloating(dtype) && dtype != DType::float64;
}

} // namespace

TileMap tileMatrix(
    std::span<const float> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal)
{
    return tileMemory(data, rows, cols, transposed, smallestNormal);
}

TileMap tileMatrix(
    std::span<const double> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal)
{
    return tileMemory(data, rows, cols, transposed, smallestNormal);
}

Result<TileMap> tileTensor(const Tensor& tensor, std::int64_t batch)
{
    if (!isReal(tensor.dtype())) {
        return failure(
            ErrorKind::unsupported, "The tensor holds complex numbers, which a tile map cannot show", pathOf(tensor));
    }
    auto stream = TensorStream::open(tensor);
    if (!stream) {
        return tl::make_unexpected(stream.error());
    }
    return fitsFloat(tensor.dtype()) ? tileStream<float>(*stream, tensor, batch)
                                     : tileStream<double>(*stream, tensor, batch);
}

} // namespace nanscope::tensorfile
