// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/result.h"

namespace nanscope::tensorfile {

/// Takes arguments of opcodes off the front of a pickle.
class PickleReader
{
public:
    explicit PickleReader(std::span<const std::byte> bytes)
        : m_bytes(bytes)
    { }

    std::size_t position() const { return m_at; }
    bool atEnd() const { return m_at == m_bytes.size(); }

    Result<std::uint64_t> number(std::size_t width); ///< little-endian, at most 8 bytes
    Result<double> bigEndianReal();
    Result<std::span<const std::byte>> take(std::uint64_t size);
    Result<std::string_view> line(); ///< up to and without the next line feed

private:
    std::span<const std::byte> m_bytes;
    std::size_t m_at = 0;
};

} // namespace nanscope::tensorfile
