// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/capturenaming.h"

#include <utility>
#include <vector>

#include "core/model/capturenames.h"
#include "core/session/sessionimpl.h"

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

} // namespace

std::string replacedPath(const std::string& path)
{
    const fs::path place(path);
    return (place.parent_path() / replacedFolder / place.filename()).generic_string();
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

/// Judged again by whoever needs it, with the names of now.
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

} // namespace nanscope::session
