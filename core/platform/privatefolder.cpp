// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/privatefolder.h"

#include <cerrno>
#include <string>

#include <unistd.h>

#include "core/platform/systemerror.h"

namespace nanscope {

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

PrivateFolder::~PrivateFolder()
{
    std::error_code error;
    if (!m_path.empty()) {
        fs::remove_all(m_path, error);
    }
}

} // namespace nanscope
