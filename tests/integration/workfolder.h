// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/tensorfile/tensorfile.h"

namespace nanscope::testing {

/// A fresh folder that goes away with its object.
class WorkFolder
{
public:
    WorkFolder();
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;

    const std::filesystem::path& path() const { return m_path; }
    std::string operator/(const std::string& name) const { return (m_path / name).string(); }

private:
    std::filesystem::path m_path;
};

struct MadeCapture
{
    std::int64_t rows = 24;
    std::int64_t cols = 40;
    bool nanInput = false;
    bool nanOutput = true; ///< one element, or all where the input has one
    double epsilon = 1e-7;
};

/// Writes a capture as the dion wrapper does, from a fixed seed, and returns its path.
std::string writeCapture(const std::filesystem::path& path, const MadeCapture& wanted = {});

/// Of a file, byte for byte.
std::string contentsOf(const std::filesystem::path& path);

void writeText(const std::filesystem::path& path, const std::string& text);

/// A torch archive whose data.pkl is `pickle`: what a stranger could send.
void writeArchive(const std::filesystem::path& path, const std::string& pickle);

} // namespace nanscope::testing
