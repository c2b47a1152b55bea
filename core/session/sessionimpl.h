// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/session/database.h"
#include "core/session/logwriter.h"
#include "core/session/session.h"

namespace nanscope::session {

struct Session::Impl
{
    std::filesystem::path path;
    std::filesystem::path ownFolder; ///< real path of the folder the session lies in
    Database db;
    bool writable = false;

    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl();

    sqlite3* raw() const { return db.get(); }

    std::unique_ptr<LogWriter> logWriter; ///< once it was asked for
    LogWriter& logs();

    /// The folder that was asked for last and its real path: captures come from few folders, and asking the system
    /// about each part of a path costs more than storing a capture.
    std::filesystem::path resolvedFolder;
    std::filesystem::path resolvedTo;
    const std::filesystem::path& resolved(const std::filesystem::path& folder);

    /// Paths below the session's own folder are kept relative to it, so that a session beside its captures can be
    /// moved and mailed together with them.
    std::string stored(const std::string& given);
    void moveCapture(const std::string& identity, const std::string& kept, const std::string& file);
    std::optional<std::string> belowOwnFolder(const std::filesystem::path& real) const;
    std::string found(const std::string& kept) const;

    template <class Work>
    auto attempt(Work&& work) const
    {
        return nanscope::session::attempt(path.string(), std::forward<Work>(work));
    }
};

/// Called by their names, or by those of their files where the session is older than names are.
std::vector<Capture> readCaptures(sqlite3* db);
std::vector<Series> readSeries(sqlite3* db);
std::vector<Event> readEvents(sqlite3* db);

/// Where a capture is kept whose file was written over: there is no file.
std::string replacedPath(const std::string& path);
bool isReplacedPath(const std::string& path);

/// Takes what replaced logs gave out of the run's own records.
void setReplacedApart(sqlite3* db, RunData& run);

/// Checkpoints, settings and the notes of events; an older session that is only read has none.
bool hasStory(sqlite3* db);
std::vector<Checkpoint> readCheckpoints(sqlite3* db);
std::vector<Setting> readSettings(sqlite3* db);

/// With all that belongs to it.
void deleteCell(sqlite3* db, std::int64_t id);

/// Those with this value in a column of theirs; how many they were.
std::int64_t deleteCellsWhere(sqlite3* db, const char* column, const std::string& value);

/// Deep gauges of one cell.
void insertDeep(sqlite3* db, std::int64_t cellId, const DeepGauges& deep);
void attachDeep(sqlite3* db, Cell& cell);
void deleteDeep(sqlite3* db, std::int64_t cellId);

/// The columns every scan row shares, from `column` on.
Scan readScan(const Statement& row, int column);

} // namespace nanscope::session
