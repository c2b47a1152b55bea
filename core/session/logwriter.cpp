// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/logwriter.h"

#include <algorithm>

namespace nanscope::session {

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
        if (event.copies > 1 || !event.detail.empty()) {
            const std::int64_t id = sqlite3_last_insert_rowid(m_db);
            m_note.bind(id, event.copies, event.detail).run();
        }
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

} // namespace nanscope::session
