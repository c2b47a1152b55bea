// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/platform.h"

#include <atomic>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/try.h"

namespace nanscope::platform {

namespace {

std::filesystem::path temporaryName(const std::filesystem::path& target)
{
    static std::atomic<unsigned> counter {0};
    const auto suffix = std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1));
    return target.parent_path() / ("." + target.filename().string() + "." + suffix + ".tmp");
}

/// What is new is its owner's alone, since it holds private tensors and logs. A file that is written anew keeps its
/// mode: where it is open to others, its owner opened it on purpose.
void keepMode(int descriptor, const std::filesystem::path& target)
{
    struct stat old
    { };
    if (::stat(target.c_str(), &old) == 0 && S_ISREG(old.st_mode)) {
        ::fchmod(descriptor, old.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)); // where it fails, it stays private
    }
}

void flushFolder(const std::filesystem::path& file)
{
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        ::fsync(descriptor); // best effort: some network file systems refuse it
        ::close(descriptor);
    }
}

bool linksAreMissing(int code)
{
    return code == EPERM || code == ENOTSUP || code == ENOSYS;
}

} // namespace

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& target)
{
    AtomicFile file;
    file.m_target = target;
    for (int attempt = 0; attempt < 100; ++attempt) {
        file.m_temporary = temporaryName(target);
        file.m_descriptor =
            ::open(file.m_temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (file.m_descriptor >= 0) {
            return file;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return systemFailure("The file cannot be created", errno, target);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : m_target(std::move(other.m_target))
    , m_temporary(std::move(other.m_temporary))
    , m_descriptor(std::exchange(other.m_descriptor, -1))
{ }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept
{
    std::swap(m_target, other.m_target);
    std::swap(m_temporary, other.m_temporary);
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
}

AtomicFile::~AtomicFile()
{
    discard();
}

void AtomicFile::discard() noexcept
{
    if (m_descriptor >= 0) {
        ::close(m_descriptor);
        ::unlink(m_temporary.c_str());
        m_descriptor = -1;
    }
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        const auto written = ::write(m_descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return systemFailure("The file cannot be written", errno, m_target);
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

Result<void> AtomicFile::commit()
{
    keepMode(m_descriptor, m_target);
    if (::fsync(m_descriptor) != 0) {
        return systemFailure("The file cannot be flushed to disk", errno, m_target);
    }
    if (::rename(m_temporary.c_str(), m_target.c_str()) != 0) {
        return systemFailure("The finished file cannot be given its name", errno, m_target);
    }
    ::close(std::exchange(m_descriptor, -1));
    flushFolder(m_target);
    return {};
}

Result<void> writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes)
{
    auto file = TRY(AtomicFile::create(path));
    TRY(file.write(bytes));
    return file.commit();
}

Result<bool> giveNewName(const std::filesystem::path& temporary, const std::filesystem::path& path)
{
    if (::link(temporary.c_str(), path.c_str()) == 0) {
        ::unlink(temporary.c_str()); // where it fails, a hidden name more is left
        return true;
    }
    std::error_code ignored;
    const int code = errno;
    if (code == EEXIST || std::filesystem::exists(path, ignored)) {
        return false;
    }
    if (linksAreMissing(code) && ::rename(temporary.c_str(), path.c_str()) == 0) {
        return true;
    }
    return systemFailure("The finished file cannot be given its name", code, path);
}

} // namespace nanscope::platform
