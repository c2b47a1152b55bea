// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Walks a folder, recognises each file and reads it with one reader per format. Yields plain records and knows no
// SQL. A file that cannot be used becomes a Rejection with one sentence; it never stops the rest of the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/ingest/log/columnmap.h"
#include "core/ingest/log/logsource.h"
#include "core/model/model.h"

namespace nanscope::session {
class Session;
} // namespace nanscope::session

namespace nanscope::ingest {

struct FoundFile
{
    std::filesystem::path path;
    std::string relative; ///< to the run's folder, with '/'
    enum class Kind { tensor, log } kind = Kind::log;
    std::uint64_t size = 0;
    bool last = false; ///< all others were read: it is read now, however much text it unpacks to
};

struct FoundFiles
{
    std::string name; ///< last component of the folder
    std::string root;
    std::vector<FoundFile> files; ///< in order of relative path
    std::vector<Checkpoint> checkpoints; ///< their folders are looked at, their tensors are not read
    std::vector<Rejection> rejected;
};

/// Lists what could be read under `path` (a folder or a single file): symbolic links are followed once, loops and
/// unreadable folders are reported, hidden files and files that are clearly something else are passed over.
Result<FoundFiles> findFiles(const std::filesystem::path& path, const JobContext& job = {});

/// The folder of the run that a path is imported as: itself, or that of a file.
std::filesystem::path runFolderOf(const std::filesystem::path& path);

/// Reads a log from byte `offset` (line `firstLine` + 1) to its end; streams, strips colour codes and rank
/// prefixes, splits at \n, \r\n and \r. `relative` becomes the source of every record.
Result<LogContents> readLog(const std::filesystem::path& path, const std::string& relative, std::int64_t offset = 0,
    std::int64_t firstLine = 0, const JobContext& job = {}, const ColumnMap& columns = {});

/// Drops points that nobody wants of what was read so far; the counts of the series stay.
using KeepSmall = std::function<void(RunData& run)>;

/// Reads everything under `path` into one RunData, scans included, without a session. With `keepSmall`, which is called
/// after every two million points, memory does not grow with the logs; without it a log has as many points as a file of
/// its size may hold.
Result<RunData> readRun(const std::filesystem::path& path, const JobContext& job = {}, const ColumnMap& columns = {},
    const KeepSmall& keepSmall = {});

/// Opens the session that `path` is imported into, and makes it where it is missing. One that holds another folder is
/// refused before anything of it is changed: opening an older one to write brings it up to date.
Result<session::Session> openSessionFor(const std::filesystem::path& path, const std::filesystem::path& session);

/// The same into a session, resuming and adding only what is new. Returns the session's summary. `columns` take the
/// place of those the session keeps, and what was read with others is read again; none: those of the session hold.
/// `capturesStored` hears when all captures are in the session, and how many bytes of logs are still to be read.
Result<RunData> importRun(const std::filesystem::path& path, session::Session& session, const JobContext& job = {},
    const std::optional<ColumnMap>& columns = std::nullopt,
    const std::function<void(std::int64_t logBytes)>& capturesStored = {});

/// The files under `path` that are named like logs and gave `run`, which was read from there, nothing.
Result<std::vector<std::string>> silentLogs(
    const std::filesystem::path& path, const RunData& run, const JobContext& job = {});

/// What a session's logs were read with.
Result<ColumnMap> columnsOf(const session::Session& session);

struct ColumnSurvey
{
    std::vector<std::string> missing; ///< columns the map names and no log has
    std::vector<std::string> seen; ///< those that logs have, where some are missing
};

/// Looks for the columns that a map names in the logs under `paths`.
Result<ColumnSurvey> surveyColumns(
    const std::vector<std::filesystem::path>& paths, const ColumnMap& columns, const JobContext& job = {});

} // namespace nanscope::ingest
