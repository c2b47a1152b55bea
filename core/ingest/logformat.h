// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/ingest/logbuilder.h"

namespace nanscope {

/// One line without colour codes and rank prefixes.
struct LogLine
{
    std::string_view text; ///< at least linePadding more bytes may be read behind it
    std::optional<int> rank; ///< from a prefix of the line
    std::int64_t number = 0;
    bool whole = true; ///< false: the file ends here without a line break, so the last value may be cut off
};

/// A log format: one file that implements this, one line in allFormats(), one test.
class LogFormat
{
public:
    virtual ~LogFormat() = default;
    virtual std::string_view name() const = 0;

    /// How well the first lines of a file fit: 0 it is not this format, 100 it is nothing else. A console format
    /// that may begin anywhere says 1.
    virtual int sniff(std::span<const std::string_view> head) = 0;

    /// True if the line was taken. Must cost next to nothing for lines of other formats.
    virtual bool parse(const LogLine& line, LogBuilder& builder) = 0;

    /// The end of the file: what is still held back is given out.
    virtual void finish(LogBuilder&) { }
};

constexpr int onlyThisFormat = 100;

std::unique_ptr<LogFormat> makeDionConsole();
std::unique_ptr<LogFormat> makeKempnerForge();
std::unique_ptr<LogFormat> makeCsvLog();
std::unique_ptr<LogFormat> makeJsonlLog();

inline std::vector<std::unique_ptr<LogFormat>> allFormats()
{
    std::vector<std::unique_ptr<LogFormat>> formats;
    formats.push_back(makeJsonlLog());
    formats.push_back(makeCsvLog());
    formats.push_back(makeDionConsole());
    formats.push_back(makeKempnerForge());
    return formats;
}

} // namespace nanscope
