// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/base/bytes.h"
#include "core/base/try.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/tensorfile.h"
#include "core/tensorfile/tensorsource.h"
#include "core/tensorfile/tensorstream.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::tensorfile {

namespace {

/// Puts a dense block of lines where it belongs in a row-major matrix.
template <class T>
void place(const TensorBlock& block, const T* values, bool transposed, std::int64_t cols, T* matrix)
{
    for (std::int64_t line = 0; line < block.lines; ++line) {
        const auto* const from = values + line * block.positions;
        const auto at = block.firstLine + line;
        if (!transposed) {
            std::copy_n(from, block.positions, matrix + at * cols + block.firstPosition);
            continue;
        }
        for (std::int64_t position = 0; position < block.positions; ++position) {
            matrix[(block.firstPosition + position) * cols + at] = from[position];
        }
    }
}

template <class T>
Result<void> readMatrix(const Tensor& tensor, std::int64_t batch, std::span<T> out)
{
    const auto shape = tensor.matrices();
    if (!isReal(tensor.dtype())) {
        return failure(ErrorKind::unsupported, "The tensor holds complex numbers, which a matrix of reals cannot show",
            pathOf(tensor));
    }
    if (out.size() != static_cast<std::size_t>(shape.elements())) {
        return failure(ErrorKind::internal, "The room for a matrix is not of its size");
    }
    auto stream = TRY(TensorStream::open(tensor));
    std::vector<T> values;
    return stream.matrix(batch, [&](const TensorBlock& block) {
        values.resize(block.elements());
        convert(tensor.dtype(), block.bits, block.elements(), values.data());
        place(block, values.data(), stream.transposed(), shape.cols, out.data());
    });
}

/// An element of any width, so that one loop places all of them.
template <std::size_t width>
struct Bits
{
    std::byte bytes[width];
};

template <std::size_t width>
Result<std::vector<std::byte>> readBitsOf(const Tensor& tensor, std::int64_t batch)
{
    auto stream = TRY(TensorStream::open(tensor));
    const auto shape = tensor.matrices();
    std::vector<std::byte> out(static_cast<std::size_t>(shape.elements()) * width);
    auto* const matrix = reinterpret_cast<Bits<width>*>(out.data());
    auto read = stream.matrix(batch, [&](const TensorBlock& block) {
        place(block, reinterpret_cast<const Bits<width>*>(block.bits), stream.transposed(), shape.cols, matrix);
    });
    return read.map([&] { return std::move(out); });
}

Result<std::uint32_t> storageCrc(
    const platform::FileReader& file, std::uint64_t begin, std::uint64_t size, const ReadWatch& watch)
{
    std::vector<std::byte> buffer(std::min<std::uint64_t>(size, 96 << 10));
    std::uint32_t crc = 0;
    for (std::uint64_t at = 0; at < size; at += buffer.size()) {
        const auto part = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), size - at));
        if (watch.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "cancelled while reading a tensor");
        }
        TRY(file.readAt(begin + at, part));
        watch.came(std::ssize(part));
        crc = updateCrc32(crc, part);
    }
    return crc;
}

/// True if every number of this type is one of float.
bool isFloat(DType type)
{
    switch (type) {
    case DType::float32:
    case DType::float16:
    case DType::bfloat16:
    case DType::float8_e4m3fn:
    case DType::float8_e4m3fnuz:
    case DType::float8_e5m2:
    case DType::float8_e5m2fnuz:
    case DType::float8_e8m0fnu:
        return true;
    default:
        return false;
    }
}

template <class T>
Result<Values> readMatrices(const Tensor& tensor, std::int64_t first, std::int64_t count)
{
    const auto size = static_cast<std::size_t>(tensor.matrices().elements());
    std::vector<T> all(static_cast<std::size_t>(count) * size);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto out = std::span(all).subspan(static_cast<std::size_t>(i) * size, size);
        TRY(tensor.read(first + i, out));
    }
    return Values(std::move(all));
}

} // namespace

Tensor::Tensor(std::shared_ptr<const Source> source, std::string storageKey, DType dtype, Shape shape, Shape strides,
    std::int64_t storageOffset)
    : m_source(std::move(source))
    , m_storageKey(std::move(storageKey))
    , m_dtype(dtype)
    , m_shape(std::move(shape))
    , m_strides(std::move(strides))
    , m_storageOffset(storageOffset)
{ }

Tensor Tensor::withSharding(std::shared_ptr<const Sharding> sharding) const
{
    auto tensor = *this;
    tensor.m_sharding = std::move(sharding);
    return tensor;
}

std::int64_t Tensor::elements() const
{
    std::int64_t count = 1;
    for (const auto extent : m_shape) {
        count *= extent;
    }
    return count;
}

bool Tensor::contiguous() const
{
    std::int64_t expected = 1;
    for (std::size_t i = m_shape.size(); i-- > 0;) {
        if (m_shape[i] != 1 && m_strides[i] != expected) {
            return elements() == 0;
        }
        expected *= m_shape[i];
    }
    return true;
}

Tensor Tensor::part(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) const
{
    const auto rank = m_shape.size();
    const auto rowStride = rank >= 2 ? m_strides[rank - 2] : 0;
    const auto colStride = rank >= 1 ? m_strides[rank - 1] : 1;
    auto offset = m_storageOffset + row * rowStride + col * colStride;
    for (std::size_t i = rank < 2 ? 0 : rank - 2; i-- > 0;) {
        offset += batch % m_shape[i] * m_strides[i];
        batch /= m_shape[i];
    }
    return Tensor(m_source, m_storageKey, m_dtype, {rows, cols}, {rowStride, colStride}, offset);
}

Result<void> Tensor::read(std::int64_t batch, std::span<float> out) const
{
    return readMatrix(*this, batch, out);
}

Result<void> Tensor::read(std::int64_t batch, std::span<double> out) const
{
    return readMatrix(*this, batch, out);
}

Result<Values> Tensor::values(std::int64_t first, std::int64_t count) const
{
    return isFloat(m_dtype) ? readMatrices<float>(*this, first, count) : readMatrices<double>(*this, first, count);
}

Result<std::vector<std::byte>> Tensor::readBits(std::int64_t batch) const
{
    switch (sizeOf(m_dtype)) {
    case 1:
        return readBitsOf<1>(*this, batch);
    case 2:
        return readBitsOf<2>(*this, batch);
    case 4:
        return readBitsOf<4>(*this, batch);
    case 8:
        return readBitsOf<8>(*this, batch);
    default:
        return readBitsOf<16>(*this, batch);
    }
}

Result<bool> checksumMatches(const Tensor& tensor, const ReadWatch& watch)
{
    const auto& source = tensor.source();
    if (source == nullptr) {
        return failure(ErrorKind::usage, "The tensor belongs to no file");
    }
    const auto file = TRY(source->reopen());
    const auto* stored = source->find(tensor.storageKey());
    if (stored == nullptr || !stored->crc) {
        return true;
    }
    return source->locate(file, *stored)
        .and_then([&](std::uint64_t begin) { return storageCrc(file, begin, stored->size, watch); })
        .map([&](std::uint32_t crc) { return crc == *stored->crc; });
}

const PickleValue* PickleValue::find(std::string_view key) const
{
    const auto* dict = std::get_if<PickleDict>(&value);
    if (dict == nullptr) {
        return nullptr;
    }
    const auto found = std::find_if(dict->begin(), dict->end(), [&](const auto& entry) {
        const auto* text = std::get_if<std::string>(&entry.first.value);
        return text != nullptr && *text == key;
    });
    return found == dict->end() ? nullptr : &found->second;
}

} // namespace nanscope::tensorfile
