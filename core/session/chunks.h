// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/session/database.h"
#include "core/session/sessiontypes.h"

namespace nanscope::session {

constexpr std::size_t chunkPoints = 4096;

/// What a chunk says about its points in plain columns.
struct ChunkFacts
{
    std::optional<double> min;
    std::optional<double> max;
    std::optional<double> first; ///< finite, like last
    std::optional<double> last;
    std::int64_t nan = 0;
    std::int64_t posInf = 0;
    std::int64_t negInf = 0;
    std::vector<std::int64_t> missingAt;
};

ChunkFacts factsOf(std::span<const Point> points);

/// Steps and lines of the values one log line gives are the same for every series of that log: stored once.
class AxisStore
{
public:
    explicit AxisStore(sqlite3* db)
        : m_insert(db, "INSERT INTO axes (count, steps, lines) VALUES (?, ?, ?)")
        , m_db(db)
    { }

    std::int64_t idOf(std::span<const Point> points);
    void forget() { m_ids.clear(); }
    /// It is gone.
    void forget(std::int64_t id)
    {
        std::erase_if(m_ids, [id](const auto& known) { return known.second == id; });
    }

private:
    Statement m_insert;
    sqlite3* m_db;
    std::map<std::string, std::int64_t> m_ids;
};

struct SeriesRow
{
    std::int64_t id = 0;
    std::int64_t nextSeq = 0;
};

class ChunkWriter
{
public:
    explicit ChunkWriter(sqlite3* db);

    void write(std::int64_t seriesId, std::int64_t seq, std::span<const Point> points);

    /// Takes a chunk that is not full out of the session, so that many small additions do not leave many small chunks.
    std::vector<Point> reclaimLast(SeriesRow& row);

    /// Axes are shared within one transaction.
    void forget() { m_axes.forget(); }

private:
    AxisStore m_axes;
    Statement m_insert;
    Statement m_last;
    Statement m_drop;
    Statement m_dropAxis;
};

std::vector<Point> readPoints(sqlite3* db, std::int64_t seriesId);
/// Visits the pieces of a series that reach into a range of steps, as Session::visitRange() does.
void visitPieces(sqlite3* db, const SeriesRange& range, const std::function<bool(SeriesPiece)>& visit);

} // namespace nanscope::session
