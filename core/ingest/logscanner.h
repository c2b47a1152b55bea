// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ingest/events/eventreader.h"
#include "core/ingest/ingest.h"
#include "core/ingest/log/logformat.h"
#include "core/ingest/log/logsource.h"
#include "core/ingest/log/tableguess.h"
#include "core/ingest/text/launchlabels.h"
#include "core/ingest/text/linereader.h"

namespace nanscope::ingest {

/// Reads a log of lines, of whatever formats stand in it.
class LogScanner : public LogSource
{
public:
    /// `stored` is what an earlier import took of this log before `offset`.
    static Result<LogScanner> open(const std::filesystem::path& path, const std::string& relative,
        std::int64_t offset = 0, std::int64_t firstLine = 0, const std::vector<Series>& stored = {},
        const ColumnMap& columns = {});

    /// The last number of an unfinished line may still grow.
    void leaveTail() override { m_leaveTail = true; }

    LogContents next(std::size_t most, const CancelToken& cancel) override;
    bool finished() const override { return m_finished; }
    bool resumable() const override;

private:
    LogScanner(LineReader reader, LogBuilder builder);
    void chooseFormats(std::span<const std::string_view> head);
    void useColumns(const ColumnMap& columns, std::span<const std::string_view> head);
    void take(const RawLine& raw);
    void peel(LogLine& line);
    void finish();
    void noteBase(const LogFormat& format, const LogLine& line);
    void noteHeld(std::int64_t number, std::int64_t offset, std::int64_t linesBefore);
    void sayProblem();
    std::string format() const;
    std::vector<std::string> columns() const;

    ColumnMap m_columns;
    LineReader m_reader;
    LogBuilder m_builder;
    EventReader m_events;
    HostLabels m_hosts;
    std::vector<std::unique_ptr<LogFormat>> m_formats;
    std::vector<std::int64_t> m_taken; ///< lines per format
    std::optional<std::pair<std::int64_t, std::int64_t>> m_held; ///< place and line before what is not given out yet
    std::string m_scratch;
    bool m_raw = false; ///< the format chosen knows nothing of prefixes
    bool m_gaveEvents = false;
    bool m_baseKnown = false; ///< from the first row, here or of an earlier import
    bool m_leaveTail = false;
    bool m_finished = false;
};

/// What the first lines of a file look like, whether a format knows them or not.
std::optional<TableGuess> guessFile(const std::filesystem::path& path);

} // namespace nanscope::ingest
