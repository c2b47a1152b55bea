// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/sessionimpl.h"

namespace nanscope {

namespace {

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

LogWriter& Session::Impl::logs()
{
    if (!logWriter) {
        logWriter = std::make_unique<LogWriter>(raw());
    }
    return *logWriter;
}

Result<std::optional<LogMark>> Session::logMark(const std::string& source)
{
    return m_impl->attempt([&] { return m_impl->logs().mark(source); });
}

Result<std::vector<std::string>> Session::addLogs(const std::vector<LogAddition>& additions)
{
    return m_impl->attempt([&] {
        std::vector<std::string> refused;
        auto& logs = m_impl->logs();
        Transaction transaction(m_impl->raw());
        logs.begin();
        for (const auto& addition : additions) {
            if (!logs.add(addition)) {
                refused.push_back(addition.source);
            }
        }
        transaction.commit();
        return refused;
    });
}

Result<void> Session::addLog(
    const std::string& source, const std::string& format, const LogMark& mark, const LogRecords& records)
{
    return addLogs({{source, format, mark, records}}).and_then([&](const std::vector<std::string>& refused) {
        return refused.empty() ? Result<void>()
                               : failure(ErrorKind::refused,
                                   "another program is importing this log; run the import again", path().string());
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
