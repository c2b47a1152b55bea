// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/duplicates.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "core/ingest/logsource.h"
#include "core/platform/platform.h"
#include "core/session/session.h"

namespace nanscope::ingest {

namespace {

constexpr std::size_t blockSize = 256 * 1024;
constexpr std::uint64_t endBytes = 4096;
constexpr std::size_t mostAlike = 64; ///< that differ between their ends only

bool sameBytes(const std::filesystem::path& a, const std::filesystem::path& b, const CancelToken& cancel)
{
    const auto first = platform::FileReader::open(a);
    const auto second = platform::FileReader::open(b);
    if (!first || !second || first->size() != second->size()) {
        return false;
    }
    std::vector<std::byte> left(blockSize);
    std::vector<std::byte> right(blockSize);
    const auto written = [&](std::uint64_t at) { return std::min(first->dataFrom(at), second->dataFrom(at)); };
    for (auto at = written(0); at < first->size(); at = written(at + blockSize)) {
        if (cancel.cancelled()) {
            return false;
        }
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(blockSize, first->size() - at));
        if (!first->readAt(at, std::span(left).first(size)) || !second->readAt(at, std::span(right).first(size))
            || !std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(size), right.begin())) {
            return false;
        }
    }
    return true;
}

/// What two files must share before they are compared: thousands of ranks write logs of one size.
std::string keyOf(const FoundFile& file)
{
    const auto place = placeOf(file.relative);
    auto key = fmt::format("{} {} {} ", file.size, place.rank.value_or(-1), place.attempt);
    const auto reader = platform::FileReader::open(file.path);
    for (const auto at : {std::uint64_t {0}, file.size - std::min(file.size, endBytes)}) {
        std::string end(static_cast<std::size_t>(std::min(file.size, endBytes)), '\0');
        if (reader && reader->readAt(at, std::as_writable_bytes(std::span(end)))) {
            key += session::hashText(end);
        }
    }
    return key;
}

} // namespace

std::optional<std::string> SeenLogs::repeats(const FoundFile& file, const CancelToken& cancel)
{
    // Checkpoints hold the same vocabulary many times; only what is named like a log is held against others.
    if (file.size == 0 || !(isNamedLikeALog(file.relative) || isEventFileName(file.relative))) {
        return std::nullopt;
    }
    auto& others = m_alike[keyOf(file)];
    const auto same = std::find_if(others.begin(), others.end(),
        [&](const FoundFile& other) { return other.path != file.path && sameBytes(other.path, file.path, cancel); });
    if (same != others.end()) {
        return same->relative;
    }
    if (others.size() < mostAlike) {
        others.push_back(file);
    }
    return std::nullopt;
}

} // namespace nanscope::ingest
