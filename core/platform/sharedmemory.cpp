// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/sharedmemory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/try.h"
#include "core/platform/descriptor.h"
#include "core/platform/platform.h"

namespace nanscope::platform {

namespace {

constexpr std::string_view prefix = "/nanscope-";
constexpr std::string_view digits = "0123456789abcdef";
constexpr std::size_t randomDigits = 32;
constexpr int mostAttempts = 100;

std::string randomName()
{
    std::random_device device;
    std::string name(prefix);
    for (std::size_t i = 0; i < randomDigits; i += 8) {
        for (auto [word, digit] = std::pair(std::uint32_t {device()}, 0); digit < 8; ++digit, word >>= 4U) {
            name.push_back(digits[word & 15U]);
        }
    }
    return name;
}

bool isBlockName(std::string_view name)
{
    return name.size() == prefix.size() + randomDigits && name.substr(0, prefix.size()) == prefix
        && name.find_first_not_of(digits, prefix.size()) == std::string_view::npos;
}

bool lock(const Descriptor& block)
{
    return ::flock(block.get(), LOCK_EX | LOCK_NB) == 0;
}

/// A new name with its lock held, or none: a process that clears away abandoned blocks may come between the two.
Descriptor createLocked(const std::string& name)
{
    Descriptor block(::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR));
    struct stat state = {};
    if (!block.open() || (lock(block) && ::fstat(block.get(), &state) == 0 && state.st_nlink > 0)) {
        return block;
    }
    block.close();
    ::shm_unlink(name.c_str());
    errno = EEXIST;
    return block;
}

Result<std::byte*> mapped(int descriptor, std::size_t size, int protection, const std::string& name)
{
    void* address = ::mmap(nullptr, size, protection, MAP_SHARED, descriptor, 0);
    if (address == MAP_FAILED) {
        return systemFailure("Shared memory cannot be mapped", errno, name);
    }
    return static_cast<std::byte*>(address);
}

Result<void> checkIsOurs(const Descriptor& block, std::size_t size, const std::string& name)
{
    struct stat state = {};
    if (::fstat(block.get(), &state) != 0) {
        return systemFailure("Shared memory cannot be looked at", errno, name);
    }
    if (state.st_uid != ::geteuid() || (state.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return failure(ErrorKind::refused, "shared memory that others can reach is not read", name);
    }
    if (std::cmp_not_equal(state.st_size, size)) {
        return failure(ErrorKind::corrupt,
            "shared memory holds " + std::to_string(state.st_size) + " bytes where " + std::to_string(size)
                + " were announced",
            name);
    }
    return {};
}

} // namespace

Result<SharedBlock> SharedBlock::create(std::size_t size)
{
    if (size == 0) {
        return failure(ErrorKind::usage, "a shared block of no bytes was asked for");
    }
    SharedBlock block;
    for (int attempt = 0; block.m_descriptor < 0; ++attempt) {
        block.m_name = randomName();
        auto made = createLocked(block.m_name);
        if (!made.open() && (errno != EEXIST || attempt == mostAttempts)) {
            return systemFailure("Shared memory cannot be made", errno, block.m_name);
        }
        block.m_descriptor = made.release();
    }
    TRY(block.allocate(size));
    return block;
}

Result<void> SharedBlock::allocate(std::size_t size)
{
    // Pages that are only promised end the program by a signal where the system has not got them.
    if (const int code = ::posix_fallocate(m_descriptor, 0, static_cast<off_t>(size)); code != 0) {
        return systemFailure("Shared memory cannot be had", code, m_name);
    }
    return mapped(m_descriptor, size, PROT_READ | PROT_WRITE, m_name).map([this, size](std::byte* address) {
        m_address = address;
        m_size = size;
    });
}

SharedBlock::SharedBlock(SharedBlock&& other) noexcept
    : m_name(std::exchange(other.m_name, {}))
    , m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_address(std::exchange(other.m_address, nullptr))
    , m_size(std::exchange(other.m_size, 0))
{ }

SharedBlock& SharedBlock::operator=(SharedBlock&& other) noexcept
{
    std::swap(m_name, other.m_name);
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_address, other.m_address);
    std::swap(m_size, other.m_size);
    return *this;
}

SharedBlock::~SharedBlock()
{
    close();
    if (m_descriptor >= 0) {
        ::shm_unlink(m_name.c_str());
        ::close(m_descriptor);
    }
}

void SharedBlock::close()
{
    if (m_address != nullptr) {
        ::munmap(std::exchange(m_address, nullptr), m_size);
    }
}

bool SharedBlock::taken() const
{
    struct stat state = {};
    return ::fstat(m_descriptor, &state) == 0 && state.st_nlink == 0;
}

Result<SharedView> SharedView::take(const std::string& name, std::size_t size)
{
    if (!isBlockName(name) || size == 0) {
        return failure(ErrorKind::usage, "this names no shared block", name);
    }
    const Descriptor block(::shm_open(name.c_str(), O_RDONLY, 0));
    if (!block.open()) {
        return errno == ENOENT ? failure(ErrorKind::io, "the shared block is gone, a later one took its place", name)
                               : systemFailure("Shared memory cannot be opened", errno, name);
    }
    TRY(checkIsOurs(block, size, name));
    ::shm_unlink(name.c_str());
    return mapped(block.get(), size, PROT_READ, name).map([size](std::byte* address) {
        SharedView view;
        view.m_address = address;
        view.m_size = size;
        return view;
    });
}

SharedView::SharedView(SharedView&& other) noexcept
    : m_address(std::exchange(other.m_address, nullptr))
    , m_size(std::exchange(other.m_size, 0))
{ }

SharedView& SharedView::operator=(SharedView&& other) noexcept
{
    std::swap(m_address, other.m_address);
    std::swap(m_size, other.m_size);
    return *this;
}

SharedView::~SharedView()
{
    if (m_address != nullptr) {
        ::munmap(const_cast<std::byte*>(m_address), m_size);
    }
}

void removeSharedBlock(const std::string& name)
{
    if (isBlockName(name)) {
        ::shm_unlink(name.c_str());
    }
}

void removeAbandonedBlocks()
{
    std::error_code error;
    std::filesystem::directory_iterator entries("/dev/shm", error);
    for (const std::filesystem::directory_iterator end; !error && entries != end; entries.increment(error)) {
        const auto name = '/' + entries->path().filename().string();
        if (!isBlockName(name)) {
            continue;
        }
        // The lock of a process that was killed is free.
        const Descriptor block(::shm_open(name.c_str(), O_RDWR, 0));
        if (block.open() && lock(block)) {
            ::shm_unlink(name.c_str());
        }
    }
}

} // namespace nanscope::platform
