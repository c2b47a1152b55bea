// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/session/chunks.h"
#include "core/session/sessionimpl.h"

namespace nanscope {

namespace {

SeriesRow seriesRow(sqlite3* db, std::int64_t sourceId, const Series& series)
{
    Statement find(db,
        "SELECT id FROM series WHERE source_id = ? AND name = ? AND rank IS ? AND segment = ? AND step_inferred = ?");
    if (find.bind(sourceId, series.name, series.rank, series.segment, series.stepInferred).step()) {
        return {find.integer(0), 0};
    }
    Statement(db, "INSERT INTO series VALUES (NULL, ?, ?, ?, ?, ?, 0, ?, ?, 0, 0, 0, 0)")
        .bind(sourceId, series.name, series.rank, series.segment, series.stepInferred, series.points.front().step,
            series.points.back().step)
        .run();
    return {sqlite3_last_insert_rowid(db), 0};
}

void appendSeries(sqlite3* db, std::int64_t sourceId, const Series& series, ChunkWriter& writer)
{
    if (series.points.empty()) {
        return;
    }
    auto row = seriesRow(db, sourceId, series);
    const auto facts = factsOf(series.points);
    const auto missing = static_cast<std::int64_t>(facts.missingAt.size());
    auto points = reclaimLastChunk(db, row);
    points.insert(points.end(), series.points.begin(), series.points.end());
    for (std::size_t at = 0; at < points.size(); at += chunkPoints) {
        const auto size = std::min(chunkPoints, points.size() - at);
        writer.write(row.id, row.nextSeq++, std::span(points).subspan(at, size));
    }
    Statement(db,
        "UPDATE series SET points = points + ?, last_step = ?, nan = nan + ?, pos_inf = pos_inf + ?, "
        "neg_inf = neg_inf + ?, missing = missing + ? WHERE id = ?")
        .bind(static_cast<std::int64_t>(series.points.size()) - missing, series.points.back().step, facts.nan,
            facts.posInf, facts.negInf, missing, row.id)
        .run();
}

void insertEvents(sqlite3* db, std::int64_t sourceId, const std::vector<Event>& events)
{
    Statement insert(db, "INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)");
    Statement note(db, "INSERT INTO event_notes VALUES (?, ?, ?)");
    for (const auto& event : events) {
        insert
            .bind(
                sourceId, std::string(name(event.kind)), event.rank, event.step, event.capture, event.text, event.line)
            .run();
        if (event.copies > 1 || !event.detail.empty()) {
            const std::int64_t id = sqlite3_last_insert_rowid(db);
            note.bind(id, event.copies, event.detail).run();
        }
    }
}

void requireContinuation(sqlite3* db, const std::string& source, std::int64_t from)
{
    Statement stored(db, "SELECT taken_bytes FROM sources WHERE path = ?");
    const auto taken = stored.bind(source).step() ? stored.integer(0) : 0;
    if (from >= 0 && taken != from) {
        throw DatabaseFailure {{ErrorKind::refused, "another program is importing this log; run the import again", {}}};
    }
}

std::int64_t storeSource(sqlite3* db, const std::string& source, const std::string& format, const LogMark& mark)
{
    Statement upsert(db,
        "INSERT INTO sources VALUES (NULL, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET "
        "format = CASE excluded.format WHEN '' THEN format ELSE excluded.format END, identity = excluded.identity, "
        "taken_bytes = excluded.taken_bytes, taken_lines = excluded.taken_lines, "
        "last_line_hash = excluded.last_line_hash RETURNING id");
    upsert.bind(source, format, mark.identity, mark.offset, mark.line, mark.lastLineHash).step();
    const auto id = upsert.integer(0);
    while (upsert.step()) { }
    return id;
}

Series readSeriesRow(const Statement& row)
{
    Series series;
    series.id = row.integer(0);
    series.source = row.text(1);
    series.name = row.text(2);
    series.rank = row.optional<int>(3);
    series.segment = static_cast<int>(row.integer(4));
    series.stepInferred = row.integer(5) != 0;
    series.pointCount = row.integer(6);
    series.firstStep = row.integer(7);
    series.lastStep = row.integer(8);
    series.nan = row.integer(9);
    series.posInf = row.integer(10);
    series.negInf = row.integer(11);
    series.missing = row.integer(12);
    return series;
}

} // namespace

std::vector<Series> readSeries(sqlite3* db)
{
    std::vector<Series> all;
    Statement rows(db,
        "SELECT s.id, o.path, s.name, s.rank, s.segment, s.step_inferred, s.points, s.first_step, s.last_step, s.nan, "
        "s.pos_inf, s.neg_inf, s.missing FROM series s JOIN sources o ON o.id = s.source_id "
        "ORDER BY o.path, s.rank, s.segment, s.id");
    while (rows.step()) {
        all.push_back(readSeriesRow(rows));
    }
    return all;
}

std::vector<Event> readEvents(sqlite3* db)
{
    std::vector<Event> all;
    const std::string notes = hasStory(db) ? "n.copies, n.detail" : "NULL, NULL";
    const std::string joined = hasStory(db) ? "LEFT JOIN event_notes n ON n.event_id = e.id " : "";
    Statement rows(db,
        "SELECT e.id, e.kind, e.rank, e.step, e.capture, e.text, o.path, e.line, " + notes
            + " FROM events e JOIN sources o ON o.id = e.source_id " + joined + "ORDER BY o.path, e.line, e.id");
    while (rows.step()) {
        auto& event = all.emplace_back();
        event.id = rows.integer(0);
        event.kind = parseEventKind(rows.text(1)).value_or(EventKind::other);
        event.rank = rows.optional<int>(2);
        event.step = rows.optional<std::int64_t>(3);
        event.capture = rows.text(4);
        event.text = rows.text(5);
        event.source = rows.text(6);
        event.line = rows.integer(7);
        event.copies = rows.optional<std::int64_t>(8).value_or(1);
        event.detail = rows.text(9);
    }
    return all;
}

Result<std::vector<Point>> Session::points(std::int64_t seriesId) const
{
    return m_impl->attempt([&] { return readPoints(m_impl->raw(), seriesId); });
}

Result<std::optional<LogMark>> Session::logMark(const std::string& source)
{
    return m_impl->attempt([&]() -> std::optional<LogMark> {
        Statement find(
            m_impl->raw(), "SELECT identity, taken_bytes, taken_lines, last_line_hash FROM sources WHERE path = ?");
        if (!find.bind(source).step()) {
            return std::nullopt;
        }
        LogMark mark {find.text(0), find.integer(1), find.integer(2), find.text(3)};
        mark.from = mark.offset;
        return mark;
    });
}

Result<void> Session::addLog(
    const std::string& source, const std::string& format, const LogMark& mark, const LogRecords& records)
{
    return m_impl->attempt([&] {
        sqlite3* db = m_impl->raw();
        Transaction transaction(db);
        requireContinuation(db, source, mark.from);
        const auto sourceId = storeSource(db, source, format, mark);
        ChunkWriter writer(db);
        for (const auto& one : records.series) {
            appendSeries(db, sourceId, one, writer);
        }
        insertEvents(db, sourceId, records.events);
        insertCheckpoints(db, sourceId, records.checkpoints);
        insertSettings(db, sourceId, records.settings);
        transaction.commit();
    });
}

Result<void> Session::dropLog(const std::string& source)
{
    return m_impl->attempt([&] {
        sqlite3* db = m_impl->raw();
        Transaction transaction(db);
        for (const char* sql : {
                 "DELETE FROM chunks WHERE series_id IN (SELECT s.id FROM series s JOIN sources o ON o.id = "
                 "s.source_id WHERE o.path = ?)",
                 "DELETE FROM series WHERE source_id IN (SELECT id FROM sources WHERE path = ?)",
                 "DELETE FROM event_notes WHERE event_id IN (SELECT e.id FROM events e JOIN sources o ON o.id = "
                 "e.source_id WHERE o.path = ?)",
                 "DELETE FROM checkpoints WHERE source_id IN (SELECT id FROM sources WHERE path = ?)",
                 "DELETE FROM settings WHERE source_id IN (SELECT id FROM sources WHERE path = ?)",
                 "DELETE FROM events WHERE source_id IN (SELECT id FROM sources WHERE path = ?)",
                 "DELETE FROM sources WHERE path = ?",
             }) {
            Statement(db, sql).bind(source).run();
        }
        execute(db, "DELETE FROM axes WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE axis_id = axes.id)");
        transaction.commit();
    });
}

} // namespace nanscope
