// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "core/model/capture.h"

namespace nanscope {

/// A file and the capture it must hold. A path alone means whatever capture lies there, which is right only for a file
/// that the user named; one that was imported is referred to by its Capture, so that nothing else is taken for it.
struct CaptureRef
{
    std::string path;
    std::string identity; ///< Capture::identity; empty: any

    CaptureRef() = default;
    CaptureRef(std::string file, std::string wanted = {})
        : path(std::move(file))
        , identity(std::move(wanted))
    { }
    CaptureRef(const char* file)
        : path(file)
    { }
    CaptureRef(const std::filesystem::path& file)
        : path(file.string())
    { }
    CaptureRef(const Capture& capture)
        : path(capture.path)
        , identity(capture.identity)
    { }

    bool empty() const { return path.empty(); }
    bool operator==(const CaptureRef&) const = default;
};

} // namespace nanscope
