// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/logs.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/logtext/eventfacts.h"
#include "core/session/codec.h"
#include "core/session/schema.h"

namespace nanscope::session {

namespace {

std::map<std::string, CheckpointContents> readCheckpointContents(sqlite3* db)
{
    std::map<std::string, CheckpointContents> all;
    Statement rows(db,
        "SELECT path, stamp, tensors, weights, bad_weights, bad_state, open, unread, damaged, first FROM "
        "checkpoint_contents");
    while (rows.step()) {
        all[rows.text(0)] = {rows.text(1), rows.integer(2), rows.integer(3), rows.integer(4), rows.integer(5),
            rows.integer(6), rows.integer(7), rows.integer(8), rows.text(9)};
    }
    return all;
}

constexpr const char* insertFacts =
    "INSERT OR REPLACE INTO event_facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* factColumns =
    "f.phrases, f.attempted_scale, f.operation, f.guarded, f.pid, f.detector_step, f.detector_other_rank, "
    "f.detector_consecutive, f.detector_total, f.last_good_loss, f.last_good_step, f.site, f.collective_sequence, "
    "f.collective_operation, f.collective_group, f.collective_ended";

std::optional<std::string> unlessEmpty(const std::string& text)
{
    return text.empty() ? std::nullopt : std::optional(text);
}

std::string textOf(const std::vector<Phrase>& phrases)
{
    std::string text;
    for (const auto phrase : phrases) {
        text += (text.empty() ? "" : " ") + std::string(logtext::name(phrase));
    }
    return text;
}

std::vector<Phrase> parsePhrases(std::string_view text)
{
    std::vector<Phrase> phrases;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        if (const auto phrase = logtext::parsePhrase(text.substr(0, end))) {
            phrases.push_back(*phrase);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    std::sort(phrases.begin(), phrases.end());
    return phrases;
}

void storeFacts(Statement& insert, std::int64_t event, const EventFacts& facts)
{
    if (facts == EventFacts()) {
        return;
    }
    const auto said = [&](auto NanMessage::*field) {
        return facts.detector ? std::optional(*facts.detector.*field) : std::nullopt;
    };
    const auto called = [&](auto CollectiveCall::*field) {
        return facts.collective ? std::optional(*facts.collective.*field) : std::nullopt;
    };
    const auto detector = facts.detector.value_or(NanMessage());
    insert
        .bind(event, textOf(facts.phrases), facts.attemptedScale, unlessEmpty(facts.operation),
            facts.guarded.empty() ? std::nullopt : std::optional(shapeText(facts.guarded)), facts.pid,
            said(&NanMessage::step), said(&NanMessage::otherRank), said(&NanMessage::consecutive),
            said(&NanMessage::total), detector.lastGoodLoss, detector.lastGoodStep, unlessEmpty(facts.site),
            called(&CollectiveCall::sequence), called(&CollectiveCall::operation), called(&CollectiveCall::group),
            called(&CollectiveCall::ended))
        .run();
}

/// From the column of the phrases on.
EventFacts readFacts(const Statement& row, int column)
{
    EventFacts facts;
    if (row.isNull(column)) {
        return facts;
    }
    facts.phrases = parsePhrases(row.text(column));
    facts.attemptedScale = row.optional<double>(column + 1);
    facts.operation = row.text(column + 2);
    facts.guarded = row.isNull(column + 3) ? Shape() : parseShape(row.text(column + 3));
    facts.pid = row.optional<int>(column + 4);
    if (const auto step = row.optional<std::int64_t>(column + 5)) {
        facts.detector = {*step, row.integer(column + 6) != 0, row.integer(column + 7), row.integer(column + 8),
            row.optional<double>(column + 9), row.optional<std::int64_t>(column + 10)};
    }
    facts.site = row.text(column + 11);
    if (const auto sequence = row.optional<std::int64_t>(column + 12)) {
        facts.collective = {*sequence, row.text(column + 13), row.text(column + 14), row.integer(column + 15) != 0};
    }
    return facts;
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

/// A log in a folder stays in it; no file that is found is called so (findFiles).
std::string replacedName(const std::string& path, int number)
{
    const auto name = path.rfind('/') + 1;
    const auto word = number == 1 ? std::string("(replaced) ") : "(replaced " + std::to_string(number) + ") ";
    return path.substr(0, name) + word + path.substr(name);
}

} // namespace

LogWriter::LogWriter(sqlite3* db)
    : m_db(db)
    , m_mark(db, "SELECT identity, taken_bytes, taken_lines, last_line_hash FROM sources WHERE path = ?")
    , m_source(db,
          "INSERT INTO sources VALUES (NULL, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET "
          "format = CASE excluded.format WHEN '' THEN format ELSE excluded.format END, identity = excluded.identity, "
          "taken_bytes = excluded.taken_bytes, taken_lines = excluded.taken_lines, "
          "last_line_hash = excluded.last_line_hash RETURNING id")
    , m_findSeries(db, "SELECT id, name, rank, segment, step_inferred FROM series WHERE source_id = ?")
    , m_newSeries(db, "INSERT INTO series VALUES (NULL, ?, ?, ?, ?, ?, 0, ?, ?, 0, 0, 0, 0)")
    , m_countSeries(db,
          "UPDATE series SET points = points + ?, last_step = ?, nan = nan + ?, pos_inf = pos_inf + ?, "
          "neg_inf = neg_inf + ?, missing = missing + ? WHERE id = ?")
    , m_event(db, "INSERT INTO events VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)")
    , m_note(db, "INSERT INTO event_notes VALUES (?, ?, ?)")
    , m_facts(db, insertFacts)
    , m_checkpoint(db, "INSERT INTO checkpoints VALUES (NULL, ?, ?, ?, ?, ?, ?)")
    , m_setting(db, "INSERT INTO settings VALUES (NULL, ?, ?, ?, ?, ?)")
    , m_chunks(db)
{ }

std::optional<LogMark> LogWriter::mark(const std::string& source)
{
    std::optional<LogMark> mark;
    if (m_mark.bind(source).step()) {
        mark = {m_mark.text(0), m_mark.integer(1), m_mark.integer(2), m_mark.text(3)};
        mark->from = mark->offset;
    }
    m_mark.reset();
    return mark;
}

bool LogWriter::continues(const LogAddition& addition)
{
    const auto stored = addition.mark.from < 0 ? std::nullopt : mark(addition.source);
    return addition.mark.from < 0 || (stored ? stored->offset : 0) == addition.mark.from;
}

bool LogWriter::add(const LogAddition& addition)
{
    if (!continues(addition)) {
        return false;
    }
    const auto sourceId = storeSource(addition);
    readRows(sourceId);
    for (const auto& series : addition.records.series) {
        addSeries(sourceId, series);
    }
    addEvents(sourceId, addition.records.events);
    addCheckpoints(sourceId, addition.records.checkpoints);
    addSettings(sourceId, addition.records.settings);
    return true;
}

std::int64_t LogWriter::storeSource(const LogAddition& addition)
{
    const auto& mark = addition.mark;
    m_source.bind(addition.source, addition.format, mark.identity, mark.offset, mark.line, mark.lastLineHash).step();
    const auto id = m_source.integer(0);
    m_source.run();
    return id;
}

/// All at once: a log of many ranks has as many series of one name, and each would be sought among them.
void LogWriter::readRows(std::int64_t sourceId)
{
    m_rows.clear();
    m_findSeries.bind(sourceId);
    while (m_findSeries.step()) {
        m_rows[{m_findSeries.optional<int>(2), static_cast<int>(m_findSeries.integer(3)), m_findSeries.integer(4) != 0,
            m_findSeries.text(1)}] = m_findSeries.integer(0);
    }
    m_findSeries.reset();
}

SeriesRow LogWriter::rowOf(std::int64_t sourceId, const Series& series)
{
    auto& id = m_rows[{series.rank, series.segment, series.stepInferred, series.name}];
    if (id != 0) {
        return {id, 0};
    }
    m_newSeries
        .bind(sourceId, series.name, series.rank, series.segment, series.stepInferred, series.points.front().step,
            series.points.back().step)
        .run();
    id = sqlite3_last_insert_rowid(m_db);
    return {id, 0};
}

void LogWriter::addSeries(std::int64_t sourceId, const Series& series)
{
    if (series.points.empty()) {
        return;
    }
    auto row = rowOf(sourceId, series);
    const auto facts = factsOf(series.points);
    const auto missing = static_cast<std::int64_t>(facts.missingAt.size());
    auto points = m_chunks.reclaimLast(row);
    points.insert(points.end(), series.points.begin(), series.points.end());
    for (std::size_t at = 0; at < points.size(); at += chunkPoints) {
        const auto size = std::min(chunkPoints, points.size() - at);
        m_chunks.write(row.id, row.nextSeq++, std::span(points).subspan(at, size));
    }
    m_countSeries
        .bind(static_cast<std::int64_t>(series.points.size()) - missing, series.points.back().step, facts.nan,
            facts.posInf, facts.negInf, missing, row.id)
        .run();
}

void LogWriter::addEvents(std::int64_t sourceId, const std::vector<Event>& events)
{
    for (const auto& event : events) {
        m_event
            .bind(
                sourceId, std::string(name(event.kind)), event.rank, event.step, event.capture, event.text, event.line)
            .run();
        const std::int64_t id = sqlite3_last_insert_rowid(m_db);
        if (event.copies > 1 || !event.detail.empty()) {
            m_note.bind(id, event.copies, event.detail).run();
        }
        storeFacts(m_facts, id, event.facts);
    }
}

void LogWriter::addCheckpoints(std::optional<std::int64_t> sourceId, const std::vector<Checkpoint>& checkpoints)
{
    for (const auto& one : checkpoints) {
        m_checkpoint.bind(sourceId, std::string(name(one.fact)), one.step, one.path, one.problem, one.line).run();
    }
}

void LogWriter::addSettings(std::int64_t sourceId, const std::vector<Setting>& settings)
{
    for (const auto& one : settings) {
        m_setting.bind(sourceId, one.name, one.value, one.rank, one.line).run();
    }
}

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
    Statement rows(db,
        fmt::format("SELECT e.id, e.kind, e.rank, e.step, e.capture, e.text, o.path, e.line, n.copies, n.detail, {} "
                    "FROM events e JOIN sources o ON o.id = e.source_id LEFT JOIN event_notes n ON n.event_id = e.id "
                    "LEFT JOIN event_facts f ON f.event_id = e.id ORDER BY o.path, e.line, e.id",
            factColumns));
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
        event.facts = readFacts(rows, 10);
    }
    return all;
}

void addEventFacts(sqlite3* db)
{
    Statement insert(db, insertFacts);
    Statement events(db, "SELECT e.id, e.text, n.detail FROM events e LEFT JOIN event_notes n ON n.event_id = e.id");
    while (events.step()) {
        storeFacts(insert, events.integer(0), logtext::factsIn(events.text(1), events.text(2)));
    }
}

std::vector<Checkpoint> readCheckpoints(sqlite3* db)
{
    std::vector<Checkpoint> all;
    Statement rows(db,
        "SELECT c.step, c.fact, c.path, c.problem, o.path, c.line FROM checkpoints c "
        "LEFT JOIN sources o ON o.id = c.source_id ORDER BY c.id");
    const auto contents = readCheckpointContents(db);
    while (rows.step()) {
        auto& one = all.emplace_back(
            Checkpoint {rows.integer(0), parseCheckpointFact(rows.text(1)).value_or(CheckpointFact::found),
                rows.text(2), rows.text(3), rows.text(4), rows.integer(5)});
        if (const auto read = contents.find(one.path); one.source.empty() && read != contents.end()) {
            one.contents = read->second;
        }
    }
    return all;
}

void storeCheckpointContents(sqlite3* db, const std::string& path, const CheckpointContents& contents)
{
    Statement(db, "INSERT OR REPLACE INTO checkpoint_contents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(path, contents.stamp, contents.tensors, contents.weights, contents.badWeights, contents.badState,
            contents.open, contents.unread, contents.damaged, contents.first)
        .run();
}

std::vector<Setting> readSettings(sqlite3* db)
{
    std::vector<Setting> all;
    Statement rows(db,
        "SELECT s.name, s.value, s.rank, o.path, s.line FROM settings s JOIN sources o ON o.id = s.source_id "
        "ORDER BY o.path, s.line, s.id");
    while (rows.step()) {
        all.push_back({rows.text(0), rows.text(1), rows.optional<int>(2), rows.text(3), rows.integer(4)});
    }
    return all;
}

std::vector<StoredLog> readLogs(sqlite3* db)
{
    Statement rows(db,
        "SELECT o.path, o.identity, o.taken_bytes, o.taken_lines, o.last_line_hash, r.path, r.said, r.compared FROM "
        "sources o LEFT JOIN replaced_logs r ON r.source_id = o.id ORDER BY o.id");
    std::vector<StoredLog> logs;
    while (rows.step()) {
        logs.push_back({rows.text(0), {rows.text(1), rows.integer(2), rows.integer(3), rows.text(4)}, rows.text(5),
            rows.integer(6) != 0, rows.integer(7) != 0});
    }
    return logs;
}

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

void settleReplaced(sqlite3* db, const ReplacedLog& log)
{
    Statement(db,
        "UPDATE replaced_logs SET said = ?, compared = ? WHERE source_id IN (SELECT id FROM sources WHERE path = "
        "?)")
        .bind(log.said, log.compared, log.source)
        .run();
}

void moveLogs(sqlite3* db, const std::vector<LogMove>& moves)
{
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
}

void dropLog(sqlite3* db, const std::string& source)
{
    for (const char* sql : {
             "DELETE FROM chunks WHERE series_id IN (SELECT s.id FROM series s JOIN sources o ON o.id = "
             "s.source_id WHERE o.path = ?)",
             "DELETE FROM series WHERE source_id IN (SELECT id FROM sources WHERE path = ?)",
             "DELETE FROM event_notes WHERE event_id IN (SELECT e.id FROM events e JOIN sources o ON o.id = "
             "e.source_id WHERE o.path = ?)",
             "DELETE FROM event_facts WHERE event_id IN (SELECT e.id FROM events e JOIN sources o ON o.id = "
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
}

} // namespace nanscope::session
