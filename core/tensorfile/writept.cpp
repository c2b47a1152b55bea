// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>

#include "core/platform/platform.h"
#include "core/tensorfile/bytes.h"
#include "core/tensorfile/checksum.h"
#include "core/tensorfile/picklewriter.h"
#include "core/tensorfile/tensorsource.h"

namespace nanscope {

namespace {

constexpr std::uint64_t largestFile = 0xffffffff;
constexpr std::uint64_t alignment = 64; // as torch does, so that storages can be mapped
constexpr std::size_t localSize = 30;
constexpr std::size_t paddingHeader = 4;

struct Part
{
    std::string name;
    std::span<const std::byte> bytes;
};

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
void putCommon(std::vector<std::byte>& out, const Part& part, std::uint32_t crc)
{
    constexpr std::uint64_t earliestDate = 0x21; // 1 January 1980
    put(out, 20, 2);
    put(out, 0, 2);
    put(out, 0, 2);
    put(out, 0, 2);
    put(out, earliestDate, 2);
    put(out, crc, 4);
    put(out, part.bytes.size(), 4);
    put(out, part.bytes.size(), 4);
    put(out, part.name.size(), 2);
}

class ZipWriter
{
public:
    explicit ZipWriter(AtomicFile file)
        : m_file(std::move(file))
    { }

    Result<void> add(const Part& part)
    {
        const auto crc = updateCrc32(0, part.bytes);
        const auto headerOffset = m_offset;
        const auto unpadded = m_offset + localSize + part.name.size() + paddingHeader;
        const auto padding = (alignment - unpadded % alignment) % alignment;
        std::vector<std::byte> header;
        put(header, "PK\x03\x04");
        putCommon(header, part, crc);
        put(header, paddingHeader + padding, 2);
        put(header, part.name);
        put(header, "FB");
        put(header, padding, 2);
        header.resize(header.size() + padding, std::byte {'Z'});
        noteCentral(part, crc, headerOffset);
        return write(header).and_then([&] { return write(part.bytes); });
    }

    Result<void> finish()
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

private:
    void noteCentral(const Part& part, std::uint32_t crc, std::uint64_t headerOffset)
    {
        put(m_central, "PK\x01\x02");
        put(m_central, 20, 2);
        putCommon(m_central, part, crc);
        put(m_central, 0, 2 + 2 + 2 + 2);
        put(m_central, 0, 4);
        put(m_central, headerOffset, 4);
        put(m_central, part.name);
        ++m_entries;
    }

    Result<void> write(std::span<const std::byte> bytes)
    {
        m_offset += bytes.size();
        return m_file.write(bytes);
    }

    AtomicFile m_file;
    std::vector<std::byte> m_central;
    std::uint64_t m_offset = 0;
    std::uint64_t m_entries = 0;
};

Result<void> checkTensor(const TensorToWrite& tensor)
{
    std::int64_t bytes = static_cast<std::int64_t>(sizeOf(tensor.dtype));
    const bool fits = std::all_of(tensor.shape.begin(), tensor.shape.end(),
        [&](std::int64_t extent) { return extent >= 0 && multiplies(bytes, extent, bytes); });
    if (!fits || static_cast<std::uint64_t>(bytes) != tensor.bytes.size()) {
        return failure(ErrorKind::internal, "The tensor " + tensor.name + " does not have the bytes its shape needs");
    }
    return {};
}

std::vector<Part> partsOf(const std::vector<std::pair<std::string, ValueToWrite>>& entries,
    std::span<const std::byte> pickle, const std::string& folder)
{
    const std::string_view order = std::endian::native == std::endian::big ? "big" : "little";
    std::vector<Part> parts {{folder + "data.pkl", pickle}, {folder + "byteorder", asBytes(order)}};
    std::size_t storage = 0;
    for (const auto& entry : entries) {
        if (const auto* tensor = std::get_if<TensorToWrite>(&entry.second)) {
            parts.push_back({folder + "data/" + std::to_string(storage++), tensor->bytes});
        }
    }
    parts.push_back({folder + "version", asBytes("3\n")});
    return parts;
}

Result<void> checkSizes(const std::vector<Part>& parts)
{
    constexpr std::uint64_t overhead = 512;
    std::uint64_t total = 0;
    for (const auto& part : parts) {
        total += part.bytes.size() + overhead;
    }
    if (total > largestFile || parts.size() > 0xffff) {
        return failure(
            ErrorKind::unsupported, "More than 4 GiB, or 65,535 tensors, cannot be written into one .pt file");
    }
    return {};
}

Result<void> writeParts(const std::filesystem::path& path, const std::vector<Part>& parts)
{
    auto file = AtomicFile::create(path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    ZipWriter writer(std::move(*file));
    for (const auto& part : parts) {
        if (auto added = writer.add(part); !added) {
            return added;
        }
    }
    return writer.finish();
}

} // namespace

Result<void> writePt(
    const std::filesystem::path& path, const std::vector<std::pair<std::string, ValueToWrite>>& entries)
{
    for (const auto& entry : entries) {
        if (const auto* tensor = std::get_if<TensorToWrite>(&entry.second)) {
            if (auto good = checkTensor(*tensor); !good) {
                return good;
            }
        }
    }
    const auto pickle = writePickle(entries);
    const auto parts = partsOf(entries, pickle, "archive/");
    return checkSizes(parts).and_then([&] { return writeParts(path, parts); }).map_error([&](Error error) {
        return withPath(std::move(error), path);
    });
}

} // namespace nanscope
