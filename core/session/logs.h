// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Logs in the session's database: how far each was read, and what it gave. In transactions of the caller's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/model/model.h"
#include "core/session/chunks.h"
#include "core/session/database.h"
#include "core/session/sessiontypes.h"

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
    Statement m_facts;
    Statement m_checkpoint;
    Statement m_setting;
    ChunkWriter m_chunks;
};

std::vector<Series> readSeries(sqlite3* db);
std::vector<Event> readEvents(sqlite3* db);
/// Reads the stored lines of all events: for a session of before there was a place to keep what they say.
void addEventFacts(sqlite3* db);
/// A session of before there were such things has none.
std::vector<Checkpoint> readCheckpoints(sqlite3* db);
void storeCheckpointContents(sqlite3* db, const std::string& path, const CheckpointContents& contents);
std::vector<Setting> readSettings(sqlite3* db);
std::vector<StoredLog> readLogs(sqlite3* db);

/// Takes what replaced logs gave out of the run's own records.
void setReplacedApart(sqlite3* db, RunData& run);

/// Keeps what `source` gave under the name of a replaced log, which is returned; `path` is what the log was called.
std::string setReplaced(sqlite3* db, const std::string& source, const std::string& path);

/// As Session::settleReplaced(), moveLogs() and dropLog().
void settleReplaced(sqlite3* db, const ReplacedLog& log);
void moveLogs(sqlite3* db, const std::vector<LogMove>& moves);
void dropLog(sqlite3* db, const std::string& source);

} // namespace nanscope::session
