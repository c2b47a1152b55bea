// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/duplicates.h"

#include <algorithm>
#include <span>

#include "core/ingest/logsource.h"
#include "core/platform/platform.h"

namespace nanscope {

namespace {

constexpr std::size_t blockSize = 256 * 1024;
constexpr std::size_t mostOfASize = 1000;

bool samePlace(const std::string& a, const std::string& b)
{
    const auto ofA = placeOf(a);
    const auto ofB = placeOf(b);
    return ofA.rank == ofB.rank && ofA.attempt == ofB.attempt;
}

bool sameBytes(const std::filesystem::path& a, const std::filesystem::path& b)
{
    const auto first = FileReader::open(a);
    const auto second = FileReader::open(b);
    if (!first || !second || first->size() != second->size()) {
        return false;
    }
    std::vector<std::byte> left(blockSize);
    std::vector<std::byte> right(blockSize);
    for (std::uint64_t at = 0; at < first->size(); at += blockSize) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(blockSize, first->size() - at));
        if (!first->readAt(at, std::span(left).first(size)) || !second->readAt(at, std::span(right).first(size))
            || !std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(size), right.begin())) {
            return false;
        }
    }
    return true;
}

} // namespace

std::optional<std::string> SeenLogs::repeats(const FoundFile& file)
{
    // Checkpoints hold the same vocabulary many times; only what is named like a log is held against others.
    if (file.size == 0 || !(isNamedLikeALog(file.relative) || isEventFileName(file.relative))) {
        return std::nullopt;
    }
    auto& others = m_bySize[file.size];
    const auto same = std::find_if(others.begin(), others.end(), [&](const FoundFile& other) {
        return samePlace(other.relative, file.relative) && sameBytes(other.path, file.path);
    });
    if (same != others.end()) {
        return same->relative;
    }
    if (others.size() < mostOfASize) {
        others.push_back(file);
    }
    return std::nullopt;
}

} // namespace nanscope
