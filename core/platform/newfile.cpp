// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/newfile.h"

#include <cerrno>

#include <unistd.h>

#include "core/platform/platform.h"

namespace nanscope::platform {

namespace {

bool linksAreMissing(int code)
{
    return code == EPERM || code == ENOTSUP || code == ENOSYS;
}

} // namespace

int processId()
{
    return ::getpid();
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
