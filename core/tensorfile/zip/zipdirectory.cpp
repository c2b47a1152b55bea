// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/tensorfile/zip/zipdirectory.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/try.h"
#include "core/tensorfile/zip/checksum.h"

namespace nanscope::tensorfile {

namespace {

auto corruptArchive(std::string what)
{
    return failure(ErrorKind::corrupt, std::move(what));
}

constexpr std::uint64_t endSize = 22;
constexpr std::uint64_t locatorSize = 20;
constexpr std::uint64_t end64Size = 56;
constexpr std::uint64_t centralSize = 46;
constexpr std::uint64_t localSize = 30;
constexpr std::uint32_t endSignature = 0x06054b50;
constexpr std::uint32_t locatorSignature = 0x07064b50;
constexpr std::uint32_t end64Signature = 0x06064b50;
constexpr std::uint32_t centralSignature = 0x02014b50;
constexpr std::uint32_t localSignature = 0x04034b50;
constexpr std::uint16_t zip64Extra = 1;
constexpr std::uint32_t in64 = 0xffffffff; // the real value is in the ZIP64 field
constexpr std::uint16_t flagEncrypted = 1;
constexpr std::uint16_t flagDescriptor = 8; // sizes and checksum follow the contents

struct DirectoryPlace
{
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t entries = 0;
    std::uint64_t endOffset = 0; ///< of the record that follows the directory
};

auto cutOff()
{
    return failure(ErrorKind::truncated,
        "The zip directory at the end is missing, so the file is cut off; copy it again, and check whether the disk "
        "was full when it was written");
}

std::optional<std::size_t> findEnd(std::span<const std::byte> tail)
{
    for (auto at = tail.size() - endSize + 1; at-- > 0;) {
        const auto* record = tail.data() + at;
        if (loadLittle<std::uint32_t>(record) == endSignature
            && at + endSize + loadLittle<std::uint16_t>(record + 20) == tail.size()) {
            return at;
        }
    }
    return std::nullopt;
}

Result<DirectoryPlace> readEnd64(
    const platform::FileReader& file, std::uint64_t recordOffset, std::uint64_t locatorOffset)
{
    std::array<std::byte, end64Size> record;
    if (recordOffset > locatorOffset || locatorOffset - recordOffset < end64Size) {
        return corruptArchive("The ZIP64 record lies outside the file; the file is damaged");
    }
    TRY(file.readAt(recordOffset, record));
    if (loadLittle<std::uint32_t>(record.data()) != end64Signature) {
        return corruptArchive("The ZIP64 record is not where the file says it is; the file is damaged");
    }
    return DirectoryPlace {loadLittle<std::uint64_t>(record.data() + 48), loadLittle<std::uint64_t>(record.data() + 40),
        loadLittle<std::uint64_t>(record.data() + 32), recordOffset};
}

Result<DirectoryPlace> placeFrom(const platform::FileReader& file, std::span<const std::byte> tail, std::size_t end)
{
    const auto* record = tail.data() + end;
    const auto endOffset = file.size() - tail.size() + end;
    if (end >= locatorSize && loadLittle<std::uint32_t>(record - locatorSize) == locatorSignature) {
        return readEnd64(file, loadLittle<std::uint64_t>(record - locatorSize + 8), endOffset - locatorSize);
    }
    return DirectoryPlace {loadLittle<std::uint32_t>(record + 16), loadLittle<std::uint32_t>(record + 12),
        loadLittle<std::uint16_t>(record + 10), endOffset};
}

Result<DirectoryPlace> findDirectory(const platform::FileReader& file)
{
    // The record is last unless a comment follows it, so a small read nearly always does.
    for (const std::uint64_t reach : {std::uint64_t {1024}, endSize + locatorSize + 0xffff}) {
        std::vector<std::byte> tail(std::min(file.size(), reach));
        if (tail.size() < endSize) {
            return cutOff();
        }
        TRY(file.readAt(file.size() - tail.size(), tail));
        if (const auto end = findEnd(tail)) {
            return placeFrom(file, tail, *end);
        }
    }
    return cutOff();
}

Result<void> checkPlace(const DirectoryPlace& place)
{
    if (place.offset > place.endOffset || place.size != place.endOffset - place.offset) {
        return corruptArchive(
            "The zip directory is not where the file says it is; the file is damaged or was cut in the middle");
    }
    if (place.entries > place.size / centralSize) {
        return corruptArchive("The zip directory claims more entries than it has room for; the file is damaged");
    }
    return {};
}

bool staysInside(std::string_view name)
{
    const auto foreign = [](char letter) { return letter == '\\' || letter == '\0' || letter == ':'; };
    if (name.empty() || name.front() == '/' || std::any_of(name.begin(), name.end(), foreign)) {
        return false;
    }
    while (!name.empty()) {
        const auto part = name.substr(0, name.find('/'));
        if (part == "..") {
            return false;
        }
        name.remove_prefix(std::min(name.size(), part.size() + 1));
    }
    return true;
}

bool applyZip64(ZipEntry& entry, std::uint64_t& packed, std::span<const std::byte> extra)
{
    while (extra.size() >= 4) {
        const auto id = loadLittle<std::uint16_t>(extra.data());
        const auto length = loadLittle<std::uint16_t>(extra.data() + 2);
        extra = extra.subspan(4);
        if (length > extra.size()) {
            return false;
        }
        if (id == zip64Extra) {
            auto field = extra.first(length);
            for (auto* value : {&entry.size, &packed, &entry.headerOffset}) {
                if (*value == in64 && field.size() >= 8) {
                    *value = loadLittle<std::uint64_t>(field.data());
                    field = field.subspan(8);
                }
            }
        }
        extra = extra.subspan(length);
    }
    return true;
}

Result<void> checkEntry(const ZipEntry& entry, std::uint16_t method, std::uint64_t packed, std::uint64_t dataEnd)
{
    if (!staysInside(entry.name)) {
        return failure(ErrorKind::refused, "An entry's name leads out of the archive; torch writes no such file");
    }
    if ((entry.flags & flagEncrypted) != 0) {
        return failure(ErrorKind::unsupported, "The file is encrypted; decrypt it first");
    }
    if (method != 0) {
        return failure(ErrorKind::unsupported,
            "The file holds compressed entries, which torch never writes; unpack it and pack it without compression");
    }
    if (packed != entry.size) {
        return corruptArchive("An entry states two different sizes; the file is damaged");
    }
    const auto room = dataEnd < localSize ? 0 : dataEnd - localSize;
    if (entry.headerOffset > room || entry.size > room - entry.headerOffset) {
        return corruptArchive("An entry lies outside the file; the file is damaged or cut off");
    }
    return {};
}

Result<ZipEntry> parseEntry(std::span<const std::byte>& rest, std::uint64_t dataEnd)
{
    if (rest.size() < centralSize || loadLittle<std::uint32_t>(rest.data()) != centralSignature) {
        return corruptArchive("The zip directory is damaged");
    }
    const auto* record = rest.data();
    const std::size_t nameSize = loadLittle<std::uint16_t>(record + 28);
    const std::size_t extraSize = loadLittle<std::uint16_t>(record + 30);
    const std::size_t whole = centralSize + nameSize + extraSize + loadLittle<std::uint16_t>(record + 32);
    if (whole > rest.size()) {
        return corruptArchive("The zip directory is damaged");
    }
    ZipEntry entry {std::string(asText(rest.subspan(centralSize, nameSize))), loadLittle<std::uint32_t>(record + 42),
        loadLittle<std::uint32_t>(record + 24), dataEnd, loadLittle<std::uint32_t>(record + 16),
        loadLittle<std::uint16_t>(record + 8)};
    std::uint64_t packed = loadLittle<std::uint32_t>(record + 20);
    if (!applyZip64(entry, packed, rest.subspan(centralSize + nameSize, extraSize))) {
        return corruptArchive("The zip directory is damaged");
    }
    const auto method = loadLittle<std::uint16_t>(record + 10);
    rest = rest.subspan(whole);
    TRY(checkEntry(entry, method, packed, dataEnd));
    return entry;
}

Result<void> checkNames(const std::vector<ZipEntry>& entries)
{
    std::unordered_set<std::string_view> seen;
    for (const auto& entry : entries) {
        if (!seen.insert(entry.name).second) {
            return corruptArchive(
                "Two entries have the same name, so it is not clear which one is meant; the file is damaged");
        }
    }
    return {};
}

Result<void> limitByNeighbours(std::vector<ZipEntry>& entries)
{
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t {0});
    std::sort(order.begin(), order.end(),
        [&](std::size_t a, std::size_t b) { return entries[a].headerOffset < entries[b].headerOffset; });
    for (std::size_t i = 0; i < order.size(); ++i) {
        auto& entry = entries[order[i]];
        if (i + 1 < order.size()) {
            entry.limit = entries[order[i + 1]].headerOffset;
        }
        if (entry.limit - entry.headerOffset < localSize + entry.name.size() + entry.size) {
            return corruptArchive("Two entries share the same bytes; the file is damaged");
        }
    }
    return {};
}

bool agrees(const ZipEntry& entry, std::span<const std::byte> header, std::string_view name)
{
    const auto* record = header.data();
    const auto flags = loadLittle<std::uint16_t>(record + 6);
    const auto crc = loadLittle<std::uint32_t>(record + 14);
    const auto size = loadLittle<std::uint32_t>(record + 22);
    const bool later = (flags & flagDescriptor) != 0 && crc == 0;
    return loadLittle<std::uint32_t>(record) == localSignature && name == entry.name && flags == entry.flags
        && loadLittle<std::uint16_t>(record + 8) == 0 && (later || crc == entry.crc)
        && (size == entry.size || size == in64 || (later && size == 0));
}

} // namespace

const ZipEntry* ZipDirectory::find(const std::string& name) const
{
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const ZipEntry& entry) { return entry.name == name; });
    return found == entries.end() ? nullptr : &*found;
}

Result<ZipDirectory> readZipDirectory(const platform::FileReader& file)
{
    const auto place = TRY(findDirectory(file));
    TRY(checkPlace(place));
    std::vector<std::byte> bytes(place.size);
    TRY(file.readAt(place.offset, bytes));
    ZipDirectory directory;
    directory.entries.reserve(place.entries);
    std::span<const std::byte> rest(bytes);
    while (directory.entries.size() < place.entries) {
        directory.entries.push_back(TRY(parseEntry(rest, place.offset)));
    }
    if (!rest.empty()) {
        return corruptArchive("The zip directory holds more than it says; the file is damaged");
    }
    directory.statesChecksums = std::any_of(
        directory.entries.begin(), directory.entries.end(), [](const ZipEntry& entry) { return entry.crc != 0; });
    TRY(checkNames(directory.entries));
    TRY(limitByNeighbours(directory.entries));
    return directory;
}

Result<std::uint64_t> locateZipEntry(const platform::FileReader& file, const ZipEntry& entry)
{
    std::vector<std::byte> header(localSize + entry.name.size());
    TRY(file.readAt(entry.headerOffset, header));
    const std::uint64_t nameSize = loadLittle<std::uint16_t>(header.data() + 26);
    const std::uint64_t extraSize = loadLittle<std::uint16_t>(header.data() + 28);
    const auto name = asText(std::span<const std::byte>(header).subspan(localSize));
    if (nameSize != entry.name.size() || !agrees(entry, header, name)) {
        return corruptArchive("An entry's own header contradicts the zip directory; the file is damaged");
    }
    const auto begin = entry.headerOffset + localSize + nameSize + extraSize;
    if (begin > entry.limit || entry.size > entry.limit - begin) {
        return corruptArchive("An entry reaches into the next one; the file is damaged");
    }
    return begin;
}

Result<std::vector<std::byte>> readZipEntry(
    const platform::FileReader& file, const ZipDirectory& directory, const ZipEntry& entry)
{
    const auto begin = TRY(locateZipEntry(file, entry));
    std::vector<std::byte> bytes(entry.size);
    TRY(file.readAt(begin, bytes));
    if (directory.statesChecksums && updateCrc32(0, bytes) != entry.crc) {
        return corruptArchive("The checksum of " + entry.name.substr(entry.name.rfind('/') + 1)
            + " does not match, so the file is damaged; copy it again from where it was written");
    }
    return bytes;
}

} // namespace nanscope::tensorfile
