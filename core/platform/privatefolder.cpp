// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/privatefolder.h"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/try.h"
#include "core/platform/platform.h"

namespace nanscope::platform {

namespace fs = std::filesystem;

Result<PrivateFolder> PrivateFolder::make()
{
    std::error_code error;
    auto pattern = (fs::temp_directory_path(error) / "nanscope-XXXXXX").string();
    if (error || ::mkdtemp(pattern.data()) == nullptr) {
        return systemFailure("A temporary folder cannot be made", error ? error.value() : errno, pattern);
    }
    return PrivateFolder(pattern);
}

Result<void> makePrivateFolders(const fs::path& path)
{
    std::error_code error;
    if (path.empty() || fs::is_directory(path, error)) {
        return {};
    }
    const auto plain = path.has_filename() ? path : path.parent_path();
    TRY(makePrivateFolders(plain.parent_path()));
    // Another program may make the same one at this moment.
    if (::mkdir(plain.c_str(), S_IRWXU) != 0 && !(errno == EEXIST && fs::is_directory(plain, error))) {
        return systemFailure("The folder cannot be made", errno, plain);
    }
    return {};
}

Result<void> makePrivateFile(const fs::path& path)
{
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor >= 0) {
        ::close(descriptor);
        return {};
    }
    // A link that leads nowhere is there and is no file: what it names would be made without a mode of its own.
    const int code = errno;
    std::error_code error;
    return code == EEXIST && fs::exists(path, error)
        ? Result<void>()
        : systemFailure("The file cannot be created", code == EEXIST ? ENOENT : code, path);
}

PrivateFolder::~PrivateFolder()
{
    std::error_code error;
    if (!m_path.empty()) {
        fs::remove_all(m_path, error);
    }
}

} // namespace nanscope::platform
