// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/scan/scantensor.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "core/tensorfile/scan/matrixscan.h"
#include "core/tensorfile/scan/scanstream.h"
#include "core/tensorfile/tensorstream.h"

namespace nanscope::tensorfile {

namespace {

// A scan takes fifty times the room of a 1x1 matrix in a file.
constexpr std::int64_t mostMatrices = 65536;

template <class Format>
typename Format::Bits bitsBelow(double smallest)
{
    if constexpr (std::is_same_v<Format, DoubleBits>) {
        return std::bit_cast<std::uint64_t>(smallest);
    } else {
        return std::bit_cast<std::uint32_t>(static_cast<float>(smallest));
    }
}

template <>
std::uint16_t bitsBelow<BfloatBits>(double)
{
    return 0x0080;
}

template <>
std::uint16_t bitsBelow<HalfBits>(double)
{
    return 0x0400;
}

/// Types without a kernel of their own are scanned as doubles, which hold their values and classes.
template <class Format>
struct AsStored
{
    static const typename Format::Bits* bits(DType, const TensorBlock& block, std::vector<double>&)
    {
        return reinterpret_cast<const typename Format::Bits*>(block.bits);
    }
};

struct AsDouble
{
    static const std::uint64_t* bits(DType dtype, const TensorBlock& block, std::vector<double>& values)
    {
        values.resize(block.elements());
        convert(dtype, block.bits, block.elements(), values.data());
        return reinterpret_cast<const std::uint64_t*>(values.data());
    }
};

template <class Format, class View = AsStored<Format>>
Result<Scan> scanOne(TensorStream& stream, const Tensor& tensor, std::int64_t batch)
{
    const auto shape = tensor.matrices();
    const bool transposed = stream.transposed();
    MatrixScan<Format> scan(transposed ? shape.cols : shape.rows, transposed ? shape.rows : shape.cols, transposed,
        bitsBelow<Format>(smallestNormalOf(tensor.dtype())));
    std::vector<double> values;
    const auto read = stream.matrix(batch, [&](const TensorBlock& block) {
        scan.add(View::bits(tensor.dtype(), block, values), block.firstLine, block.lines, block.firstPosition,
            block.positions);
    });
    return read.map([&] { return scan.finish(); });
}

Result<Scan> scanBatch(TensorStream& stream, const Tensor& tensor, std::int64_t batch)
{
    switch (tensor.dtype()) {
    case DType::bfloat16:
        return scanOne<BfloatBits>(stream, tensor, batch);
    case DType::float16:
        return scanOne<HalfBits>(stream, tensor, batch);
    case DType::float32:
        return scanOne<SingleBits>(stream, tensor, batch);
    case DType::float64:
        return scanOne<DoubleBits>(stream, tensor, batch);
    default:
        return scanOne<DoubleBits, AsDouble>(stream, tensor, batch);
    }
}

template <class Format, class T>
Scan scanMemory(std::span<const T> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallest)
{
    MatrixScan<Format> scan(rows, cols, transposed, bitsBelow<Format>(smallest));
    if (rows > 0 && cols > 0) {
        scan.add(reinterpret_cast<const typename Format::Bits*>(data.data()), 0, rows, 0, cols);
    }
    return scan.finish();
}

} // namespace

Result<ScannedTensor> scanVerifying(const Tensor& tensor, std::shared_ptr<const platform::FileReader> file)
{
    if (!isReal(tensor.dtype())) {
        return failure(
            ErrorKind::unsupported, "The tensor holds complex numbers, which cannot be scanned", pathOf(tensor));
    }
    const auto batches = tensor.matrices().batch;
    if (batches > mostMatrices) {
        return failure(ErrorKind::refused,
            "The tensor is a batch of more than 65,536 matrices, which no optimizer makes", pathOf(tensor));
    }
    auto stream = TensorStream::open(tensor, std::move(file));
    if (!stream) {
        return tl::make_unexpected(stream.error());
    }
    ScannedTensor result;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
        auto scan = scanBatch(*stream, tensor, batch);
        if (!scan) {
            return tl::make_unexpected(scan.error());
        }
        result.batches.push_back(*scan);
    }
    if (stream->readsWholeStorage()) {
        result.checksumMatches = stream->crc() == *tensor.source()->find(tensor.storageKey())->crc;
    }
    return result;
}

Result<std::vector<Scan>> scanTensor(const Tensor& tensor)
{
    return scanVerifying(tensor).map([](ScannedTensor scanned) { return std::move(scanned.batches); });
}

Scan scanMatrix(
    std::span<const float> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal)
{
    return scanMemory<SingleBits>(data, rows, cols, transposed, smallestNormal);
}

Scan scanMatrix(
    std::span<const double> data, std::int64_t rows, std::int64_t cols, bool transposed, double smallestNormal)
{
    return scanMemory<DoubleBits>(data, rows, cols, transposed, smallestNormal);
}

double smallestNormal(Precision precision)
{
    switch (precision) {
    case Precision::fp64:
        return 0x1p-1022;
    case Precision::fp16:
        return 0x1p-14;
    case Precision::fp32:
    case Precision::tf32:
    case Precision::bf16:
        break;
    }
    return 0x1p-126;
}

} // namespace nanscope::tensorfile
