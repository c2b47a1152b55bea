// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ingest/log/columnmap.h"
#include "core/model/model.h"

namespace nanscope::ingest {

/// After so long a last line without its end is what a killed process left, and all there will be.
constexpr std::chrono::seconds restingTime {5};

/// What one log gave. Points are in the order of the file; a decrease of the step starts a new segment. A step that
/// was reported without a value has a point in state `reported`, counted as missing and not in pointCount.
struct LogContents : LogRecords
{
    std::string format; ///< "dion", "kempnerforge", "csv", "jsonl", ...; empty when nothing was recognised
    std::int64_t bytes = 0; ///< place in the file behind the last line that was taken: where to go on
    std::int64_t lines = 0; ///< line breaks before that place
    std::vector<std::string> columns {}; ///< names met, as the log has them; only where a map was given
};

} // namespace nanscope::ingest

namespace nanscope::platform {
class FileReader;
} // namespace nanscope::platform

namespace nanscope::ingest {

/// A log that is read in pieces of bounded size, so that an import stores while it reads.
class LogSource
{
public:
    virtual ~LogSource() = default;

    /// The next piece: about `most` points and events, fewer at the end or when cancelled.
    virtual LogContents next(std::size_t most, const CancelToken& cancel) = 0;
    virtual bool finished() const = 0;
    /// False: an import that was broken off has to begin at the start again.
    virtual bool resumable() const { return true; }
    /// What is unfinished at the end waits for the next import: it may still grow.
    virtual void leaveTail() { }
};

/// What the place of a log in its folder says.
struct LogPlace
{
    std::optional<int> rank;
    int attempt = 0;
    bool operator==(const LogPlace&) const = default;
};
LogPlace placeOf(const std::string& relative);

/// Its name says that a log is in it, packed or not.
bool isNamedLikeALog(const std::string& relative);
/// What a run prints, by its name: no table, no stream of errors alone, and not what W&B says of itself.
bool isNamedLikeAConsole(const std::string& relative);

/// The first bytes of a log are not those of a Git LFS pointer.
Result<void> refuseLfsPointer(std::string_view head, const std::filesystem::path& path);

/// The first 64 bytes of a binary log, or all it has; fails for a Git LFS pointer.
Result<std::string> readHead(const platform::FileReader& file, const std::filesystem::path& path);

} // namespace nanscope::ingest
