// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <utility>

#include "core/base/result.h"

namespace nanscope::platform {

/// A new folder for temporary files that only its owner may enter; it goes away with its object.
class PrivateFolder
{
public:
    static Result<PrivateFolder> make();
    PrivateFolder(PrivateFolder&& other) noexcept
        : m_path(std::exchange(other.m_path, {}))
    { }
    PrivateFolder& operator=(PrivateFolder&& other) noexcept
    {
        std::swap(m_path, other.m_path);
        return *this;
    }
    ~PrivateFolder();

    const std::filesystem::path& path() const { return m_path; }

private:
    explicit PrivateFolder(std::filesystem::path path)
        : m_path(std::move(path))
    { }

    std::filesystem::path m_path;
};

/// Makes the folder, and those above it that are missing, for their owner alone, whatever the umask says. What is there
/// keeps its mode, which its owner may have chosen.
Result<void> makePrivateFolders(const std::filesystem::path& path);

/// Makes an empty file that its owner alone may read and write, unless there is a file already, which keeps its mode.
Result<void> makePrivateFile(const std::filesystem::path& path);

} // namespace nanscope::platform
