// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace nanscope::session {

/// Version this program writes, SQLite's user_version.
constexpr int sessionSchemaVersion = 18;

/// A line of progress through a growing log, so that an import resumes where the last one ended.
struct LogMark
{
    std::string identity; ///< device, inode and a hash of the first 4 KiB
    std::int64_t offset = 0; ///< bytes taken so far
    std::int64_t line = 0;
    std::string lastLineHash;
    std::int64_t from = -1; ///< where the addition begins; addLog refuses one that does not continue what is stored
};

/// A chunk of a series as its plain columns tell it. min, max, first and last are of its finite values.
struct SeriesPiece
{
    std::int64_t seq = 0; ///< its place in the series
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    std::int64_t count = 0; ///< with those that have no value
    std::optional<double> min;
    std::optional<double> max;
    std::optional<double> first;
    std::optional<double> last;
    std::int64_t nan = 0;
    std::int64_t posInf = 0;
    std::int64_t negInf = 0;
    std::int64_t missing = 0;
    std::vector<Point> points; ///< all of them, or none where the columns have to do
};

struct SeriesRange
{
    std::int64_t series = 0;
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    std::int64_t mostPoints = 0; ///< to decode, roughly
};

/// A variant of the user's own that cells of the session were swept with.
struct StoredVariant
{
    std::string name;
    std::string definition; ///< JSON; read as empty where it is longer than maxDefinitionBytes
};

/// A definition is a kilobyte or two; a session takes at most so many of them.
constexpr std::int64_t maxDefinitionBytes = std::int64_t {64} << 10;
constexpr int maxStoredVariants = 64;

/// A log that something is stored of.
struct StoredLog
{
    std::string source;
    LogMark mark;
    std::string replaced; ///< the path it had until its file was begun anew; empty where it still has it
    bool said = false; ///< as in ReplacedLog
    bool compared = false;
};

/// A log whose file was renamed.
struct LogMove
{
    std::string from;
    std::string to;
};

/// What one reading of a log found, and where the next one goes on.
struct LogAddition
{
    std::string source;
    std::string format;
    LogMark mark;
    LogRecords records;
};

/// The answer to a query: each row as text columns, NULL as std::nullopt.
struct QueryTable
{
    std::vector<std::string> columns;
    std::vector<std::vector<std::optional<std::string>>> rows;
};

} // namespace nanscope::session
