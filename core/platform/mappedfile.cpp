// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/platform.h"

#include <cerrno>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

#include "core/platform/systemerror.h"

namespace nanscope::platform {

namespace {

class PosixMappedFile final : public MappedFile
{
public:
    PosixMappedFile(void* address, std::size_t size, const FileStamp& stamp)
    {
        m_bytes = {static_cast<const std::byte*>(address), size};
        m_stamp = stamp;
    }

    ~PosixMappedFile() override
    {
        if (!m_bytes.empty()) {
            ::munmap(const_cast<std::byte*>(m_bytes.data()), m_bytes.size());
        }
    }

    void willRead(std::span<const std::byte> part) const override
    {
        if (part.empty()) {
            return;
        }
        const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
        const auto beyond = begin & (page - 1);
        auto* aligned = const_cast<std::byte*>(part.data()) - beyond;
        ::madvise(aligned, part.size() + beyond, MADV_WILLNEED);
    }
};

} // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path)
{
    const auto file = FileReader::open(path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    if (file->size() == 0) {
        return std::make_shared<const PosixMappedFile>(nullptr, 0, file->stamp());
    }
    const auto size = static_cast<std::size_t>(file->size());
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->m_descriptor, 0);
    if (address == MAP_FAILED) {
        return systemFailure("The file cannot be mapped", errno, path);
    }
    return std::make_shared<const PosixMappedFile>(address, size, file->stamp());
}

} // namespace nanscope::platform
