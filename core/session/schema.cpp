// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/schema.h"

#include <array>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/session/database.h"
#include "core/session/sessiontypes.h"

namespace nanscope::session {

namespace {

// Numbers that may be NaN are held as eight-byte blobs in REAL columns. chunks.bits are little-endian IEEE doubles;
// axes hold zstd frames of zigzag varints of differences.
constexpr const char* firstVersion = R"sql(
CREATE TABLE facts (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL);
CREATE TABLE captures (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, file TEXT NOT NULL, path TEXT NOT NULL,
  rank INTEGER, pid INTEGER, timestamp_ms INTEGER, timestamp_from_name INTEGER NOT NULL, epsilon REAL,
  input_shape TEXT NOT NULL, input_dtype TEXT NOT NULL, output_shape TEXT, output_dtype TEXT,
  variant TEXT, step INTEGER);
CREATE TABLE scans (capture_id INTEGER NOT NULL, side TEXT NOT NULL, batch INTEGER NOT NULL, count INTEGER NOT NULL,
  nan INTEGER NOT NULL, pos_inf INTEGER NOT NULL, neg_inf INTEGER NOT NULL, zero INTEGER NOT NULL,
  subnormal INTEGER NOT NULL, absmax REAL NOT NULL, min_nonzero REAL NOT NULL, sum_squares REAL NOT NULL,
  trace REAL NOT NULL, first_nonfinite INTEGER NOT NULL, first_class INTEGER NOT NULL,
  PRIMARY KEY (capture_id, side, batch)) WITHOUT ROWID;
CREATE TABLE sources (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, format TEXT NOT NULL, identity TEXT NOT NULL,
  taken_bytes INTEGER NOT NULL, taken_lines INTEGER NOT NULL, last_line_hash TEXT NOT NULL);
CREATE TABLE series (id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, name TEXT NOT NULL, rank INTEGER,
  segment INTEGER NOT NULL, step_inferred INTEGER NOT NULL, points INTEGER NOT NULL, first_step INTEGER NOT NULL,
  last_step INTEGER NOT NULL, nan INTEGER NOT NULL, pos_inf INTEGER NOT NULL, neg_inf INTEGER NOT NULL,
  missing INTEGER NOT NULL);
CREATE INDEX series_by_source ON series (source_id, name);
CREATE TABLE axes (id INTEGER PRIMARY KEY, count INTEGER NOT NULL, steps BLOB NOT NULL, lines BLOB NOT NULL);
CREATE TABLE chunks (series_id INTEGER NOT NULL, seq INTEGER NOT NULL, axis_id INTEGER NOT NULL,
  count INTEGER NOT NULL, first_step INTEGER NOT NULL, last_step INTEGER NOT NULL, min REAL, max REAL, first REAL,
  last REAL, nan INTEGER NOT NULL, pos_inf INTEGER NOT NULL, neg_inf INTEGER NOT NULL, missing INTEGER NOT NULL,
  missing_at BLOB, bits BLOB NOT NULL, PRIMARY KEY (series_id, seq));
CREATE INDEX chunks_by_axis ON chunks (axis_id);
CREATE TABLE events (id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, kind TEXT NOT NULL, rank INTEGER,
  step INTEGER, capture TEXT NOT NULL, text TEXT NOT NULL, line INTEGER NOT NULL);
CREATE INDEX events_by_source ON events (source_id);
CREATE TABLE rejections (path TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE cells (id INTEGER PRIMARY KEY, capture TEXT NOT NULL, variant TEXT NOT NULL, precision TEXT NOT NULL,
  device TEXT NOT NULL, lowering TEXT NOT NULL, epsilon REAL NOT NULL, engine TEXT NOT NULL,
  environment_device TEXT NOT NULL, hardware TEXT NOT NULL, cuda TEXT NOT NULL, threads INTEGER NOT NULL,
  flags TEXT NOT NULL, native INTEGER NOT NULL, outcome TEXT NOT NULL, seconds REAL NOT NULL, error TEXT NOT NULL,
  UNIQUE (capture, variant, precision, device, lowering, epsilon, engine, environment_device, hardware, cuda, threads,
    flags));
CREATE TABLE cell_nonfinite (cell_id INTEGER NOT NULL, batch INTEGER NOT NULL, outcome TEXT, iteration INTEGER, op TEXT,
  place TEXT, kind TEXT, count INTEGER, PRIMARY KEY (cell_id, batch)) WITHOUT ROWID;
CREATE TABLE gauges (cell_id INTEGER NOT NULL, seq INTEGER NOT NULL, iteration INTEGER NOT NULL, spectral_bound REAL,
  spectral_limit REAL, absmax_q REAL, orthogonality REAL, absmax_x REAL NOT NULL, distance_to_fp64 REAL,
  PRIMARY KEY (cell_id, seq)) WITHOUT ROWID;
CREATE TABLE ops (id INTEGER PRIMARY KEY, cell_id INTEGER NOT NULL, seq INTEGER NOT NULL, iteration INTEGER NOT NULL,
  op TEXT NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL, UNIQUE (cell_id, seq));
CREATE TABLE op_scans (op_id INTEGER NOT NULL, batch INTEGER NOT NULL, count INTEGER NOT NULL, nan INTEGER NOT NULL,
  pos_inf INTEGER NOT NULL, neg_inf INTEGER NOT NULL, zero INTEGER NOT NULL, subnormal INTEGER NOT NULL,
  absmax REAL NOT NULL, min_nonzero REAL NOT NULL, sum_squares REAL NOT NULL, trace REAL NOT NULL,
  first_nonfinite INTEGER NOT NULL, first_class INTEGER NOT NULL, PRIMARY KEY (op_id, batch));
CREATE TABLE op_tiles (op_id INTEGER NOT NULL, batch INTEGER NOT NULL, tiles BLOB NOT NULL,
  PRIMARY KEY (op_id, batch));
)sql";

// Blobs of packed doubles; as many as cells_deep.directions says.
constexpr const char* deepGauges = R"sql(
CREATE TABLE cells_deep (cell_id INTEGER PRIMARY KEY, batch INTEGER NOT NULL, range_low REAL NOT NULL,
  range_high REAL NOT NULL, seconds REAL NOT NULL, directions INTEGER NOT NULL, shares BLOB NOT NULL);
CREATE TABLE gauges_deep (cell_id INTEGER NOT NULL, seq INTEGER NOT NULL, iteration INTEGER NOT NULL,
  iterate_distance REAL, lambda_min REAL, symmetry_error REAL, commutator REAL, signal_gains BLOB,
  PRIMARY KEY (cell_id, seq)) WITHOUT ROWID;
)sql";

// source_id is NULL for a checkpoint that was found in the folder; most events have no note.
constexpr const char* runStory = R"sql(
CREATE TABLE event_notes (event_id INTEGER PRIMARY KEY, copies INTEGER NOT NULL, detail TEXT NOT NULL);
CREATE TABLE checkpoints (id INTEGER PRIMARY KEY, source_id INTEGER, fact TEXT NOT NULL, step INTEGER NOT NULL,
  path TEXT NOT NULL, problem TEXT NOT NULL, line INTEGER NOT NULL);
CREATE TABLE settings (id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
  rank INTEGER, line INTEGER NOT NULL);
)sql";

// Only for captures that hold a part of a DTensor.
constexpr const char* captureParts = R"sql(
CREATE TABLE capture_parts (capture_id INTEGER PRIMARY KEY, part TEXT NOT NULL);
)sql";

// Only captures that share the name of their file with another one have a row in capture_names.
constexpr const char* ownNames = R"sql(
CREATE TABLE capture_names (capture_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE INDEX captures_by_file ON captures (file);
CREATE INDEX captures_by_path ON captures (path);
CREATE TABLE variants (name TEXT PRIMARY KEY NOT NULL, definition TEXT NOT NULL);
)sql";

// path: what the log was called until its file was begun anew; said and compared: as in ReplacedLog.
constexpr const char* replacedLogs = R"sql(
CREATE TABLE replaced_logs (
    source_id INTEGER PRIMARY KEY, path TEXT NOT NULL, said INTEGER NOT NULL, compared INTEGER NOT NULL);
)sql";

// Captures of which a sidecar says that no other code touched the input or the result.
constexpr const char* nothingElse = R"sql(
CREATE TABLE captures_of_nothing_else (capture_id INTEGER PRIMARY KEY);
)sql";

// Only for events whose lines say something. phrases: names as in Phrase, a blank between two; detector_ and
// last_good_: as in NanMessage, NULL for a line of anything else.
constexpr const char* eventFacts = R"sql(
CREATE TABLE event_facts (event_id INTEGER PRIMARY KEY, phrases TEXT NOT NULL, attempted_scale REAL, operation TEXT,
  guarded TEXT, pid INTEGER, detector_step INTEGER, detector_other_rank INTEGER, detector_consecutive INTEGER,
  detector_total INTEGER, last_good_loss REAL, last_good_step INTEGER);
)sql";

// Where an instrument saw a bad value, and a collective operation that did not end: as in EventFacts.
constexpr const char* moreEventFacts = R"sql(
ALTER TABLE event_facts ADD COLUMN site TEXT;
ALTER TABLE event_facts ADD COLUMN collective_sequence INTEGER;
ALTER TABLE event_facts ADD COLUMN collective_operation TEXT;
ALTER TABLE event_facts ADD COLUMN collective_group TEXT;
)sql";

// What a found checkpoint held when it was read, as in CheckpointContents. Outlives the next import.
constexpr const char* checkpointContents = R"sql(
CREATE TABLE checkpoint_contents (path TEXT PRIMARY KEY NOT NULL, stamp TEXT NOT NULL, tensors INTEGER NOT NULL,
  weights INTEGER NOT NULL, bad_weights INTEGER NOT NULL, bad_state INTEGER NOT NULL, open INTEGER NOT NULL,
  unread INTEGER NOT NULL, damaged INTEGER NOT NULL, first TEXT NOT NULL);
)sql";

// Cells of different steps are different cells. Those that are there have as many gauges as they have steps.
constexpr const char* cellSteps = R"sql(
ALTER TABLE cells RENAME TO cells_before;
CREATE TABLE cells (id INTEGER PRIMARY KEY, capture TEXT NOT NULL, variant TEXT NOT NULL,
  precision TEXT NOT NULL, device TEXT NOT NULL, lowering TEXT NOT NULL, epsilon REAL NOT NULL, steps INTEGER NOT NULL,
  engine TEXT NOT NULL, environment_device TEXT NOT NULL, hardware TEXT NOT NULL, cuda TEXT NOT NULL,
  threads INTEGER NOT NULL, flags TEXT NOT NULL, native INTEGER NOT NULL, outcome TEXT NOT NULL, seconds REAL NOT NULL,
  error TEXT NOT NULL,
  UNIQUE (capture, variant, precision, device, lowering, epsilon, steps, engine, environment_device, hardware, cuda,
    threads, flags));
INSERT INTO cells SELECT id, capture, variant, precision, device, lowering, epsilon,
  (SELECT count(*) FROM gauges WHERE cell_id = cells_before.id), engine, environment_device, hardware, cuda, threads, flags,
  native, outcome, seconds, error FROM cells_before;
DROP TABLE cells_before;
)sql";

// What a helper saw at the call: as in Scene. Only for captures with a sidecar that says any of it.
constexpr const char* captureScenes = R"sql(
CREATE TABLE capture_scenes (capture_id INTEGER PRIMARY KEY, function TEXT NOT NULL, called_again INTEGER NOT NULL,
  failed_again INTEGER NOT NULL, input_overwritten INTEGER NOT NULL, output_bad INTEGER NOT NULL);
)sql";

// Whether the collective operation of a line ended.
constexpr const char* endedCollectives = R"sql(
ALTER TABLE event_facts ADD COLUMN collective_ended INTEGER;
)sql";

// The rest of what a Scene holds; NULL for what an older Nanscope did not take.
constexpr const char* wholeScenes = R"sql(
ALTER TABLE capture_scenes ADD COLUMN source_hash TEXT;
ALTER TABLE capture_scenes ADD COLUMN state TEXT;
ALTER TABLE capture_scenes ADD COLUMN not_called_again TEXT;
ALTER TABLE capture_scenes ADD COLUMN exception TEXT;
ALTER TABLE capture_scenes ADD COLUMN stale_matrix INTEGER;
ALTER TABLE capture_scenes ADD COLUMN stale_call INTEGER;
ALTER TABLE capture_scenes ADD COLUMN control TEXT;
ALTER TABLE capture_scenes ADD COLUMN rotated INTEGER;
ALTER TABLE capture_scenes ADD COLUMN withheld TEXT;
ALTER TABLE capture_scenes ADD COLUMN withheld_because TEXT;
ALTER TABLE capture_scenes ADD COLUMN singular_least REAL;
ALTER TABLE capture_scenes ADD COLUMN singular_median REAL;
ALTER TABLE capture_scenes ADD COLUMN singular_largest REAL;
ALTER TABLE capture_scenes ADD COLUMN sidecar_epsilon REAL;
ALTER TABLE capture_scenes ADD COLUMN sidecar_problem TEXT;
)sql";

// As in ParameterState; NULL where nobody looked.
constexpr const char* parametersOfScenes = R"sql(
ALTER TABLE capture_scenes ADD COLUMN gradients INTEGER;
ALTER TABLE capture_scenes ADD COLUMN bad_gradients INTEGER;
ALTER TABLE capture_scenes ADD COLUMN momenta INTEGER;
ALTER TABLE capture_scenes ADD COLUMN bad_momenta INTEGER;
ALTER TABLE capture_scenes ADD COLUMN first_bad_parameter TEXT;
)sql";

// As in ParameterCoverage; NULL where the helper did not say it. From this version on cells may be in fp16-acc16, which
// an older Nanscope would take for fp32: it refuses the session instead.
constexpr const char* coverageOfScenes = R"sql(
ALTER TABLE capture_scenes ADD COLUMN parameters_of_shape INTEGER;
ALTER TABLE capture_scenes ADD COLUMN parameters_listed INTEGER;
ALTER TABLE capture_scenes ADD COLUMN parameters_are_shards INTEGER;
)sql";

// As in Scene and ParameterState: what the helper saw and did not write; NULL where it did not say it.
constexpr const char* unwrittenOfScenes = R"sql(
ALTER TABLE capture_scenes ADD COLUMN weights INTEGER;
ALTER TABLE capture_scenes ADD COLUMN bad_weights INTEGER;
ALTER TABLE capture_scenes ADD COLUMN optimizer_step INTEGER;
ALTER TABLE capture_scenes ADD COLUMN bad_not_written INTEGER;
ALTER TABLE capture_scenes ADD COLUMN not_looked_at INTEGER;
)sql";

// A Scene as JSON, in the words of core/json/scenefields.h.
constexpr const char* scenesAsJson = R"sql(
ALTER TABLE capture_scenes RENAME TO scenes_before;
CREATE TABLE capture_scenes (capture_id INTEGER PRIMARY KEY, scene TEXT NOT NULL);
INSERT INTO capture_scenes SELECT capture_id, json_object('function', function, 'called_again', called_again,
  'failed_again', failed_again, 'input_overwritten', json(iif(input_overwritten, 'true', 'false')),
  'output_bad', json(iif(output_bad, 'true', 'false')), 'source_hash', source_hash, 'state', state,
  'not_called_again', not_called_again, 'exception', exception,
  'stale', json(iif(stale_call IS NULL, 'null', json_object('matrix', stale_matrix, 'call', stale_call))),
  'parameters', json(iif(gradients IS NULL, 'null', json_object('gradients', gradients, 'bad_gradients', bad_gradients,
    'momenta', momenta, 'bad_momenta', bad_momenta, 'weights', weights, 'bad_weights', bad_weights,
    'first_bad', first_bad_parameter, 'of', json(iif(parameters_listed IS NULL, 'null', json_object(
      'parameters', parameters_of_shape, 'listed', parameters_listed,
      'shards', json(iif(parameters_are_shards, 'true', 'false')))))))),
  'control', control, 'rotated', json(iif(rotated, 'true', 'false')), 'withheld', withheld,
  'withheld_because', withheld_because, 'singular_values', json(iif(singular_median IS NULL, 'null',
    json_object('least', singular_least, 'median', singular_median, 'largest', singular_largest))),
  'sidecar_epsilon', sidecar_epsilon, 'sidecar_problem', sidecar_problem, 'optimizer_step', optimizer_step,
  'bad_not_written', bad_not_written, 'not_looked_at', not_looked_at) FROM scenes_before;
DROP TABLE scenes_before;
)sql";

constexpr std::array migrations {firstVersion, deepGauges, runStory, captureParts, ownNames, replacedLogs, nothingElse,
    eventFacts, moreEventFacts, checkpointContents, cellSteps, captureScenes, endedCollectives, wholeScenes,
    parametersOfScenes, coverageOfScenes, unwrittenOfScenes, scenesAsJson};
static_assert(migrations.size() == sessionSchemaVersion);

using Objects = std::map<std::pair<std::string, std::string>, std::string>;

Objects objectsOf(sqlite3* db)
{
    Objects objects;
    Statement statement(db, "SELECT type, name, sql FROM sqlite_master");
    while (statement.step()) {
        objects[{statement.text(0), statement.text(1)}] = statement.text(2);
    }
    return objects;
}

void applyFrom(sqlite3* db, std::int64_t version, std::int64_t to = sessionSchemaVersion)
{
    for (auto i = static_cast<std::size_t>(version); i < static_cast<std::size_t>(to); ++i) {
        execute(db, migrations[i]);
    }
    execute(db, fmt::format("PRAGMA application_id = {}", sessionApplicationId).c_str());
    execute(db, fmt::format("PRAGMA user_version = {}", sessionSchemaVersion).c_str());
}

Objects expectedObjects(std::int64_t version)
{
    sqlite3* raw = nullptr;
    const int code = sqlite3_open(":memory:", &raw);
    const Database memory(raw);
    check(raw, code);
    applyFrom(raw, 0, version);
    return objectsOf(raw);
}

} // namespace

void migrate(sqlite3* db, const std::function<void(std::int64_t)>& complete)
{
    // A session that is as it should be is opened while another program writes to it.
    if (pragmaValue(db, "user_version") == sessionSchemaVersion) {
        return;
    }
    Transaction transaction(db);
    const auto version = pragmaValue(db, "user_version");
    if (version > 0 && version < sessionSchemaVersion) {
        requireOwnSchema(db);
    }
    if (version < sessionSchemaVersion) {
        applyFrom(db, version);
    }
    if (version > 0) {
        complete(version);
    }
    transaction.commit();
}

void requireOwnSchema(sqlite3* db)
{
    const auto version = pragmaValue(db, "user_version");
    static const Objects current = expectedObjects(sessionSchemaVersion);
    const Objects expected = version == sessionSchemaVersion ? current : expectedObjects(version);
    const auto found = objectsOf(db);
    for (const auto& [key, sql] : found) {
        const auto own = expected.find(key);
        if (own == expected.end() || own->second != sql) {
            throw DatabaseFailure {{ErrorKind::refused,
                fmt::format(
                    "the session holds a {} \"{}\" that Nanscope did not make; import the run into a new session",
                    key.first, key.second),
                {}}};
        }
    }
    if (found.size() != expected.size()) {
        throw DatabaseFailure {
            {ErrorKind::corrupt, "the session lacks some of its tables; import the run into a new session", {}}};
    }
}

} // namespace nanscope::session
