// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <sys/stat.h>

#include "core/base/try.h"
#include "core/platform/platform.h"

namespace nanscope::platform {

namespace {

FileStamp stampOf(const struct stat& info)
{
    return {static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino),
        static_cast<std::uint64_t>(info.st_size),
        static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
}

} // namespace

Result<FileReader> FileReader::open(const std::filesystem::path& path)
{
    // O_NONBLOCK: opening a pipe that is called x.pt must not wait for a writer.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return systemFailure("The file cannot be opened", errno, path);
    }
    FileReader reader(path, descriptor);
    struct stat info
    { };
    if (::fstat(descriptor, &info) != 0) {
        return systemFailure("The file cannot be examined", errno, path);
    }
    if (S_ISDIR(info.st_mode)) {
        return systemFailure("The file cannot be read", EISDIR, path);
    }
    if (!S_ISREG(info.st_mode)) {
        return failure(ErrorKind::format, "This is a pipe, socket or device, not a file with contents", path.string());
    }
    reader.m_stamp = stampOf(info);
    reader.m_size = reader.m_stamp.size;
    return reader;
}

FileReader::FileReader(FileReader&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_stamp(other.m_stamp)
    , m_begin(other.m_begin)
    , m_size(other.m_size)
    , m_edges(std::move(other.m_edges))
{ }

FileReader& FileReader::operator=(FileReader&& other) noexcept
{
    std::swap(m_path, other.m_path);
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_stamp, other.m_stamp);
    std::swap(m_begin, other.m_begin);
    std::swap(m_size, other.m_size);
    std::swap(m_edges, other.m_edges);
    return *this;
}

FileReader::~FileReader()
{
    if (m_descriptor >= 0) {
        ::close(m_descriptor);
    }
}

bool FileReader::readEdge(std::uint64_t offset, std::span<std::byte> out) const
{
    for (const auto& edge : m_edges) {
        const auto end = edge.offset + edge.bytes.size();
        if (offset >= edge.offset && offset <= end && out.size() <= end - offset) {
            std::copy_n(
                edge.bytes.begin() + static_cast<std::ptrdiff_t>(offset - edge.offset), out.size(), out.begin());
            return true;
        }
    }
    return false;
}

Result<void> FileReader::keepEdges(std::uint64_t size)
{
    Edge first {0, std::vector<std::byte>(std::min(size, m_size))};
    Edge last {std::max(m_size, size) - size, {}};
    // What both would hold is read once.
    last.offset = std::max<std::uint64_t>(last.offset, first.bytes.size());
    last.bytes.resize(m_size - last.offset);
    for (auto* edge : {&first, &last}) {
        TRY(readAt(edge->offset, edge->bytes));
    }
    m_edges = {std::move(first), std::move(last)};
    return {};
}

Result<void> FileReader::narrowTo(const FilePart& part)
{
    const auto whole = m_stamp.size;
    if (part.offset > whole || part.size.value_or(0) > whole - part.offset) {
        return failure(ErrorKind::truncated,
            "The file ends before a part of it that another file names; it is cut off, copy it again", m_path.string());
    }
    m_begin = part.offset;
    m_size = part.size.value_or(whole - part.offset);
    m_edges = {};
    return {};
}

std::uint64_t FileReader::dataFrom(std::uint64_t offset) const
{
    const auto at = ::lseek(m_descriptor, static_cast<off_t>(m_begin + offset), SEEK_DATA);
    if (at < 0) {
        return errno == ENXIO ? size() : offset; // what the file system does not know counts as written
    }
    return std::clamp(static_cast<std::uint64_t>(at) - m_begin, offset, std::max(offset, size()));
}

Result<void> FileReader::readAt(std::uint64_t offset, std::span<std::byte> out) const
{
    constexpr std::size_t largestRead = std::size_t {1} << 30;
    if (readEdge(offset, out)) {
        return {};
    }
    std::size_t done = 0;
    while (done < out.size()) {
        const auto got = ::pread(m_descriptor, out.data() + done, std::min(out.size() - done, largestRead),
            static_cast<off_t>(m_begin + offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return systemFailure("The file cannot be read", errno, m_path);
        }
        if (got == 0) {
            return failure(ErrorKind::truncated,
                "The file ended while it was being read; it is cut off or still changing", m_path.string());
        }
        done += static_cast<std::size_t>(got);
    }
    return {};
}

} // namespace nanscope::platform
