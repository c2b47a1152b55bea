// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/ingest/ingest.h"
#include "core/ingest/log/columnmap.h"
#include "core/ingest/log/logsource.h"
#include "core/session/session.h"

namespace nanscope::ingest {

/// Storing this many is one transaction of a few milliseconds.
constexpr std::size_t pointsPerPiece = 100'000;

/// More than this is read behind all other logs of a run, which may be worth more and cost less.
constexpr std::int64_t muchText = std::int64_t {256} << 20;

/// Text, TensorBoard's event file, what W&B keeps of a run, or the folder of metrics of a run of MLflow. `stored` is
/// what an earlier import took of this log before `offset`, which is behind line (or record) `firstLine`, read with the
/// same columns.
Result<std::unique_ptr<LogSource>> openLog(const std::filesystem::path& path, const std::string& relative,
    std::int64_t offset = 0, std::int64_t firstLine = 0, const std::vector<Series>& stored = {},
    const ColumnMap& columns = {});

/// Small logs wait for each other to be stored: a transaction costs more than what many a log holds.
class LogQueue
{
public:
    explicit LogQueue(session::Session& session)
        : m_session(session)
    { }

    Result<void> add(session::LogAddition addition);
    Result<void> flush();
    /// Of those that were stored, the logs that another program went on with meanwhile.
    std::vector<std::string> takeRefused() { return std::exchange(m_refused, {}); }

private:
    session::Session& m_session;
    std::vector<session::LogAddition> m_waiting;
    std::vector<std::string> m_refused;
    std::size_t m_size = 0; ///< points and what else they hold
};

/// What an import made of a log.
enum class LogRead {
    nothing, ///< no series, but lines that are known, or none that is new
    unknown, ///< no line of it is known
    series, ///< the session has some of it now
    putOff, ///< it unpacks to so much that the others come first
};

bool isEmpty(const LogRecords& records);

/// Stores what a log holds beyond what the session already took of it, piece by piece, through the queue. A log that
/// was begun anew since is read from its start, and what it gave before is kept as a replaced one; one that is read
/// with other columns than before is forgotten and read again. `advance` hears the place in the file.
Result<LogRead> importLog(const FoundFile& file, session::Session& session, LogQueue& queue,
    const std::vector<Series>& stored, const ColumnMap& columns, const std::function<void(std::int64_t)>& advance,
    const CancelToken& cancel);

} // namespace nanscope::ingest
