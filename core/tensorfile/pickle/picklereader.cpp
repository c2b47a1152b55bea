// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/pickle/picklereader.h"

#include <bit>

#include "core/tensorfile/bytes.h"

namespace nanscope::tensorfile {

Result<std::span<const std::byte>> PickleReader::take(std::uint64_t size)
{
    if (size > m_bytes.size() - m_at) {
        return failure(ErrorKind::corrupt, "The pickle inside claims more bytes than it has; the file is damaged");
    }
    const auto part = m_bytes.subspan(m_at, size);
    m_at += size;
    return part;
}

Result<std::uint64_t> PickleReader::number(std::size_t width)
{
    return take(width).map([](std::span<const std::byte> bytes) {
        std::uint64_t value = 0;
        for (std::size_t i = bytes.size(); i-- > 0;) {
            value = value << 8 | static_cast<std::uint64_t>(bytes[i]);
        }
        return value;
    });
}

Result<double> PickleReader::bigEndianReal()
{
    return number(8).map([](std::uint64_t bits) { return std::bit_cast<double>(__builtin_bswap64(bits)); });
}

Result<std::string_view> PickleReader::line()
{
    const auto rest = asText(m_bytes.subspan(m_at));
    const auto end = rest.find('\n');
    if (end == rest.npos) {
        return failure(ErrorKind::corrupt, "The pickle inside ends in the middle of a line; the file is damaged");
    }
    m_at += end + 1;
    return rest.substr(0, end);
}

} // namespace nanscope::tensorfile
