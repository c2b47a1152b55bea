// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/logimport.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <system_error>

#include "core/base/try.h"
#include "core/ingest/ingest.h"
#include "core/ingest/loghistory.h"
#include "core/ingest/logscanner.h"
#include "core/ingest/settings/configfile.h"
#include "core/ingest/settings/runrecord.h"
#include "core/ingest/stores/mlflow.h"
#include "core/ingest/stores/tensorboard.h"
#include "core/ingest/stores/wandb.h"
#include "core/ingest/text/textsource.h"
#include "core/platform/platform.h"
#include "core/session/session.h"

namespace nanscope::ingest {

Result<std::unique_ptr<LogSource>> openLog(const std::filesystem::path& path, const std::string& relative,
    std::int64_t offset, std::int64_t firstLine, const std::vector<Series>& stored, const ColumnMap& columns)
{
    if (isEventFileName(path.filename().string())) {
        return openEventFile(path, relative, offset, firstLine, stored, columns);
    }
    if (isMlflowMetrics(path)) {
        return openMlflow(path, relative, columns);
    }
    if (isWandbName(path.filename().string())) {
        return openWandb(path, relative, offset, columns);
    }
    if (hasRunRecordName(relative)) {
        return openRunRecord(path, relative);
    }
    if (hasConfigName(relative) || isEnvironment(path)) {
        return openConfig(path, relative);
    }
    return LogScanner::open(path, relative, offset, firstLine, stored, columns)
        .map([](LogScanner&& scanner) -> std::unique_ptr<LogSource> {
            return std::make_unique<LogScanner>(std::move(scanner));
        });
}

Result<LogContents> readLog(const std::filesystem::path& path, const std::string& relative, std::int64_t offset,
    std::int64_t firstLine, const JobContext& job, const ColumnMap& columns)
{
    auto log = TRY(openLog(path, relative, offset, firstLine, {}, columns));
    auto contents = log->next(std::numeric_limits<std::size_t>::max(), job.cancel);
    if (!log->finished()) {
        return failure(ErrorKind::cancelled, "cancelled while reading a log", path.string());
    }
    return contents;
}

bool isEmpty(const LogRecords& records)
{
    return records.series.empty() && records.events.empty() && records.checkpoints.empty() && records.settings.empty();
}

namespace {

/// One log on its way into a session.
class LogImport
{
public:
    LogImport(const FoundFile& file, session::Session& session, LogQueue& queue, const ColumnMap& columns)
        : m_file(file)
        , m_session(session)
        , m_queue(queue)
        , m_columns(columns)
    { }

    LogRead read() const
    {
        return m_putOff    ? LogRead::putOff
            : m_gaveSeries ? LogRead::series
            : m_unknown    ? LogRead::unknown
                           : LogRead::nothing;
    }

    Result<void> run(
        const std::vector<Series>& stored, const std::function<void(std::int64_t)>& advance, const CancelToken& cancel)
    {
        auto mark = TRY(startingMark());
        m_stored = mark.offset;
        const auto own = mark.offset > 0 ? seriesOfThis(stored) : std::vector<Series>();
        m_gaveSeries = !own.empty();
        m_unknown = mark.offset == 0 && m_size > 0;
        if (mark.offset == static_cast<std::int64_t>(m_size)) {
            return {};
        }
        m_putOff = !m_file.last && holdsMoreThan(m_file.path, muchText, cancel);
        if (m_putOff) {
            return {};
        }
        auto opened = openLog(m_file.path, m_file.relative, mark.offset, mark.line, own, m_columns);
        if (opened && mark.offset > 0 && !(*opened)->resumable()) {
            m_replaced = mark;
            mark = freshMark();
            m_stored = 0;
            m_gaveSeries = false;
            opened = openLog(m_file.path, m_file.relative, 0, 0, {}, m_columns);
        }
        const auto log = TRY(std::move(opened));
        if (!m_atRest) {
            log->leaveTail();
        }
        while (!log->finished() && !cancel.cancelled()) {
            TRY(store(log->next(pointsPerPiece, cancel), mark));
            advance(mark.offset);
        }
        return {};
    }

private:
    std::vector<Series> seriesOfThis(const std::vector<Series>& all) const
    {
        std::vector<Series> own;
        std::copy_if(all.begin(), all.end(), std::back_inserter(own),
            [&](const Series& series) { return series.source == m_file.relative; });
        return own;
    }

    /// Where to go on: behind what is stored, or at the start if that is no longer what the file holds.
    Result<session::LogMark> startingMark()
    {
        auto reader = TRY(platform::FileReader::open(m_file.path));
        m_size = reader.size();
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        m_atRest = now - std::chrono::nanoseconds(reader.stamp().modifiedNs) > restingTime;
        const auto stored = TRY(m_session.logMark(m_file.relative));
        if (!stored) {
            return freshMark();
        }
        const auto& before = *stored;
        const bool same = before.offset <= static_cast<std::int64_t>(m_size)
            && sameContents(markAt(reader, before.offset, m_columns), before);
        if (same && sameColumns(before, m_columns)) {
            return before;
        }
        if (same) {
            return m_session.dropLog(m_file.relative).map(freshMark);
        }
        m_replaced = before;
        return freshMark();
    }

    static session::LogMark freshMark()
    {
        session::LogMark fresh;
        fresh.from = 0;
        return fresh;
    }

    Result<void> store(LogContents contents, session::LogMark& mark)
    {
        // Small files that are no log are not worth a row, however many lie around.
        constexpr std::int64_t worthRemembering = 1 << 20;
        const bool empty = isEmpty(contents);
        m_unknown = m_unknown && empty && contents.format.empty();
        if (empty
            && (contents.bytes == mark.offset || (contents.format.empty() && contents.bytes < worthRemembering))) {
            mark.offset = contents.bytes;
            return {};
        }
        auto reader = TRY(platform::FileReader::open(m_file.path));
        if (const auto before = std::exchange(m_replaced, std::nullopt)) {
            TRY(m_session.replaceLog(m_file.relative, *before));
        }
        auto next = markAt(reader, contents.bytes, m_columns);
        next.line = contents.lines;
        next.from = m_stored;
        m_gaveSeries = m_gaveSeries || !contents.series.empty();
        m_stored = next.offset;
        mark = next;
        return m_queue.add(
            {m_file.relative, std::move(contents.format), std::move(next), static_cast<LogRecords&&>(contents)});
    }

    const FoundFile& m_file;
    session::Session& m_session;
    LogQueue& m_queue;
    const ColumnMap& m_columns;
    /// What the file held before it was begun anew. That stays what the log tells until there is something else: a file
    /// that was emptied says nothing yet.
    std::optional<session::LogMark> m_replaced;
    bool m_gaveSeries = false; ///< now or at an earlier import
    bool m_unknown = false; ///< read from its start, and no line was known so far
    bool m_putOff = false;
    std::uint64_t m_size = 0;
    bool m_atRest = false; ///< nobody has written to it for a while
    std::int64_t m_stored = 0;
};

/// What was read of the same state with other columns goes, what else was read stays.
Result<void> makeRoom(
    const FoundFile& folder, session::Session& session, const session::LogMark& stored, const ColumnMap& columns)
{
    return stillHolds(folder, stored) && !sameColumns(stored, columns)
        ? session.dropLog(folder.relative)
        : session.replaceLog(folder.relative, stored).map([](const std::string&) {});
}

/// A folder that stands for a log is read anew whenever one of its files changed.
Result<LogRead> importFolder(const FoundFile& folder, session::Session& session, const ColumnMap& columns,
    const std::function<void(std::int64_t)>& advance, const CancelToken& cancel)
{
    const auto state = mlflowState(folder.path);
    const auto identity = state.identity + readWith(columns);
    const auto stored = TRY(session.logMark(folder.relative));
    if (stored && stored->identity == identity) {
        return LogRead::series;
    }
    auto log = TRY(openLog(folder.path, folder.relative, 0, 0, {}, columns));
    if (!state.atRest) {
        log->leaveTail();
    }
    auto done = stored ? makeRoom(folder, session, *stored, columns) : Result<void>();
    session::LogMark mark;
    mark.from = 0;
    bool gaveSeries = false;
    while (done && !log->finished() && !cancel.cancelled()) {
        const auto contents = log->next(pointsPerPiece, cancel);
        gaveSeries = gaveSeries || !contents.series.empty();
        mark.offset = contents.bytes;
        mark.line = contents.lines;
        mark.identity = log->finished() ? identity : std::string();
        done = session.addLog(folder.relative, contents.format, mark, contents);
        mark.from = mark.offset;
        advance(mark.offset);
    }
    return done.map([&] { return gaveSeries ? LogRead::series : LogRead::nothing; });
}

} // namespace

Result<void> LogQueue::add(session::LogAddition addition)
{
    constexpr std::size_t mostLogs = 128;
    constexpr std::size_t mostRecords = 20'000;
    for (const auto& series : addition.records.series) {
        m_size += series.points.size();
    }
    m_size += addition.records.events.size() + addition.records.checkpoints.size() + addition.records.settings.size();
    m_waiting.push_back(std::move(addition));
    return m_waiting.size() < mostLogs && m_size < mostRecords ? Result<void>() : flush();
}

Result<void> LogQueue::flush()
{
    const auto waiting = std::exchange(m_waiting, {});
    m_size = 0;
    if (waiting.empty()) {
        return {};
    }
    return m_session.addLogs(waiting).map([&](const std::vector<std::string>& refused) {
        m_refused.insert(m_refused.end(), refused.begin(), refused.end());
    });
}

Result<LogRead> importLog(const FoundFile& file, session::Session& session, LogQueue& queue,
    const std::vector<Series>& stored, const ColumnMap& columns, const std::function<void(std::int64_t)>& advance,
    const CancelToken& cancel)
{
    if (std::error_code error; std::filesystem::is_directory(file.path, error)) {
        return importFolder(file, session, columns, advance, cancel);
    }
    LogImport import(file, session, queue, columns);
    return import.run(stored, advance, cancel).map([&] { return import.read(); });
}

} // namespace nanscope::ingest
