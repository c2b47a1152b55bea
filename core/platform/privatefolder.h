// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <utility>

#include "core/model/result.h"

namespace nanscope {

/// A new folder for temporary files that nobody else may enter; it goes away with its object.
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

} // namespace nanscope
