// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/zip/zipwriter.h"

#include <string_view>

#include <zlib.h>

#include "core/base/bytes.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::tensorfile {

struct ZipWriter::Part
{
    const std::string& name;
    std::span<const std::byte> bytes;
    std::uint64_t size = 0;
    std::uint32_t crc = 0;
    int method = 0;
};

namespace {

constexpr std::uint64_t alignment = 64; // as torch does, so that storages can be mapped
constexpr std::size_t localHeaderSize = 30;
constexpr std::size_t paddingHeader = 4;

void put(std::vector<std::byte>& out, std::uint64_t value, int width)
{
    for (int i = 0; i < width; ++i) {
        out.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
}

void put(std::vector<std::byte>& out, std::string_view text)
{
    const auto bytes = asBytes(text);
    out.insert(out.end(), bytes.begin(), bytes.end());
}

/// What local and central headers have in common, from the version needed to the length of the name.
template <class Part>
void putCommon(std::vector<std::byte>& out, const Part& part)
{
    constexpr std::uint64_t earliestDate = 0x21; // 1 January 1980
    put(out, 20, 2);
    put(out, 0, 2);
    put(out, static_cast<std::uint64_t>(part.method), 2);
    put(out, 0, 2);
    put(out, earliestDate, 2);
    put(out, part.crc, 4);
    put(out, part.bytes.size(), 4);
    put(out, part.size, 4);
    put(out, part.name.size(), 2);
}

/// An extra field of "Z" that moves what follows it to a multiple of the alignment.
std::vector<std::byte> paddingAfter(std::uint64_t offset)
{
    const auto padding = (alignment - (offset + paddingHeader) % alignment) % alignment;
    std::vector<std::byte> extra;
    put(extra, "FB");
    put(extra, padding, 2);
    extra.resize(extra.size() + padding, std::byte {'Z'});
    return extra;
}

} // namespace

DeflatedBytes deflated(std::span<const std::byte> bytes)
{
    constexpr int rawWindow = -15; // neither zlib's header nor its checksum: the zip has its own
    constexpr int memoryLevel = 8;
    z_stream stream {};
    deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, rawWindow, memoryLevel, Z_DEFAULT_STRATEGY);
    DeflatedBytes result {{}, bytes.size(), updateCrc32(0, bytes)};
    result.bytes.resize(deflateBound(&stream, static_cast<uLong>(bytes.size())));
    // zlib reads what it is given, although its type says otherwise.
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(result.bytes.data());
    stream.avail_out = static_cast<uInt>(result.bytes.size());
    deflate(&stream, Z_FINISH);
    result.bytes.resize(stream.total_out);
    deflateEnd(&stream);
    return result;
}

Result<void> ZipWriter::add(const std::string& name, std::span<const std::byte> bytes)
{
    return write(
        {name, bytes, bytes.size(), updateCrc32(0, bytes), 0}, paddingAfter(m_offset + localHeaderSize + name.size()));
}

Result<void> ZipWriter::add(const std::string& name, const DeflatedBytes& file)
{
    return write({name, file.bytes, file.size, file.crc, Z_DEFLATED}, {});
}

Result<void> ZipWriter::write(const Part& part, std::span<const std::byte> extra)
{
    std::vector<std::byte> header;
    put(header, "PK\x03\x04");
    putCommon(header, part);
    put(header, extra.size(), 2);
    put(header, part.name);
    header.insert(header.end(), extra.begin(), extra.end());
    noteCentral(part);
    return write(header).and_then([&] { return write(part.bytes); });
}

void ZipWriter::noteCentral(const Part& part)
{
    put(m_central, "PK\x01\x02");
    // Unpacked on a Unix, the entry is a regular file of mode 0600.
    constexpr std::uint64_t madeOnUnix = 3;
    constexpr std::uint64_t privateFile = 0100600;
    put(m_central, madeOnUnix << 8U | 20U, 2);
    putCommon(m_central, part);
    put(m_central, 0, 2 + 2 + 2 + 2);
    put(m_central, privateFile << 16U, 4);
    put(m_central, m_offset, 4);
    put(m_central, part.name);
    ++m_entries;
}

Result<void> ZipWriter::write(std::span<const std::byte> bytes)
{
    m_offset += bytes.size();
    return m_file.write(bytes);
}

Result<void> ZipWriter::finish()
{
    const auto begin = m_offset;
    std::vector<std::byte> end;
    put(end, "PK\x05\x06");
    put(end, 0, 4);
    put(end, m_entries, 2);
    put(end, m_entries, 2);
    put(end, m_central.size(), 4);
    put(end, begin, 4);
    put(end, 0, 2);
    return write(m_central).and_then([&] { return write(end); }).and_then([&] { return m_file.commit(); });
}

} // namespace nanscope::tensorfile
