// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/captures.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/json/scenefields.h"
#include "core/model/capturenames.h"
#include "core/session/cells.h"
#include "core/session/codec.h"
#include "core/session/schema.h"

namespace nanscope::session {

namespace {

namespace fs = std::filesystem;

// What the owner of the run saw is JSON of core/report; the captures in it are named at this place.
constexpr const char* findObserved =
    "SELECT entry.fullkey FROM facts, json_each(CASE WHEN json_valid(facts.value) THEN facts.value ELSE '{}' END, "
    "'$.called') AS entry WHERE facts.name = 'observations' AND entry.type = 'object' "
    "AND json_extract(entry.value, '$.capture') = ?";

std::vector<std::string> textsOf(Statement& statement)
{
    std::vector<std::string> texts;
    while (statement.step()) {
        texts.push_back(statement.text(0));
    }
    return texts;
}

constexpr const char* replacedFolder = "(replaced)";

/// Where a capture is kept whose file was written over: there is no file.
std::string replacedPath(const std::string& path)
{
    const fs::path place(path);
    return (place.parent_path() / replacedFolder / place.filename()).generic_string();
}

std::optional<std::string> shapeOf(const std::optional<CaptureTensor>& tensor)
{
    return tensor ? std::optional(shapeText(tensor->shape)) : std::nullopt;
}

std::optional<std::string> dtypeOf(const std::optional<CaptureTensor>& tensor)
{
    return tensor ? std::optional(std::string(torchName(tensor->dtype))) : std::nullopt;
}

Scene sceneFrom(const std::string& text)
{
    constexpr int deepest = 4;
    constexpr std::size_t most = 200;
    Scene scene;
    jsonfields::Reader::read(parseBounded(text, deepest, most), scene);
    return scene;
}

/// What only a sidecar says, in tables of its own: most captures have none.
class SaidBeside
{
public:
    explicit SaidBeside(sqlite3* db)
        : m_dropWord(db, "DELETE FROM captures_of_nothing_else WHERE capture_id = ?")
        , m_insertWord(db, "INSERT INTO captures_of_nothing_else VALUES (?)")
        , m_dropScene(db, "DELETE FROM capture_scenes WHERE capture_id = ?")
        , m_insertScene(db, "INSERT INTO capture_scenes VALUES (?, ?)")
    { }

    void put(std::int64_t id, const Capture& c)
    {
        m_dropWord.bind(id).run();
        if (c.nothingElse) {
            m_insertWord.bind(id).run();
        }
        m_dropScene.bind(id).run();
        if (c.scene != Scene {}) {
            m_insertScene.bind(id, jsonText(jsonfields::Writer::written(c.scene))).run();
        }
    }

private:
    Statement m_dropWord;
    Statement m_insertWord;
    Statement m_dropScene;
    Statement m_insertScene;
};

/// Stores captures one after the other with statements that are prepared once.
class CaptureStore
{
public:
    explicit CaptureStore(sqlite3* db)
        : m_upsert(db,
            "INSERT INTO captures (identity, file, path, rank, pid, timestamp_ms, timestamp_from_name, epsilon, "
            "input_shape, input_dtype, output_shape, output_dtype, variant, step) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (identity) DO UPDATE SET file = excluded.file, path = excluded.path, "
            "variant = excluded.variant, step = excluded.step RETURNING id")
        , m_dropScans(db, "DELETE FROM scans WHERE capture_id = ?")
        , m_dropPart(db, "DELETE FROM capture_parts WHERE capture_id = ?")
        , m_insertPart(db, "INSERT INTO capture_parts VALUES (?, ?)")
        , m_saidBeside(db)
        , m_insertScan(db, "INSERT INTO scans VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    { }

    std::int64_t add(const Capture& c, const std::string& path)
    {
        m_upsert.bind(c.identity, c.file, path, c.rank, c.pid, c.timestampMs, c.timestampFromName, c.epsilon,
            shapeText(c.input.shape), std::string(torchName(c.input.dtype)), shapeOf(c.output), dtypeOf(c.output),
            c.variant, c.step);
        m_upsert.step();
        const auto id = m_upsert.integer(0);
        while (m_upsert.step()) { }
        m_dropScans.bind(id).run();
        m_dropPart.bind(id).run();
        if (!c.part.empty()) {
            m_insertPart.bind(id, c.part).run();
        }
        m_saidBeside.put(id, c);
        addScans(id, "input", c.input.batches);
        if (c.output) {
            addScans(id, "output", c.output->batches);
        }
        return id;
    }

private:
    void addScans(std::int64_t captureId, const char* side, const std::vector<Scan>& batches)
    {
        for (std::size_t batch = 0; batch < batches.size(); ++batch) {
            const auto& s = batches[batch];
            m_insertScan
                .bind(captureId, side, static_cast<std::int64_t>(batch), s.count, s.nan, s.posInf, s.negInf, s.zero,
                    s.subnormal, s.absmax, s.minNonzero, s.sumSquares, s.trace, s.firstNonFinite,
                    static_cast<int>(s.firstClass))
                .run();
        }
    }

    Statement m_upsert;
    Statement m_dropScans;
    Statement m_dropPart;
    Statement m_insertPart;
    SaidBeside m_saidBeside;
    Statement m_insertScan;
};

CaptureTensor readTensor(const Statement& row, int shapeColumn)
{
    CaptureTensor tensor;
    tensor.shape = parseShape(row.text(shapeColumn));
    tensor.dtype = parseDType(row.text(shapeColumn + 1)).value_or(DType::float32);
    return tensor;
}

Capture readCapture(const Statement& row)
{
    Capture c;
    c.id = row.integer(0);
    c.identity = row.text(1);
    c.file = row.text(2);
    c.path = row.text(3);
    c.rank = row.optional<int>(4);
    c.pid = row.optional<int>(5);
    c.timestampMs = row.optional<std::int64_t>(6);
    c.timestampFromName = row.integer(7) != 0;
    c.epsilon = row.optional<double>(8);
    c.input = readTensor(row, 9);
    if (!row.isNull(11)) {
        c.output = readTensor(row, 11);
    }
    c.variant = row.optional<std::string>(13);
    c.step = row.optional<std::int64_t>(14);
    return c;
}

void attachScans(sqlite3* db, std::vector<Capture>& captures)
{
    Statement scans(db,
        "SELECT count, nan, pos_inf, neg_inf, zero, subnormal, absmax, min_nonzero, sum_squares, trace, "
        "first_nonfinite, first_class, capture_id, side FROM scans ORDER BY capture_id, side, batch");
    auto at = captures.begin();
    while (scans.step()) {
        const auto id = scans.integer(12);
        at = std::find_if(at, captures.end(), [id](const Capture& c) { return c.id >= id; });
        if (at == captures.end() || at->id != id) {
            continue;
        }
        const bool input = scans.text(13) == "input";
        if (input || at->output) {
            (input ? at->input : *at->output).batches.push_back(readScan(scans, 0));
        }
    }
}

/// Calls `take` with the captures that `sql` gives a row, whose first column is the capture's id, in their order.
template <class Take>
void attach(sqlite3* db, std::vector<Capture>& captures, std::string_view sql, Take take)
{
    Statement rows(db, sql);
    auto at = captures.begin();
    while (rows.step()) {
        const auto id = rows.integer(0);
        at = std::find_if(at, captures.end(), [id](const Capture& c) { return c.id >= id; });
        if (at != captures.end() && at->id == id) {
            take(*at, rows);
        }
    }
}

Scene storedScene(sqlite3* db, std::int64_t id)
{
    Statement find(db, "SELECT scene FROM capture_scenes WHERE capture_id = ?");
    return find.bind(id).step() ? sceneFrom(find.text(0)) : Scene {};
}

} // namespace

void storeSidecar(sqlite3* db, const Capture& c)
{
    Statement find(db,
        "SELECT c.id, c.variant, c.step, c.epsilon, w.capture_id IS NOT NULL FROM captures c "
        "LEFT JOIN captures_of_nothing_else w ON w.capture_id = c.id WHERE c.identity = ?");
    if (!find.bind(c.identity).step()) {
        return;
    }
    const auto id = find.integer(0);
    const bool same = find.optional<std::string>(1) == c.variant && find.optional<std::int64_t>(2) == c.step
        && find.optional<double>(3) == c.epsilon && (find.integer(4) != 0) == c.nothingElse
        && storedScene(db, id) == c.scene;
    find.reset();
    if (same) {
        return;
    }
    Transaction transaction(db);
    Statement(db, "UPDATE captures SET variant = ?, step = ?, epsilon = ? WHERE id = ?")
        .bind(c.variant, c.step, c.epsilon, id)
        .run();
    SaidBeside(db).put(id, c);
    Statement(db, "UPDATE facts SET value = '' WHERE name = 'diagnosis'").run();
    transaction.commit();
}

bool isReplacedPath(const std::string& path)
{
    std::error_code ignored;
    return fs::path(path).parent_path().filename() == replacedFolder && !fs::exists(path, ignored);
}

CaptureNaming::CaptureNaming(sqlite3* db, fs::path folder)
    : m_db(db)
    , m_folder(std::move(folder))
    , m_find(db,
          "SELECT c.id, c.file, coalesce(n.name, c.file) FROM captures c LEFT JOIN capture_names n ON n.capture_id = "
          "c.id WHERE c.identity = ?")
    , m_alike(db,
          "SELECT c.id, coalesce(n.name, c.file), c.path FROM captures c LEFT JOIN capture_names n ON n.capture_id = "
          "c.id WHERE c.file = ? ORDER BY c.id")
    , m_replace(db, "UPDATE captures SET path = ? WHERE path = ? AND id <> ?")
{ }

std::optional<CaptureNaming::Known> CaptureNaming::find(const std::string& identity)
{
    m_find.bind(identity);
    std::optional<Known> known;
    while (m_find.step()) {
        known = Known {m_find.integer(0), m_find.text(1), m_find.text(2)};
    }
    return known;
}

void CaptureNaming::stored(std::int64_t id, const Place& place, const std::optional<Known>& before)
{
    m_replace.bind(replacedPath(place.path), place.path, id).run();
    if (before && before->file != place.file) {
        Statement(m_db, "DELETE FROM capture_names WHERE capture_id = ?").bind(id).run();
    }
    if (!before || before->file != place.file) {
        // Of one that is said twice the first word counts: until settle() its name is a guess.
        m_before.try_emplace(id, before ? std::optional(before->name) : std::nullopt);
        m_files.insert(place.file);
    }
}

void CaptureNaming::settle()
{
    for (const auto& file : std::exchange(m_files, {})) {
        settle(file);
    }
    m_before.clear();
}

void CaptureNaming::settle(const std::string& file)
{
    std::vector<std::int64_t> ids;
    std::vector<CaptureName> names;
    m_alike.bind(file);
    while (m_alike.step()) {
        ids.push_back(m_alike.integer(0));
        names.push_back({m_alike.text(1), (m_folder / m_alike.text(2)).generic_string()});
    }
    const auto old = names;
    tellApart(names);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (names[i].name != old[i].name) {
            setName(ids[i], file, names[i].name);
        }
        const auto said = m_before.find(ids[i]);
        const auto had = said == m_before.end() ? std::optional(old[i].name) : said->second;
        if (had && *had != names[i].name) {
            rename(*had, names[i].name);
        }
    }
}

void CaptureNaming::setName(std::int64_t id, const std::string& file, const std::string& name)
{
    if (name == file) {
        Statement(m_db, "DELETE FROM capture_names WHERE capture_id = ?").bind(id).run();
    } else {
        Statement(
            m_db, "INSERT INTO capture_names VALUES (?, ?) ON CONFLICT (capture_id) DO UPDATE SET name = excluded.name")
            .bind(id, name)
            .run();
    }
}

void CaptureNaming::rename(const std::string& from, const std::string& to)
{
    Statement(m_db, "UPDATE OR IGNORE cells SET capture = ? WHERE capture = ?").bind(to, from).run();
    renameObserved(from, to);
    forgetDiagnosis();
}

void CaptureNaming::renameObserved(const std::string& from, const std::string& to)
{
    Statement find(m_db, findObserved);
    find.bind(from);
    for (const auto& place : textsOf(find)) {
        Statement(m_db, "UPDATE facts SET value = json_set(value, ?, ?) WHERE name = 'observations'")
            .bind(place + ".capture", to)
            .run();
    }
}

/// The next command that needs a diagnosis judges again, with the new names.
void CaptureNaming::forgetDiagnosis()
{
    Statement(m_db, "UPDATE facts SET value = '' WHERE name = 'diagnosis'").run();
}

/// Of several at one place the last one lies there.
void CaptureNaming::replaceOld()
{
    std::map<std::string, std::int64_t> last;
    Statement shared(m_db, "SELECT path, max(id) FROM captures GROUP BY path HAVING count(*) > 1");
    while (shared.step()) {
        last.emplace(shared.text(0), shared.integer(1));
    }
    for (const auto& [path, id] : last) {
        m_replace.bind(replacedPath(path), path, id).run();
    }
}

void CaptureNaming::settleOld()
{
    replaceOld();
    Statement shared(m_db, "SELECT file FROM captures GROUP BY file HAVING count(*) > 1");
    for (const auto& file : textsOf(shared)) {
        m_alike.bind(file);
        while (m_alike.step()) {
            m_before.emplace(m_alike.integer(0), std::nullopt);
        }
        settle(file);
        deleteCellsWhere(m_db, "capture", file);
        forgetDiagnosis();
    }
    m_before.clear();
}

std::vector<Capture> readCaptures(sqlite3* db)
{
    std::vector<Capture> captures;
    Statement rows(db,
        "SELECT id, identity, file, path, rank, pid, timestamp_ms, timestamp_from_name, epsilon, input_shape, "
        "input_dtype, output_shape, output_dtype, variant, step FROM captures ORDER BY id");
    while (rows.step()) {
        captures.push_back(readCapture(rows));
    }
    attachScans(db, captures);
    attach(db, captures, "SELECT capture_id, part FROM capture_parts ORDER BY capture_id",
        [](Capture& c, const Statement& row) { c.part = row.text(1); });
    attach(db, captures, "SELECT capture_id, name FROM capture_names ORDER BY capture_id",
        [](Capture& c, const Statement& row) { c.file = row.text(1); });
    attach(db, captures, "SELECT capture_id FROM captures_of_nothing_else ORDER BY capture_id",
        [](Capture& c, const Statement& /*row*/) { c.nothingElse = true; });
    attach(db, captures, "SELECT capture_id, scene FROM capture_scenes ORDER BY capture_id",
        [](Capture& c, const Statement& row) { c.scene = sceneFrom(row.text(1)); });
    return captures;
}

std::vector<std::int64_t> storeCaptures(sqlite3* db, const fs::path& folder, const std::vector<PlacedCapture>& captures)
{
    std::vector<std::int64_t> ids;
    CaptureNaming naming(db, folder);
    CaptureStore store(db);
    for (const auto& [capture, path] : captures) {
        const auto before = naming.find(capture->identity);
        ids.push_back(store.add(*capture, path));
        naming.stored(ids.back(), {capture->file, path}, before);
    }
    naming.settle();
    return ids;
}

void moveCapture(sqlite3* db, const fs::path& folder, const std::string& identity, const CaptureNaming::Place& to)
{
    CaptureNaming naming(db, folder);
    const auto before = naming.find(identity);
    Statement(db, "UPDATE captures SET path = ?, file = ? WHERE identity = ?").bind(to.path, to.file, identity).run();
    if (before) {
        naming.stored(before->id, to, before);
    }
    naming.settle();
}

} // namespace nanscope::session
