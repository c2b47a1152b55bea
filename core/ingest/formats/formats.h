// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A log format is one .cpp of this folder. CMake lists the files (formats.cpp.in), so that a new one is added to no
// list: fooFormat() in foo.cpp is called where formats are asked for.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/ingest/log/logformat.h"

namespace nanscope::ingest {

constexpr double millisecondsPerSecond = 1000;
constexpr std::size_t longestLogger = 120; ///< what a logger puts before a line of metrics

/// What a file of this folder offers.
struct FormatFile
{
    /// The formats with lower numbers are asked first. Formats of files that are nothing else come before 40, those of
    /// one trainer each from 40 on, those that take the lines of any trainer from 160 on.
    int priority = 0;
    std::function<std::unique_ptr<LogFormat>()> make;
};

template <class Format, class... Arguments>
FormatFile formatFile(int priority, Arguments... arguments)
{
    return {
        priority, [arguments...]() -> std::unique_ptr<LogFormat> { return std::make_unique<Format>(arguments...); }};
}

/// One for each file, in order of priority; files of one priority in the order of their names.
const std::vector<FormatFile>& formatFiles();

/// All formats, new, in the order in which they are asked for a line.
inline std::vector<std::unique_ptr<LogFormat>> allFormats()
{
    std::vector<std::unique_ptr<LogFormat>> formats;
    for (const auto& file : formatFiles()) {
        formats.push_back(file.make());
    }
    return formats;
}

} // namespace nanscope::ingest
