// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/session/chunks.h"
#include "core/session/session.h"

namespace nanscope::session {

/// What storing a log takes, prepared once: parsing the statements costs more than storing a small log does. Lives no
/// longer than its connection; every statement is reset when a function returns, or it would hold the session's lock.
class LogWriter
{
public:
    explicit LogWriter(sqlite3* db);

    std::optional<LogMark> mark(const std::string& source);

    /// In one transaction of the caller's. False where another program went on with the log since; nothing is stored
    /// of it then.
    bool add(const LogAddition& addition);
    /// To be said at the start of every transaction: what an earlier one wrote may have been rolled back.
    void begin() { m_chunks.forget(); }

    void addCheckpoints(std::optional<std::int64_t> sourceId, const std::vector<Checkpoint>& checkpoints);

private:
    bool continues(const LogAddition& addition);
    std::int64_t storeSource(const LogAddition& addition);
    void readRows(std::int64_t sourceId);
    SeriesRow rowOf(std::int64_t sourceId, const Series& series);
    void addSeries(std::int64_t sourceId, const Series& series);
    void addEvents(std::int64_t sourceId, const std::vector<Event>& events);
    void addSettings(std::int64_t sourceId, const std::vector<Setting>& settings);

    sqlite3* m_db;
    Statement m_mark;
    Statement m_source;
    Statement m_findSeries;
    /// Of the source that is added to: rank, segment, whether its steps are counted, and name.
    std::map<std::tuple<std::optional<int>, int, bool, std::string>, std::int64_t> m_rows;
    Statement m_newSeries;
    Statement m_countSeries;
    Statement m_event;
    Statement m_note;
    Statement m_checkpoint;
    Statement m_setting;
    ChunkWriter m_chunks;
};

} // namespace nanscope::session
