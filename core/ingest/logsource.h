// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ingest/ingest.h"

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

/// More than this is read behind all other logs of a run, which may be worth more and cost less.
constexpr std::int64_t muchText = std::int64_t {256} << 20;

/// Text, TensorBoard's event file, what W&B keeps of a run, or the folder of metrics of a run of MLflow. `stored` is
/// what an earlier import took of this log before `offset`, which is behind line (or record) `firstLine`, read with the
/// same columns.
Result<std::unique_ptr<LogSource>> openLog(const std::filesystem::path& path, const std::string& relative,
    std::int64_t offset = 0, std::int64_t firstLine = 0, const std::vector<Series>& stored = {},
    const ColumnMap& columns = {});

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

/// The first bytes of a log are not those of a Git LFS pointer.
Result<void> refuseLfsPointer(std::string_view head, const std::filesystem::path& path);

/// The first 64 bytes of a binary log, or all it has; fails for a Git LFS pointer.
Result<std::string> readHead(const platform::FileReader& file, const std::filesystem::path& path);

/// "events.out.tfevents.<time>.<host>...": a file name as TensorBoard's writers make it.
bool isEventFileName(const std::string& name);

Result<std::unique_ptr<LogSource>> openEventFile(const std::filesystem::path& path, const std::string& relative,
    std::int64_t offset, std::int64_t firstRecord, const std::vector<Series>& stored, const ColumnMap& columns);

/// "run-<id>.wandb": what W&B keeps of a run on disk.
bool isWandbName(const std::string& name);

/// The console that W&B keeps beside its file, which it repeats.
std::filesystem::path wandbConsoleBeside(const std::filesystem::path& path);

Result<std::unique_ptr<LogSource>> openWandb(
    const std::filesystem::path& path, const std::string& relative, std::int64_t offset, const ColumnMap& columns);

} // namespace nanscope::ingest
