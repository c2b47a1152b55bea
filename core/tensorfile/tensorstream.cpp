// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/tensorstream.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/try.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::tensorfile {

namespace {

// Half of a usual L2 cache: what was just copied is still there when it is checked and scanned.
constexpr std::int64_t bufferSize = std::int64_t {96} << 10;
constexpr std::int64_t windowSize = std::int64_t {64} << 10;
constexpr std::int64_t farApart = 4096; // bytes; beyond it, reading what lies between costs more than another call

std::int64_t extentFromEnd(const Shape& values, std::size_t place, std::int64_t otherwise)
{
    return values.size() >= place ? values[values.size() - place] : otherwise;
}

} // namespace

TensorStream::TensorStream(
    Tensor tensor, std::shared_ptr<const platform::FileReader> file, std::uint64_t begin, ReadWatch watch)
    : m_tensor(std::move(tensor))
    , m_file(std::move(file))
    , m_watch(std::move(watch))
    , m_begin(begin)
    , m_item(static_cast<std::int64_t>(sizeOf(m_tensor.dtype())))
    , m_swap(m_tensor.source()->bigEndian != (std::endian::native == std::endian::big) && m_item > 1)
{
    const auto shape = m_tensor.matrices();
    const auto rowStride = extentFromEnd(m_tensor.strides(), 2, 0);
    const auto colStride = extentFromEnd(m_tensor.strides(), 1, 1);
    m_transposed = shape.rows > 1 && (shape.cols == 1 || rowStride < colStride);
    m_lines = m_transposed ? shape.cols : shape.rows;
    m_positions = m_transposed ? shape.rows : shape.cols;
    m_lineStride = m_transposed ? colStride : rowStride;
    m_positionStride = m_transposed ? rowStride : colStride;
    m_checksum = readsWholeStorage();
}

Result<TensorStream> TensorStream::open(
    const Tensor& tensor, std::shared_ptr<const platform::FileReader> file, ReadWatch watch)
{
    if (tensor.source() == nullptr) {
        return failure(ErrorKind::usage, "The tensor belongs to no file");
    }
    const auto* stored = tensor.source()->find(tensor.storageKey());
    if (stored == nullptr) {
        return failure(ErrorKind::corrupt, "The tensor's contents are missing from the file", pathOf(tensor));
    }
    if (file == nullptr) {
        file = std::make_shared<const platform::FileReader>(TRY(tensor.source()->reopen()));
    }
    const auto begin = TRY(tensor.source()->locate(*file, *stored));
    return TensorStream(tensor, std::move(file), begin, std::move(watch));
}

bool TensorStream::readsWholeStorage() const
{
    const auto* stored = m_tensor.source()->find(m_tensor.storageKey());
    return m_tensor.contiguous() && m_tensor.storageOffset() == 0 && stored->crc
        && stored->size == static_cast<std::uint64_t>(m_tensor.elements() * m_item);
}

std::int64_t TensorStream::matrixOffset(std::int64_t batch) const
{
    const auto& shape = m_tensor.shape();
    auto offset = m_tensor.storageOffset();
    for (std::size_t i = shape.size() < 2 ? 0 : shape.size() - 2; i-- > 0;) {
        offset += batch % shape[i] * m_tensor.strides()[i];
        batch /= shape[i];
    }
    return offset;
}

Result<void> TensorStream::matrix(std::int64_t batch, const Sink& sink)
{
    const auto shape = m_tensor.matrices();
    if (batch < 0 || batch >= shape.batch) {
        return failure(ErrorKind::usage, "The tensor has no such batch element", pathOf(m_tensor));
    }
    if (shape.elements() == 0) {
        return {};
    }
    if (m_buffer == nullptr) {
        m_bufferSize = std::min(bufferSize, shape.elements() * m_item);
        m_buffer = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(m_bufferSize));
    }
    const auto start = matrixOffset(batch);
    const auto room = m_bufferSize / m_item;
    const auto linesAtOnce = std::max<std::int64_t>(room / m_positions, 1);
    const auto positionsAtOnce = std::min(room, m_positions);
    for (std::int64_t line = 0; line < m_lines; line += linesAtOnce) {
        const auto lines = std::min(linesAtOnce, m_lines - line);
        for (std::int64_t position = 0; position < m_positions; position += positionsAtOnce) {
            const auto positions = std::min(positionsAtOnce, m_positions - position);
            const TensorBlock block {m_buffer.get(), line, lines, position, positions};
            TRY(readBlock(start, block));
            makeNative(m_buffer.get(), static_cast<std::size_t>(lines * positions));
            sink(block);
        }
    }
    return {};
}

void TensorStream::makeNative(std::byte* bits, std::size_t elements) const
{
    if (!m_swap) {
        return;
    }
    const bool pairs = !isReal(m_tensor.dtype());
    const auto width = static_cast<std::size_t>(m_item);
    swapBytes(bits, pairs ? width / 2 : width, pairs ? elements * 2 : elements);
}

Result<void> TensorStream::readDense(std::int64_t start, std::int64_t count, std::byte* out)
{
    const auto bytes = std::span(out, static_cast<std::size_t>(count * m_item));
    if (m_watch.cancel.cancelled()) {
        return failure(ErrorKind::cancelled, "cancelled while reading a tensor", pathOf(m_tensor));
    }
    auto read = m_file->readAt(m_begin + static_cast<std::uint64_t>(start * m_item), bytes);
    if (read && m_checksum) {
        m_crc = updateCrc32(m_crc, bytes);
    }
    m_watch.came(count * m_item);
    return read;
}

Result<void> TensorStream::readBlock(std::int64_t start, const TensorBlock& block)
{
    const auto from = start + block.firstLine * m_lineStride + block.firstPosition * m_positionStride;
    if (m_positionStride == 1 && (m_lines == 1 || m_lineStride == m_positions)) {
        return readDense(from, block.lines * block.positions, m_buffer.get());
    }
    for (std::int64_t i = 0; i < block.lines; ++i) {
        auto* const out = m_buffer.get() + i * block.positions * m_item;
        TRY(readRun(from + i * m_lineStride, block.positions, m_positionStride, out));
    }
    return {};
}

Result<void> TensorStream::readRun(std::int64_t start, std::int64_t count, std::int64_t stride, std::byte* out)
{
    if (stride == 1) {
        return readDense(start, count, out);
    }
    const auto step = stride * m_item;
    const auto perWindow = stride == 0 ? count : step > farApart ? 1 : (windowSize - m_item) / step + 1;
    if (m_window == nullptr) {
        m_window = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(windowSize));
    }
    for (std::int64_t done = 0; done < count; done += perWindow) {
        const auto here = std::min(perWindow, count - done);
        TRY(readDense(start + done * stride, (here - 1) * stride + 1, m_window.get()));
        for (std::int64_t i = 0; i < here; ++i) {
            std::memcpy(out + (done + i) * m_item, m_window.get() + i * step, static_cast<std::size_t>(m_item));
        }
    }
    return {};
}

} // namespace nanscope::tensorfile
