// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/session/schema.h"
#include "core/session/sessionimpl.h"

namespace nanscope::session {

namespace {

constexpr const char* otherImporter = "another program is importing this log; run the import again";

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

namespace {

using RecordsBySource = std::unordered_map<std::string_view, LogRecords*>;

template <class T>
void moveRecords(LogRecords& from, const RecordsBySource& to, std::vector<T> LogRecords::*member)
{
    std::vector<T> kept;
    for (auto& record : from.*member) {
        const auto log = to.find(record.source);
        (log == to.end() ? kept : log->second->*member).push_back(std::move(record));
    }
    from.*member = std::move(kept);
}

std::vector<StoredLog> readLogs(sqlite3* db)
{
    const bool replaced = pragmaValue(db, "user_version") >= replacedLogsVersion;
    Statement rows(db,
        std::string("SELECT o.path, o.identity, o.taken_bytes, o.taken_lines, o.last_line_hash, ")
            + (replaced ? "r.path, r.said, r.compared FROM sources o LEFT JOIN replaced_logs r ON r.source_id = o.id "
                          "ORDER BY o.id"
                        : "NULL, NULL, NULL FROM sources o ORDER BY o.id"));
    std::vector<StoredLog> logs;
    while (rows.step()) {
        logs.push_back({rows.text(0), {rows.text(1), rows.integer(2), rows.integer(3), rows.text(4)}, rows.text(5),
            rows.integer(6) != 0, rows.integer(7) != 0});
    }
    return logs;
}

/// A log in a folder stays in it; no file that is found is called so (findFiles).
std::string replacedName(const std::string& path, int number)
{
    const auto name = path.rfind('/') + 1;
    const auto word = number == 1 ? std::string("(replaced) ") : "(replaced " + std::to_string(number) + ") ";
    return path.substr(0, name) + word + path.substr(name);
}

/// In a transaction of the caller's.
std::string setReplaced(sqlite3* db, const std::string& source, const std::string& path)
{
    Statement taken(db, "SELECT 1 FROM sources WHERE path = ?");
    int number = 1;
    while (taken.bind(replacedName(path, number)).step()) {
        ++number;
    }
    taken.reset();
    auto name = replacedName(path, number);
    Statement(db, "INSERT INTO replaced_logs SELECT id, ?, 0, 0 FROM sources WHERE path = ?").bind(path, source).run();
    Statement(db, "UPDATE sources SET path = ? WHERE path = ?").bind(name, source).run();
    return name;
}

} // namespace

void setReplacedApart(sqlite3* db, RunData& run)
{
    for (const auto& log : readLogs(db)) {
        if (!log.replaced.empty()) {
            run.replaced.push_back({log.source, log.replaced, {}, log.said, log.compared});
        }
    }
    RecordsBySource apart;
    for (auto& log : run.replaced) {
        apart.emplace(log.source, &log.records);
    }
    if (!apart.empty()) {
        moveRecords(run, apart, &LogRecords::series);
        moveRecords(run, apart, &LogRecords::events);
        moveRecords(run, apart, &LogRecords::checkpoints);
        moveRecords(run, apart, &LogRecords::settings);
    }
}

Result<std::vector<StoredLog>> Session::logs() const
{
    return m_impl->attempt([&] { return readLogs(m_impl->raw()); });
}

Result<std::string> Session::replaceLog(const std::string& source, const LogMark& seen)
{
    auto name = m_impl->attempt([&] {
        Transaction transaction(m_impl->raw());
        const auto stored = m_impl->logs().mark(source);
        const bool same = stored && stored->offset == seen.offset && stored->identity == seen.identity;
        auto replaced = same ? setReplaced(m_impl->raw(), source, source) : std::string();
        transaction.commit();
        return replaced;
    });
    return name && name->empty() ? failure(ErrorKind::busy, otherImporter, path().string()) : name;
}

Result<void> Session::settleReplaced(const ReplacedLog& log)
{
    return m_impl->attempt([&] {
        Statement(m_impl->raw(),
            "UPDATE replaced_logs SET said = ?, compared = ? WHERE source_id IN (SELECT id FROM sources WHERE path = "
            "?)")
            .bind(log.said, log.compared, log.source)
            .run();
    });
}

Result<void> Session::moveLogs(const std::vector<LogMove>& moves)
{
    return m_impl->attempt([&] {
        sqlite3* db = m_impl->raw();
        Transaction transaction(db);
        Statement rename(db, "UPDATE sources SET path = ? WHERE path = ?");
        Statement settled(db, "DELETE FROM replaced_logs WHERE source_id IN (SELECT id FROM sources WHERE path = ?)");
        // Logs that are rotated hand their names on to one another: none is free before all have let go of theirs.
        const auto between = [](const LogMove& move) { return move.to + "/"; };
        for (const auto& move : moves) {
            settled.bind(move.from).run();
            rename.bind(between(move), move.from).run();
        }
        for (const auto& move : moves) {
            setReplaced(db, move.to, move.to);
            rename.bind(move.to, between(move)).run();
        }
        transaction.commit();
    });
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
        return refused.empty() ? Result<void>() : failure(ErrorKind::busy, otherImporter, path().string());
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
                 "DELETE FROM replaced_logs WHERE source_id IN (SELECT id FROM sources WHERE path = ?)",
                 "DELETE FROM sources WHERE path = ?",
             }) {
            Statement(db, sql).bind(source).run();
        }
        execute(db, "DELETE FROM axes WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE axis_id = axes.id)");
        transaction.commit();
    });
}

} // namespace nanscope::session
