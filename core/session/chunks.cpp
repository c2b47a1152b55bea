// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/chunks.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/session/codec.h"

namespace nanscope::session {

namespace {

void count(ChunkFacts& facts, const Point& point, std::size_t index)
{
    switch (point.state) {
    case PointState::nan:
        ++facts.nan;
        return;
    case PointState::posInf:
        ++facts.posInf;
        return;
    case PointState::negInf:
        ++facts.negInf;
        return;
    case PointState::reported:
        facts.missingAt.push_back(static_cast<std::int64_t>(index));
        return;
    case PointState::finite:
        facts.min = std::min(facts.min.value_or(point.value), point.value);
        facts.max = std::max(facts.max.value_or(point.value), point.value);
        facts.first = facts.first.value_or(point.value);
        facts.last = point.value;
        return;
    }
}

std::string keyOf(Bytes bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<double> valuesOf(std::span<const Point> points)
{
    std::vector<double> values(points.size());
    std::transform(points.begin(), points.end(), values.begin(), [](const Point& p) {
        return p.state == PointState::reported ? std::numeric_limits<double>::quiet_NaN() : p.value;
    });
    return values;
}

void markMissing(std::vector<Point>& points, Bytes packed, std::int64_t missing)
{
    if (missing < 0 || missing > static_cast<std::int64_t>(points.size())) {
        throw DatabaseFailure {{ErrorKind::corrupt, "a chunk of the session contradicts itself", {}}};
    }
    for (const auto index : unpackIntegers(packed, static_cast<std::size_t>(missing))) {
        if (index >= 0 && index < static_cast<std::int64_t>(points.size())) {
            auto& point = points[static_cast<std::size_t>(index)];
            point.state = PointState::reported;
            point.value = 0;
        }
    }
}

/// Columns: count, steps, lines, bits, missing, missing_at.
void appendChunk(const Statement& row, std::vector<Point>& points)
{
    const auto stored = row.integer(0);
    if (stored < 0 || stored > static_cast<std::int64_t>(chunkPoints)) {
        throw DatabaseFailure {{ErrorKind::corrupt, "a chunk of the session contradicts itself", {}}};
    }
    const auto size = static_cast<std::size_t>(stored);
    const auto steps = unpackIntegers(row.blob(1), size);
    const auto lines = unpackIntegers(row.blob(2), size);
    const auto values = unpackDoubles(row.blob(3), size);
    std::vector<Point> chunk(size);
    for (std::size_t i = 0; i < size; ++i) {
        chunk[i] = {steps[i], values[i], stateOf(values[i]), lines[i]};
    }
    if (!row.isNull(5)) {
        markMissing(chunk, row.blob(5), row.integer(4));
    }
    points.insert(points.end(), chunk.begin(), chunk.end());
}

constexpr const char* chunkColumns = "SELECT c.count, a.steps, a.lines, c.bits, c.missing, c.missing_at, c.seq, "
                                     "c.axis_id FROM chunks c JOIN axes a ON a.id = c.axis_id WHERE c.series_id = ? ";

std::vector<Point> readChunk(sqlite3* db, std::int64_t seriesId, std::int64_t seq)
{
    std::vector<Point> points;
    Statement chunk(db, std::string(chunkColumns) + "AND c.seq = ?");
    if (chunk.bind(seriesId, seq).step()) {
        appendChunk(chunk, points);
    }
    return points;
}

SeriesPiece readPiece(const Statement& row)
{
    SeriesPiece piece {row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.optional<double>(4),
        row.optional<double>(5), row.optional<double>(6), row.optional<double>(7), row.integer(8), row.integer(9),
        row.integer(10), row.integer(11), {}};
    const auto counts = {piece.count, piece.nan, piece.posInf, piece.negInf, piece.missing};
    if (std::min(counts) < 0 || std::max(counts) > static_cast<std::int64_t>(chunkPoints)) {
        throw DatabaseFailure {{ErrorKind::corrupt, "a chunk of the session contradicts itself", {}}};
    }
    return piece;
}

/// The chunk's row begins with these columns, so that the values behind them are not touched.
std::vector<SeriesPiece> piecesOf(sqlite3* db, const SeriesRange& range)
{
    std::vector<SeriesPiece> pieces;
    Statement rows(db,
        "SELECT seq, first_step, last_step, count, min, max, first, last, nan, pos_inf, neg_inf, missing FROM chunks "
        "WHERE series_id = ? AND last_step >= ? AND first_step <= ? ORDER BY seq");
    rows.bind(range.series, range.firstStep, range.lastStep);
    while (rows.step()) {
        pieces.push_back(readPiece(rows));
    }
    return pieces;
}

bool isCut(const SeriesPiece& piece, const SeriesRange& range)
{
    return piece.firstStep < range.firstStep || piece.lastStep > range.lastStep;
}

bool hasNonFinite(const SeriesPiece& piece)
{
    return piece.nan + piece.posInf + piece.negInf > 0;
}

std::vector<bool> choosePieces(const std::vector<SeriesPiece>& pieces, const SeriesRange& range)
{
    const auto total = std::accumulate(pieces.begin(), pieces.end(), std::int64_t {0},
        [](std::int64_t sum, const SeriesPiece& piece) { return sum + piece.count; });
    std::vector<bool> chosen(pieces.size(), total <= range.mostPoints);
    std::int64_t left = range.mostPoints;
    for (std::size_t i = 0; i < pieces.size() && total > range.mostPoints; ++i) {
        chosen[i] = isCut(pieces[i], range) || (hasNonFinite(pieces[i]) && pieces[i].count <= left);
        left -= chosen[i] ? pieces[i].count : 0;
    }
    return chosen;
}

} // namespace

ChunkFacts factsOf(std::span<const Point> points)
{
    ChunkFacts facts;
    for (std::size_t i = 0; i < points.size(); ++i) {
        count(facts, points[i], i);
    }
    return facts;
}

std::int64_t AxisStore::idOf(std::span<const Point> points)
{
    std::vector<std::int64_t> steps;
    std::vector<std::int64_t> lines;
    for (const auto& point : points) {
        steps.push_back(point.step);
        lines.push_back(point.line);
    }
    const auto packedSteps = packIntegers(steps);
    const auto packedLines = packIntegers(lines);
    const auto [at, added] = m_ids.try_emplace(keyOf(packedSteps) + keyOf(packedLines), 0);
    if (added) {
        m_insert.bind(static_cast<std::int64_t>(points.size()), Bytes(packedSteps), Bytes(packedLines)).run();
        at->second = sqlite3_last_insert_rowid(m_db);
    }
    return at->second;
}

ChunkWriter::ChunkWriter(sqlite3* db)
    : m_axes(db)
    , m_insert(db, "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    , m_last(db, std::string(chunkColumns) + "ORDER BY c.seq DESC LIMIT 1")
    , m_drop(db, "DELETE FROM chunks WHERE series_id = ? AND seq = ?")
    , m_dropAxis(db, "DELETE FROM axes WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM chunks WHERE axis_id = ?1)")
{ }

void ChunkWriter::write(std::int64_t seriesId, std::int64_t seq, std::span<const Point> points)
{
    const auto facts = factsOf(points);
    const auto bits = packDoubles(valuesOf(points));
    std::vector<std::byte> missing;
    std::optional<Bytes> missingAt;
    if (!facts.missingAt.empty()) {
        missing = packIntegers(facts.missingAt);
        missingAt = Bytes(missing);
    }
    m_insert
        .bind(seriesId, seq, m_axes.idOf(points), static_cast<std::int64_t>(points.size()), points.front().step,
            points.back().step, facts.min, facts.max, facts.first, facts.last, facts.nan, facts.posInf, facts.negInf,
            static_cast<std::int64_t>(facts.missingAt.size()), missingAt, Bytes(bits))
        .run();
}

std::vector<Point> ChunkWriter::reclaimLast(SeriesRow& row)
{
    std::vector<Point> points;
    std::int64_t axisId = 0;
    if (m_last.bind(row.id).step()) {
        row.nextSeq = m_last.integer(6) + 1;
        axisId = m_last.integer(7);
        if (m_last.integer(0) < static_cast<std::int64_t>(chunkPoints)) {
            appendChunk(m_last, points);
        }
    }
    m_last.reset();
    if (points.empty()) {
        return points;
    }
    --row.nextSeq;
    m_drop.bind(row.id, row.nextSeq).run();
    m_dropAxis.bind(axisId).run();
    m_axes.forget(axisId);
    return points;
}

std::vector<Point> readPoints(sqlite3* db, std::int64_t seriesId)
{
    std::vector<Point> points;
    Statement chunks(db, std::string(chunkColumns) + "ORDER BY c.seq");
    chunks.bind(seriesId);
    while (chunks.step()) {
        appendChunk(chunks, points);
    }
    return points;
}

void visitPieces(sqlite3* db, const SeriesRange& range, const std::function<bool(SeriesPiece)>& visit)
{
    auto pieces = piecesOf(db, range);
    const auto chosen = choosePieces(pieces, range);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (chosen[i]) {
            pieces[i].points = readChunk(db, range.series, pieces[i].seq);
        }
        if (!visit(std::move(pieces[i]))) {
            return;
        }
    }
}

} // namespace nanscope::session
