// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace nanscope {

/// Writes into a session what the program itself never would.
inline void change(const std::filesystem::path& path, const char* sql)
{
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
}

/// Scenes as versions before 18 had them: a column for each value.
inline std::string scenesInColumns()
{
    constexpr std::array<std::array<const char*, 2>, 28> columns {{{"source_hash TEXT", "source_hash"},
        {"state TEXT", "state"}, {"not_called_again TEXT", "not_called_again"}, {"exception TEXT", "exception"},
        {"stale_matrix INTEGER", "stale.matrix"}, {"stale_call INTEGER", "stale.call"}, {"control TEXT", "control"},
        {"rotated INTEGER", "rotated"}, {"withheld TEXT", "withheld"}, {"withheld_because TEXT", "withheld_because"},
        {"singular_least REAL", "singular_values.least"}, {"singular_median REAL", "singular_values.median"},
        {"singular_largest REAL", "singular_values.largest"}, {"sidecar_epsilon REAL", "sidecar_epsilon"},
        {"sidecar_problem TEXT", "sidecar_problem"}, {"gradients INTEGER", "parameters.gradients"},
        {"bad_gradients INTEGER", "parameters.bad_gradients"}, {"momenta INTEGER", "parameters.momenta"},
        {"bad_momenta INTEGER", "parameters.bad_momenta"}, {"first_bad_parameter TEXT", "parameters.first_bad"},
        {"parameters_of_shape INTEGER", "parameters.of.parameters"},
        {"parameters_listed INTEGER", "parameters.of.listed"},
        {"parameters_are_shards INTEGER", "parameters.of.shards"}, {"weights INTEGER", "parameters.weights"},
        {"bad_weights INTEGER", "parameters.bad_weights"}, {"optimizer_step INTEGER", "optimizer_step"},
        {"bad_not_written INTEGER", "bad_not_written"}, {"not_looked_at INTEGER", "not_looked_at"}}};
    std::string sql = R"sql(ALTER TABLE capture_scenes RENAME TO newer;
CREATE TABLE capture_scenes (capture_id INTEGER PRIMARY KEY, function TEXT NOT NULL, called_again INTEGER NOT NULL,
  failed_again INTEGER NOT NULL, input_overwritten INTEGER NOT NULL, output_bad INTEGER NOT NULL);)sql";
    std::string values = "capture_id";
    for (const auto* key : {"function", "called_again", "failed_again", "input_overwritten", "output_bad"}) {
        values += ", json_extract(scene, '$." + std::string(key) + "')";
    }
    for (const auto& [column, key] : columns) {
        sql += "ALTER TABLE capture_scenes ADD COLUMN " + std::string(column) + ";";
        values += ", json_extract(scene, '$." + std::string(key) + "')";
    }
    return sql + "INSERT INTO capture_scenes SELECT " + values + " FROM newer; DROP TABLE newer;";
}

/// The session as a program wrote it that knew no later version.
inline void makeOlder(const std::filesystem::path& path, int version)
{
    constexpr std::array madeBy {"", "DROP TABLE gauges_deep; DROP TABLE cells_deep;",
        "DROP TABLE event_notes; DROP TABLE checkpoints; DROP TABLE settings;", "DROP TABLE capture_parts;",
        "DROP TABLE capture_names; DROP TABLE variants; DROP INDEX captures_by_file; DROP INDEX captures_by_path;",
        "DROP TABLE replaced_logs;", "DROP TABLE captures_of_nothing_else;", "DROP TABLE event_facts;",
        R"sql(DROP TABLE event_facts; CREATE TABLE event_facts (event_id INTEGER PRIMARY KEY, phrases TEXT NOT NULL, attempted_scale REAL, operation TEXT,
  guarded TEXT, pid INTEGER, detector_step INTEGER, detector_other_rank INTEGER, detector_consecutive INTEGER,
  detector_total INTEGER, last_good_loss REAL, last_good_step INTEGER);)sql",
        "DROP TABLE checkpoint_contents;",
        R"sql(ALTER TABLE cells RENAME TO newer;
CREATE TABLE cells (id INTEGER PRIMARY KEY, capture TEXT NOT NULL, variant TEXT NOT NULL, precision TEXT NOT NULL,
  device TEXT NOT NULL, lowering TEXT NOT NULL, epsilon REAL NOT NULL, engine TEXT NOT NULL,
  environment_device TEXT NOT NULL, hardware TEXT NOT NULL, cuda TEXT NOT NULL, threads INTEGER NOT NULL,
  flags TEXT NOT NULL, native INTEGER NOT NULL, outcome TEXT NOT NULL, seconds REAL NOT NULL, error TEXT NOT NULL,
  UNIQUE (capture, variant, precision, device, lowering, epsilon, engine, environment_device, hardware, cuda, threads,
    flags));
INSERT INTO cells SELECT id, capture, variant, precision, device, lowering, epsilon, engine, environment_device,
  hardware, cuda, threads, flags, native, outcome, seconds, error FROM newer;
DROP TABLE newer;)sql",
        "DROP TABLE capture_scenes;", "ALTER TABLE event_facts DROP COLUMN collective_ended;",
        R"sql(ALTER TABLE capture_scenes RENAME TO newer;
CREATE TABLE capture_scenes (capture_id INTEGER PRIMARY KEY, function TEXT NOT NULL, called_again INTEGER NOT NULL,
  failed_again INTEGER NOT NULL, input_overwritten INTEGER NOT NULL, output_bad INTEGER NOT NULL);
INSERT INTO capture_scenes SELECT capture_id, function, called_again, failed_again, input_overwritten, output_bad
  FROM newer;
DROP TABLE newer;)sql",
        // The last first: a column that goes from the middle leaves other white space in the schema.
        "ALTER TABLE capture_scenes DROP COLUMN first_bad_parameter; "
        "ALTER TABLE capture_scenes DROP COLUMN bad_momenta; "
        "ALTER TABLE capture_scenes DROP COLUMN momenta; "
        "ALTER TABLE capture_scenes DROP COLUMN bad_gradients; "
        "ALTER TABLE capture_scenes DROP COLUMN gradients; ",
        "ALTER TABLE capture_scenes DROP COLUMN parameters_are_shards; "
        "ALTER TABLE capture_scenes DROP COLUMN parameters_listed; "
        "ALTER TABLE capture_scenes DROP COLUMN parameters_of_shape; ",
        "ALTER TABLE capture_scenes DROP COLUMN not_looked_at; "
        "ALTER TABLE capture_scenes DROP COLUMN bad_not_written; "
        "ALTER TABLE capture_scenes DROP COLUMN optimizer_step; "
        "ALTER TABLE capture_scenes DROP COLUMN bad_weights; "
        "ALTER TABLE capture_scenes DROP COLUMN weights;",
        ""};
    auto sql = "PRAGMA user_version = " + std::to_string(version) + ";" + scenesInColumns();
    for (auto later = madeBy.size(); later > static_cast<std::size_t>(version); --later) {
        sql += madeBy.at(later - 1);
    }
    change(path, sql.c_str());
}

} // namespace nanscope
