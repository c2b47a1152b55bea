// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/ingest/log/logformat.h"

namespace nanscope::ingest {

/// What trainers print of their checkpoints, as their sources have it. A new one is one line of the table.
enum class CheckpointWord {
    begins, ///< saving began; only a line that `completes` tells of its end
    saves, ///< the same, and training waits for it: the next row of metrics tells of its end, too
    completes,
    saved,
    removed,
    loads, ///< loading began
    loaded,
    startsAt, ///< training goes on with this step: what was being loaded is loaded, if it was the step before
};

enum class CheckpointStep {
    inLine, ///< in a group `step`, else in what a group `path` took
    ofRowAbove, ///< of the metrics in the line right above; the file is the same every time
    ofInterval, ///< of the last metrics, where the configured interval of saving says that it was then
};

struct CheckpointLine
{
    CheckpointWord word;
    const char* pattern;
    CheckpointStep step = CheckpointStep::inLine;
};

std::span<const CheckpointLine> checkpointLines();

/// Makes facts of what a log says of checkpoints. That saving began is none: it may never have ended.
class CheckpointReader
{
public:
    /// What the groups of the pattern took.
    struct Groups
    {
        std::optional<std::int64_t> step;
        std::string_view path;
    };

    void take(const CheckpointLine& what, const Groups& groups, const LogLine& line, LogBuilder& builder);

    /// A row of metrics: a trainer that waits for its checkpoints has none that is half written.
    void trainingWentOn(const LogLine& line, LogBuilder& builder);

    /// An exception: what this process was writing may be torn. A save in the background may still end.
    void processFailed(const LogLine& line, LogBuilder& builder);
    /// Training begins anew: what an earlier process began to save will not end any more.
    void processBegan(LogBuilder& builder);

private:
    struct Pending
    {
        std::optional<std::int64_t> step;
        std::string path;
        std::int64_t line = 0;
        bool waitedFor = false;
        std::optional<int> rank {};
        std::optional<std::int64_t> rowBefore {}; ///< step of the metrics before it
    };
    using ByRank = std::map<int, Pending>;

    void begin(const CheckpointLine& what, Pending pending, const LogLine& line, LogBuilder& builder);
    std::optional<std::int64_t> stepOfRow(CheckpointStep from, const LogLine& line, const LogBuilder& builder);
    void overwrite(const Pending& pending, LogBuilder& builder);
    void removeAll(const Pending& pending, LogBuilder& builder);
    void give(CheckpointFact fact, const Pending& pending, LogBuilder& builder);
    static void sayUnfinished(const Pending& pending, LogBuilder& builder);

    ByRank m_saving; ///< -1 for no rank
    ByRank m_loading;
    std::map<int, std::int64_t> m_rowsUsed; ///< lines of the metrics that gave a save its step
    std::map<std::string, std::int64_t> m_inPlace; ///< last step by path, of files that are written over
    std::optional<std::pair<std::int64_t, CheckpointFact>> m_given; ///< last: every rank may say it
};

/// The step in the last part of a checkpoint's path ("/ckpt/step_1000", "checkpoint-500", "epoch=0-step=100.ckpt").
std::optional<std::int64_t> stepOfPath(std::string_view path);

} // namespace nanscope::ingest
