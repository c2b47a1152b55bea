// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/systemerror.h"

#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

namespace nanscope::platform {

std::string systemReason(int code)
{
    switch (code) {
    case ENOENT:
        return "there is no such file";
    case EACCES:
    case EPERM:
        return "permission is denied; check the owner and mode of the file and its folders";
    case ELOOP:
        return "its symbolic links form a loop";
    case EISDIR:
        return "it is a folder, not a file";
    case ENOSPC:
    case EDQUOT:
        return "the disk is full; free some space and try again";
    case EMFILE:
    case ENFILE:
        return "too many files are open; raise the limit with ulimit -n";
    case EFBIG:
        return "it would be larger than files may become here; raise the limit with ulimit -f";
    case EROFS:
        return "the file system is read-only";
    default:
        return "the system says: " + std::generic_category().message(code);
    }
}

tl::unexpected<Error> systemFailure(const char* doing, int code, const std::filesystem::path& path)
{
    return failure(ErrorKind::io, std::string(doing) + ", " + systemReason(code), path.string());
}

void failAtFileSizeLimit()
{
    std::signal(SIGXFSZ, SIG_IGN);
}

} // namespace nanscope::platform
