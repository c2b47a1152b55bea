// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/stores/eventfiles.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/ingest/logsource.h"
#include "core/platform/platform.h"

namespace nanscope::ingest {

namespace {

constexpr std::size_t headerBytes = 12; ///< of a record, as tensorboard.cpp reads it
constexpr std::string_view mark = ".tfevents.";

/// When its writer began: in its first record, "wall_time", else in its name.
double startOf(const std::filesystem::path& path)
{
    constexpr char wallTime = 0x09; // field 1, a double
    std::array<char, headerBytes + 1 + sizeof(double)> head {};
    auto file = platform::FileReader::open(path);
    if (file && file->readAt(0, std::as_writable_bytes(std::span(head))) && head[headerBytes] == wallTime) {
        double time = 0;
        std::memcpy(&time, head.data() + headerBytes + 1, sizeof time);
        return time;
    }
    const auto name = path.filename().string();
    return std::strtod(name.c_str() + name.find(mark) + mark.size(), nullptr);
}

} // namespace

int placeAmongOthers(const std::filesystem::path& path)
{
    constexpr int most = 1000;
    const auto own = std::pair(startOf(path), path.filename().string());
    std::error_code error;
    int before = 0;
    for (std::filesystem::directory_iterator entry(path.parent_path(), error), end;
         !error && entry != end && before < most; entry.increment(error)) {
        const auto name = entry->path().filename().string();
        if (isEventFileName(name) && name != own.second && std::pair(startOf(entry->path()), name) < own) {
            ++before;
        }
    }
    return before;
}

bool isEventFileName(const std::string& name)
{
    return name.find(mark) != std::string::npos;
}

} // namespace nanscope::ingest
