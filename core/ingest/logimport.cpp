// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/logimport.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include "core/ingest/logsource.h"
#include "core/ingest/mlflow.h"
#include "core/platform/platform.h"
#include "core/session/session.h"

namespace nanscope {

namespace {

/// Storing this many is one transaction of a few milliseconds.
constexpr std::size_t pointsPerPiece = 100'000;

/// After so long a last line without its end is what a killed process left, and all there will be.
constexpr std::chrono::seconds restingTime {5};

/// A log read with other columns is another log.
std::string readWith(const ColumnMap& columns)
{
    return columns.empty() ? std::string() : ':' + hashText(textOf(columns));
}

/// One log on its way into a session.
class LogImport
{
public:
    LogImport(const FoundFile& file, Session& session, LogQueue& queue, const ColumnMap& columns)
        : m_file(file)
        , m_session(session)
        , m_queue(queue)
        , m_columns(columns)
        , m_readWith(readWith(columns))
    { }

    bool gaveSeries() const { return m_gaveSeries; }

    Result<void> run(
        const std::vector<Series>& stored, const std::function<void(std::int64_t)>& advance, const CancelToken& cancel)
    {
        auto mark = startingMark();
        if (!mark) {
            return tl::make_unexpected(mark.error());
        }
        m_stored = mark->offset;
        const auto own = mark->offset > 0 ? seriesOfThis(stored) : std::vector<Series>();
        m_gaveSeries = !own.empty();
        if (mark->offset == static_cast<std::int64_t>(m_size)) {
            return {};
        }
        auto log = openLog(m_file.path, m_file.relative, mark->offset, mark->line, own, m_columns);
        if (log && mark->offset > 0 && !(*log)->resumable()) {
            if (auto dropped = m_session.dropLog(m_file.relative); !dropped) {
                return dropped;
            }
            mark = freshMark();
            m_stored = 0;
            m_gaveSeries = false;
            log = openLog(m_file.path, m_file.relative, 0, 0, {}, m_columns);
        }
        if (!log) {
            return tl::make_unexpected(log.error());
        }
        if (!m_atRest) {
            (*log)->leaveTail();
        }
        while (!(*log)->finished() && !cancel.cancelled()) {
            if (auto stored = store((*log)->next(pointsPerPiece, cancel), *mark); !stored) {
                return stored;
            }
            advance(mark->offset);
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
    Result<LogMark> startingMark()
    {
        auto reader = FileReader::open(m_file.path);
        if (!reader) {
            return tl::make_unexpected(reader.error());
        }
        m_size = reader->size();
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        m_atRest = now - std::chrono::nanoseconds(reader->stamp().modifiedNs) > restingTime;
        const auto stored = m_session.logMark(m_file.relative);
        if (!stored) {
            return tl::make_unexpected(stored.error());
        }
        if (!*stored) {
            return freshMark();
        }
        if ((*stored)->offset <= static_cast<std::int64_t>(m_size)) {
            const auto now = markAt(*reader, (*stored)->offset);
            if (now.identity == (*stored)->identity && now.lastLineHash == (*stored)->lastLineHash) {
                return **stored;
            }
        }
        if (auto dropped = m_session.dropLog(m_file.relative); !dropped) {
            return tl::make_unexpected(dropped.error());
        }
        return freshMark();
    }

    static LogMark freshMark()
    {
        LogMark fresh;
        fresh.from = 0;
        return fresh;
    }

    Result<void> store(LogContents contents, LogMark& mark)
    {
        // Small files that are no log are not worth a row, however many lie around.
        constexpr std::int64_t worthRemembering = 1 << 20;
        const bool empty = contents.series.empty() && contents.events.empty() && contents.checkpoints.empty()
            && contents.settings.empty();
        if (empty
            && (contents.bytes == mark.offset || (contents.format.empty() && contents.bytes < worthRemembering))) {
            mark.offset = contents.bytes;
            return {};
        }
        auto reader = FileReader::open(m_file.path);
        if (!reader) {
            return tl::make_unexpected(reader.error());
        }
        auto next = markAt(*reader, contents.bytes);
        next.line = contents.lines;
        next.from = m_stored;
        m_gaveSeries = m_gaveSeries || !contents.series.empty();
        m_stored = next.offset;
        mark = next;
        return m_queue.add(
            {m_file.relative, std::move(contents.format), std::move(next), static_cast<LogRecords&&>(contents)});
    }

    static std::string hashOf(const FileReader& reader, std::int64_t from, std::int64_t to)
    {
        std::string bytes(static_cast<std::size_t>(to - from), '\0');
        const auto read = reader.readAt(static_cast<std::uint64_t>(from), std::as_writable_bytes(std::span(bytes)));
        return read ? hashText(bytes) : std::string();
    }

    /// Only what was taken is hashed: the rest may still be written.
    LogMark markAt(const FileReader& reader, std::int64_t offset) const
    {
        constexpr std::int64_t headBytes = 4096;
        constexpr std::int64_t tailBytes = 256;
        const auto& stamp = reader.stamp();
        LogMark mark;
        mark.offset = offset;
        mark.identity = fmt::format(
            "{}:{}:{}{}", stamp.device, stamp.inode, hashOf(reader, 0, std::min(offset, headBytes)), m_readWith);
        mark.lastLineHash = hashOf(reader, std::max<std::int64_t>(0, offset - tailBytes), offset);
        return mark;
    }

    const FoundFile& m_file;
    Session& m_session;
    LogQueue& m_queue;
    const ColumnMap& m_columns;
    std::string m_readWith;
    bool m_gaveSeries = false; ///< now or at an earlier import
    std::uint64_t m_size = 0;
    bool m_atRest = false; ///< nobody has written to it for a while
    std::int64_t m_stored = 0;
};

/// A folder that stands for a log is read anew whenever one of its files changed.
Result<bool> importFolder(const FoundFile& folder, Session& session, const ColumnMap& columns,
    const std::function<void(std::int64_t)>& advance, const CancelToken& cancel)
{
    const auto state = mlflowState(folder.path);
    const auto identity = state.identity + readWith(columns);
    const auto stored = session.logMark(folder.relative);
    if (!stored) {
        return tl::make_unexpected(stored.error());
    }
    if (*stored && (*stored)->identity == identity) {
        return true;
    }
    auto log = openLog(folder.path, folder.relative, 0, 0, {}, columns);
    if (!log) {
        return tl::make_unexpected(log.error());
    }
    if (!state.atRest) {
        (*log)->leaveTail();
    }
    auto done = session.dropLog(folder.relative);
    LogMark mark;
    mark.from = 0;
    bool gaveSeries = false;
    while (done && !(*log)->finished() && !cancel.cancelled()) {
        const auto contents = (*log)->next(pointsPerPiece, cancel);
        gaveSeries = gaveSeries || !contents.series.empty();
        mark.offset = contents.bytes;
        mark.line = contents.lines;
        mark.identity = (*log)->finished() ? identity : std::string();
        done = session.addLog(folder.relative, contents.format, mark, contents);
        mark.from = mark.offset;
        advance(mark.offset);
    }
    return done.map([&] { return gaveSeries; });
}

} // namespace

Result<void> LogQueue::add(LogAddition addition)
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

Result<bool> importLog(const FoundFile& file, Session& session, LogQueue& queue, const std::vector<Series>& stored,
    const ColumnMap& columns, const std::function<void(std::int64_t)>& advance, const CancelToken& cancel)
{
    if (std::error_code error; std::filesystem::is_directory(file.path, error)) {
        return importFolder(file, session, columns, advance, cancel);
    }
    LogImport import(file, session, queue, columns);
    return import.run(stored, advance, cancel).map([&] { return import.gaveSeries(); });
}

} // namespace nanscope
