// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/tensorfile/readwatch.h"
#include "core/tensorfile/tensorsource.h"

namespace nanscope::tensorfile {

/// A dense part of a matrix: `lines` x `positions` elements in native byte order.
struct TensorBlock
{
    const std::byte* bits = nullptr;
    std::int64_t firstLine = 0;
    std::int64_t lines = 0;
    std::int64_t firstPosition = 0;
    std::int64_t positions = 0;

    std::size_t elements() const { return static_cast<std::size_t>(lines * positions); }
};

/// Reads matrices of a tensor front to back through one small buffer, in the order in which they lie in the file.
/// The bytes are copied with FileReader, not mapped: a file that shrinks meanwhile gives an error.
class TensorStream
{
public:
    using Sink = std::function<void(const TensorBlock&)>;

    /// `file` is the tensor's own, if it is open already.
    static Result<TensorStream> open(
        const Tensor& tensor, std::shared_ptr<const platform::FileReader> file = nullptr, ReadWatch watch = {});

    /// Lines are columns where true, rows otherwise; whichever lie closer together in the file.
    bool transposed() const { return m_transposed; }

    /// Fails (ErrorKind::cancelled) soon after the watch stops it.
    Result<void> matrix(std::int64_t batch, const Sink& sink);

    /// True if reading all matrices in order reads the storage once, from its first byte to its last.
    bool readsWholeStorage() const;
    /// CRC-32 of what was read so far; only meaningful where readsWholeStorage().
    std::uint32_t crc() const { return m_crc; }

private:
    TensorStream(Tensor tensor, std::shared_ptr<const platform::FileReader> file, std::uint64_t begin, ReadWatch watch);

    std::int64_t matrixOffset(std::int64_t batch) const;
    Result<void> readBlock(std::int64_t start, const TensorBlock& block);
    Result<void> readRun(std::int64_t start, std::int64_t count, std::int64_t stride, std::byte* out);
    Result<void> readDense(std::int64_t start, std::int64_t count, std::byte* out);
    void makeNative(std::byte* bits, std::size_t elements) const;

    Tensor m_tensor;
    std::shared_ptr<const platform::FileReader> m_file;
    ReadWatch m_watch;
    std::uint64_t m_begin = 0;
    std::int64_t m_item = 1;
    std::int64_t m_lines = 0;
    std::int64_t m_positions = 0;
    std::int64_t m_lineStride = 0;
    std::int64_t m_positionStride = 0;
    bool m_transposed = false;
    bool m_swap = false;
    bool m_checksum = false;
    std::uint32_t m_crc = 0;
    std::int64_t m_bufferSize = 0;
    std::unique_ptr<std::byte[]> m_buffer;
    std::unique_ptr<std::byte[]> m_window; ///< for elements that lie apart
};

} // namespace nanscope::tensorfile
