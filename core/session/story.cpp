// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/sessionimpl.h"

namespace nanscope::session {

namespace {

constexpr std::int64_t storyVersion = 3;

} // namespace

// A session that is only read keeps the version it was written with.
bool hasStory(sqlite3* db)
{
    return pragmaValue(db, "user_version") >= storyVersion;
}

std::vector<Checkpoint> readCheckpoints(sqlite3* db)
{
    std::vector<Checkpoint> all;
    if (!hasStory(db)) {
        return all;
    }
    Statement rows(db,
        "SELECT c.step, c.fact, c.path, c.problem, o.path, c.line FROM checkpoints c "
        "LEFT JOIN sources o ON o.id = c.source_id ORDER BY c.id");
    while (rows.step()) {
        all.push_back({rows.integer(0), parseCheckpointFact(rows.text(1)).value_or(CheckpointFact::found), rows.text(2),
            rows.text(3), rows.text(4), rows.integer(5)});
    }
    return all;
}

std::vector<Setting> readSettings(sqlite3* db)
{
    std::vector<Setting> all;
    if (!hasStory(db)) {
        return all;
    }
    Statement rows(db,
        "SELECT s.name, s.value, s.rank, o.path, s.line FROM settings s JOIN sources o ON o.id = s.source_id "
        "ORDER BY o.path, s.line, s.id");
    while (rows.step()) {
        all.push_back({rows.text(0), rows.text(1), rows.optional<int>(2), rows.text(3), rows.integer(4)});
    }
    return all;
}

Result<void> Session::setFoundCheckpoints(const std::vector<Checkpoint>& found)
{
    return m_impl->attempt([&] {
        sqlite3* db = m_impl->raw();
        Transaction transaction(db);
        execute(db, "DELETE FROM checkpoints WHERE source_id IS NULL");
        m_impl->logs().addCheckpoints(std::nullopt, found);
        transaction.commit();
    });
}

} // namespace nanscope::session
