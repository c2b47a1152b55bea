// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/session.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/model/capturenames.h"
#include "core/platform/platform.h"
#include "core/platform/privatefolder.h"
#include "core/session/captures.h"
#include "core/session/cells.h"
#include "core/session/chunks.h"
#include "core/session/database.h"
#include "core/session/lockwait.h"
#include "core/session/logs.h"
#include "core/session/schema.h"

namespace nanscope::session {

namespace fs = std::filesystem;

namespace {

constexpr int longestValue = 256 * 1024 * 1024;

[[noreturn]] void refuse(ErrorKind kind, std::string what)
{
    throw DatabaseFailure {{kind, std::move(what), {}}};
}

Database connect(const std::string& name, int flags)
{
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(name.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    Database db(raw);
    check(raw, code);
    waitForLocks(raw);
    sqlite3_extended_result_codes(raw, 1);
    return db;
}

// The file may come from a stranger: nothing in it may run, and no value in it may cost more than it is worth.
void distrust(sqlite3* db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, longestValue);
    execute(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY");
}

// In a folder that cannot be written, SQLite cannot make the files WAL needs, and wants to be assured that there is no
// writer.
std::string immutableName(const fs::path& path)
{
    std::string uri = "file:";
    for (const unsigned char c : fs::absolute(path).string()) {
        const bool plain = std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
        uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
    }
    return uri + "?immutable=1";
}

/// A session that is being written, or was copied meanwhile, has two files beside it. Only a connection that may write
/// takes them away, and a reader may be the last to close: readers connect as one, where they may, and write nothing.
Database connectReadOnly(const fs::path& path)
{
    try {
        auto db = connect(path.string(), SQLITE_OPEN_READWRITE);
        execute(db.get(), "PRAGMA query_only = ON");
        pragmaValue(db.get(), "schema_version");
        return db;
    } catch (const DatabaseFailure& failed) {
        const bool folder =
            failed.code == SQLITE_CANTOPEN || failed.code == SQLITE_READONLY || failed.code == SQLITE_IOERR;
        if (!folder) {
            throw;
        }
    }
    return connect(immutableName(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

bool isFresh(sqlite3* db)
{
    return pragmaValue(db, "application_id") == 0 && pragmaValue(db, "user_version") == 0
        && !Statement(db, "SELECT 1 FROM sqlite_master").step();
}

void requireSession(sqlite3* db)
{
    if (pragmaValue(db, "application_id") != sessionApplicationId) {
        refuse(ErrorKind::format, "not a Nanscope session");
    }
    const auto version = pragmaValue(db, "user_version");
    if (version > sessionSchemaVersion) {
        refuse(ErrorKind::unsupported,
            fmt::format("the session has version {}, this Nanscope reads up to version {}; update Nanscope", version,
                sessionSchemaVersion));
    }
    if (version < 1) {
        refuse(ErrorKind::corrupt,
            fmt::format("the session says it has version {}, which no Nanscope ever wrote; import the run into a new "
                        "session",
                version));
    }
}

void chooseJournal(sqlite3* db, const fs::path& path)
{
    const bool network = platform::isNetworkFileSystem(fs::absolute(path).parent_path());
    untilUnlocked([&] {
        execute(db,
            network ? "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL"
                    : "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    });
}

fs::path realPath(const fs::path& path)
{
    std::error_code error;
    auto real = fs::weakly_canonical(fs::absolute(path, error), error);
    return error ? path : real;
}

void bringUpToDate(sqlite3* db, const fs::path& path)
{
    migrate(db, [&](std::int64_t version) {
        if (version < ownNamesVersion) {
            CaptureNaming(db, realPath(path).parent_path()).settleOld();
        }
        if (version < eventFactsVersion) {
            addEventFacts(db);
        }
    });
}

/// A session of an older version that is only to be read stays as it is; what is read is a copy in memory.
Database migratedCopy(sqlite3* older, const fs::path& path)
{
    auto copy = connect(":memory:", SQLITE_OPEN_READWRITE);
    auto* backup = sqlite3_backup_init(copy.get(), "main", older, "main");
    sqlite3_backup_step(backup, -1);
    check(copy.get(), sqlite3_backup_finish(backup));
    distrust(copy.get());
    bringUpToDate(copy.get(), path);
    execute(copy.get(), "PRAGMA query_only = ON");
    return copy;
}

Database openToRead(const fs::path& path)
{
    auto db = connectReadOnly(path);
    distrust(db.get());
    requireSession(db.get());
    requireOwnSchema(db.get());
    return pragmaValue(db.get(), "user_version") < sessionSchemaVersion ? migratedCopy(db.get(), path) : std::move(db);
}

Database openDatabase(const fs::path& path, OpenMode mode)
{
    if (mode == OpenMode::readOnly) {
        return openToRead(path);
    }
    auto db = connect(path.string(), SQLITE_OPEN_READWRITE | (mode == OpenMode::create ? SQLITE_OPEN_CREATE : 0));
    distrust(db.get());
    const bool fresh = mode == OpenMode::create && isFresh(db.get());
    if (!fresh) {
        requireSession(db.get());
        requireOwnSchema(db.get());
    }
    if (sqlite3_db_readonly(db.get(), "main") == 1) {
        refuse(ErrorKind::io, "the session may not be written; open it read-only or copy it elsewhere");
    }
    chooseJournal(db.get(), path);
    bringUpToDate(db.get(), path);
    return db;
}

Result<void> prepareFile(const fs::path& path, OpenMode mode)
{
    std::error_code error;
    const auto status = fs::status(path, error);
    if (fs::is_directory(status)) {
        return failure(ErrorKind::usage, "this is a folder, not a session file", path.string());
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        return failure(ErrorKind::format, "not a Nanscope session", path.string());
    }
    if (!fs::exists(status) && mode != OpenMode::create) {
        return failure(ErrorKind::io, "no such session; import a folder to make one", path.string());
    }
    if (mode == OpenMode::create && path.has_parent_path()) {
        TRY(platform::makePrivateFolders(path.parent_path()));
    }
    // SQLite would make it for everybody. Its journals take the mode of the file, which a session that exists keeps:
    // its owner may have opened it to others on purpose.
    return fs::exists(status) || mode != OpenMode::create ? Result<void>() : platform::makePrivateFile(path);
}

std::string readableName(const fs::path& folder)
{
    std::string name;
    for (const unsigned char c : folder.filename().string()) {
        name += std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' ? static_cast<char>(c) : '_';
    }
    constexpr std::size_t longestName = 60;
    return name.empty() ? "run" : name.substr(0, longestName);
}

void setFact(sqlite3* db, const char* name, const std::string& value)
{
    Statement(db, "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
        .bind(name, value)
        .run();
}

std::string fact(sqlite3* db, const char* name)
{
    Statement statement(db, "SELECT value FROM facts WHERE name = ?");
    return statement.bind(name).step() ? statement.text(0) : std::string();
}

RunData readRunData(sqlite3* db)
{
    RunData run;
    run.name = fact(db, "run_name");
    run.root = fact(db, "run_root");
    run.captures = readCaptures(db);
    run.series = readSeries(db);
    run.events = readEvents(db);
    run.checkpoints = readCheckpoints(db);
    run.settings = readSettings(db);
    setReplacedApart(db, run);
    Statement rejected(db, "SELECT path, reason FROM rejections ORDER BY path");
    while (rejected.step()) {
        run.rejected.push_back({rejected.text(0), rejected.text(1)});
    }
    return run;
}

bool isBelow(const fs::path& place, const fs::path& folder)
{
    const auto relative = place.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
}

/// A session may come from a stranger. What it calls a capture is opened only below the folder that the session lies in
/// or the one that it was imported from; one that was moved or mailed has its captures beside it.
class OwnPlaces
{
public:
    OwnPlaces(const fs::path& session, const std::string& root)
        : m_own(placeOf(session).parent_path())
        , m_root(fs::path(root).relative_path().empty() ? fs::path() : placeOf(root))
    { }

    /// Empty for a place outside both.
    std::string find(const std::string& path) const
    {
        const auto place = placeOf(path);
        if (isBelow(place, m_own)) {
            return path;
        }
        if (place.empty() || m_root.empty() || !isBelow(place, m_root)) {
            return {};
        }
        std::error_code ignored;
        const auto beside = m_own / place.lexically_relative(m_root);
        return !fs::exists(place, ignored) && fs::exists(beside, ignored) ? beside.string() : path;
    }

private:
    /// Empty for no path, or one that cannot be.
    static fs::path placeOf(const fs::path& path)
    {
        std::error_code error;
        return path.empty() ? fs::path() : fs::absolute(path, error).lexically_normal();
    }

    fs::path m_own;
    fs::path m_root; ///< empty: unknown, or everything
};

RunData withPaths(RunData run, const fs::path& session, const std::function<std::string(const std::string&)>& found)
{
    run.root = found(run.root);
    const OwnPlaces places(session, run.root);
    for (auto& capture : run.captures) {
        capture.path = found(capture.path);
    }
    nameEvents(run);
    for (auto& checkpoint : run.checkpoints) {
        const bool found = checkpoint.fact == CheckpointFact::found && !run.root.empty()
            && fs::path(checkpoint.path).lexically_normal().has_filename() && checkpoint.path != ".";
        checkpoint.place = found ? places.find((fs::path(run.root) / checkpoint.path).string()) : std::string();
    }
    for (auto& capture : run.captures) {
        capture.overwritten = isReplacedPath(capture.path);
        // Without an identity any file would do.
        capture.path = capture.identity.empty() ? std::string() : places.find(capture.path);
    }
    return run;
}

constexpr const char* otherImporter = "another program is importing this log; run the import again";

} // namespace

struct Session::Impl
{
    std::filesystem::path path;
    std::filesystem::path ownFolder; ///< real path of the folder the session lies in
    Database db;
    bool writable = false;

    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl();

    sqlite3* raw() const { return db.get(); }

    std::unique_ptr<LogWriter> logWriter; ///< once it was asked for
    LogWriter& logs();

    /// The folder that was asked for last and its real path: captures come from few folders, and asking the system
    /// about each part of a path costs more than storing a capture.
    std::filesystem::path resolvedFolder;
    std::filesystem::path resolvedTo;
    const std::filesystem::path& resolved(const std::filesystem::path& folder);

    /// Paths below the session's own folder are kept relative to it, so that a session beside its captures can be
    /// moved and mailed together with them.
    std::string stored(const std::string& given);
    std::optional<std::string> belowOwnFolder(const std::filesystem::path& real) const;
    std::string found(const std::string& kept) const;

    template <class Work>
    auto attempt(Work&& work) const
    {
        return nanscope::session::attempt(path.string(), std::forward<Work>(work));
    }
};

std::string hashText(std::string_view text)
{
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    return fmt::format("{:016x}", hash);
}

Session::Impl::~Impl()
{
    logWriter.reset();
    if (db && writable) {
        // Fails, as it should, while another process has the session open; the last one leaves a single file.
        sqlite3_busy_timeout(raw(), 0);
        sqlite3_exec(raw(), "PRAGMA journal_mode = DELETE", nullptr, nullptr, nullptr);
    }
}

const fs::path& Session::Impl::resolved(const fs::path& folder)
{
    if (resolvedTo.empty() || folder != resolvedFolder) {
        resolvedTo = realPath(folder.empty() ? "." : folder);
        resolvedFolder = folder;
    }
    return resolvedTo;
}

std::string Session::Impl::stored(const std::string& given)
{
    const fs::path place(given);
    return belowOwnFolder(resolved(place.parent_path()) / place.filename()).value_or(given);
}

std::optional<std::string> Session::Impl::belowOwnFolder(const fs::path& real) const
{
    const auto relative = real.lexically_relative(ownFolder);
    const bool below = !relative.empty() && *relative.begin() != "..";
    return below ? std::optional(relative.generic_string()) : std::nullopt;
}

std::string Session::Impl::found(const std::string& kept) const
{
    const fs::path place(kept);
    if (kept.empty() || place.is_absolute()) {
        return kept;
    }
    return (path.parent_path() / place).lexically_normal().string();
}

LogWriter& Session::Impl::logs()
{
    if (!logWriter) {
        logWriter = std::make_unique<LogWriter>(raw());
    }
    return *logWriter;
}

Session::Session(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{ }

Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open(const fs::path& path, OpenMode mode)
{
    TRY(prepareFile(path, mode));
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    impl->ownFolder = realPath(path).parent_path();
    impl->writable = mode != OpenMode::readOnly;
    impl->db = TRY(impl->attempt([&] { return openDatabase(path, mode); }));
    return Session(std::move(impl));
}

fs::path Session::defaultPath(const fs::path& source)
{
    std::error_code error;
    auto real = fs::weakly_canonical(source, error);
    if (error) {
        real = fs::absolute(source).lexically_normal();
    }
    if (!real.has_filename()) {
        real = real.parent_path();
    }
    return platform::userDataFolder() / "sessions"
        / fmt::format("{}-{}.nanscope", readableName(real), hashText(real.generic_string()));
}

const fs::path& Session::path() const
{
    return m_impl->path;
}

Result<void> Session::setRun(const std::string& name, const std::string& root)
{
    return m_impl->attempt([&] {
        Transaction transaction(m_impl->raw());
        setFact(m_impl->raw(), "run_name", name);
        setFact(m_impl->raw(), "run_root", m_impl->belowOwnFolder(realPath(root)).value_or(root));
        transaction.commit();
    });
}

Result<std::string> Session::root() const
{
    return m_impl->attempt([&] { return m_impl->found(fact(m_impl->raw(), "run_root")); });
}

Result<void> Session::setRejections(const std::vector<Rejection>& rejected)
{
    return m_impl->attempt([&] {
        Transaction transaction(m_impl->raw());
        execute(m_impl->raw(), "DELETE FROM rejections");
        Statement insert(m_impl->raw(), "INSERT INTO rejections VALUES (?, ?)");
        for (const auto& rejection : rejected) {
            insert.bind(rejection.path, rejection.reason).run();
        }
        transaction.commit();
    });
}

Result<void> Session::setDiagnosis(const std::string& json)
{
    return m_impl->attempt([&] { setFact(m_impl->raw(), "diagnosis", json); });
}

Result<std::string> Session::diagnosis() const
{
    return m_impl->attempt([&] { return fact(m_impl->raw(), "diagnosis"); });
}

Result<void> Session::setObservations(const std::string& json)
{
    return m_impl->attempt([&] { setFact(m_impl->raw(), "observations", json); });
}

Result<std::string> Session::observations() const
{
    return m_impl->attempt([&] { return fact(m_impl->raw(), "observations"); });
}

Result<void> Session::setColumns(const std::string& text)
{
    return m_impl->attempt([&] { setFact(m_impl->raw(), "log_columns", text); });
}

Result<std::string> Session::columns() const
{
    return m_impl->attempt([&] { return fact(m_impl->raw(), "log_columns"); });
}

Result<std::unordered_set<std::string>> Session::knownCaptures() const
{
    return m_impl->attempt([&] {
        std::unordered_set<std::string> known;
        Statement all(m_impl->raw(), "SELECT identity FROM captures");
        while (all.step()) {
            known.insert(all.text(0));
        }
        return known;
    });
}

Result<bool> Session::knowsCapture(const std::string& identity, const std::string& path)
{
    return m_impl->attempt([&] {
        Statement find(m_impl->raw(), "SELECT path FROM captures WHERE identity = ?");
        if (!find.bind(identity).step()) {
            return false;
        }
        if (const auto kept = m_impl->stored(path); find.text(0) != kept) {
            find.reset();
            Transaction transaction(m_impl->raw());
            moveCapture(
                m_impl->raw(), m_impl->ownFolder, identity, {std::filesystem::path(path).filename().string(), kept});
            transaction.commit();
        }
        return true;
    });
}

Result<void> Session::takeSidecar(const Capture& capture)
{
    return m_impl->attempt([&] { storeSidecar(m_impl->raw(), capture); });
}

Result<std::optional<std::string>> Session::captureName(const std::string& identity) const
{
    return m_impl->attempt([&] {
        const auto known = CaptureNaming(m_impl->raw(), m_impl->ownFolder).find(identity);
        return known ? std::optional(known->name) : std::nullopt;
    });
}

Result<bool> Session::isCaptureName(const std::string& name) const
{
    return m_impl->attempt([&] {
        return Statement(m_impl->raw(),
            "SELECT 1 FROM captures WHERE file = ?1 UNION ALL SELECT 1 FROM capture_names WHERE name = ?1")
            .bind(name)
            .step();
    });
}

Result<void> Session::addCaptures(std::vector<Capture>& captures)
{
    return m_impl->attempt([&] {
        Transaction transaction(m_impl->raw());
        std::vector<PlacedCapture> placed;
        for (const auto& capture : captures) {
            placed.push_back({&capture, m_impl->stored(capture.path)});
        }
        const auto ids = storeCaptures(m_impl->raw(), m_impl->ownFolder, placed);
        transaction.commit();
        for (std::size_t i = 0; i < captures.size(); ++i) {
            captures[i].id = ids[i];
        }
    });
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
    return m_impl->attempt([&] { return session::settleReplaced(m_impl->raw(), log); });
}

Result<void> Session::moveLogs(const std::vector<LogMove>& moves)
{
    return m_impl->attempt([&] {
        Transaction transaction(m_impl->raw());
        session::moveLogs(m_impl->raw(), moves);
        transaction.commit();
    });
}

Result<void> Session::dropLog(const std::string& source)
{
    return m_impl->attempt([&] {
        Transaction transaction(m_impl->raw());
        session::dropLog(m_impl->raw(), source);
        transaction.commit();
    });
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

Result<void> Session::setCheckpointContents(const std::string& path, const CheckpointContents& contents)
{
    return m_impl->attempt([&] { storeCheckpointContents(m_impl->raw(), path, contents); });
}

Result<void> Session::addCell(Cell& cell)
{
    return m_impl->attempt([&] { return storeCell(m_impl->raw(), cell); });
}

Result<std::optional<Cell>> Session::addDeepGauges(const Cell& cell)
{
    return m_impl->attempt([&] { return storeDeepGauges(m_impl->raw(), cell); });
}

Result<std::vector<Cell>> Session::cells() const
{
    return m_impl->attempt([&] { return readCells(m_impl->raw()); });
}

Result<std::optional<std::int64_t>> Session::findCell(const Cell& cell) const
{
    return m_impl->attempt([&] { return session::findCell(m_impl->raw(), cell); });
}

Result<std::vector<OpTrace>> Session::opTraces(std::int64_t cellId) const
{
    return m_impl->attempt([&] { return readOpTraces(m_impl->raw(), cellId); });
}

Result<std::vector<StoredVariant>> Session::variants() const
{
    return m_impl->attempt([&] {
        std::vector<StoredVariant> all;
        Statement rows(m_impl->raw(),
            "SELECT name, CASE WHEN length(CAST(definition AS BLOB)) <= ? THEN definition ELSE '' END FROM variants "
            "ORDER BY rowid LIMIT ?");
        rows.bind(maxDefinitionBytes, maxStoredVariants);
        while (rows.step()) {
            all.push_back({rows.text(0), rows.text(1)});
        }
        return all;
    });
}

Result<std::int64_t> Session::setVariant(const StoredVariant& variant, bool computesTheSame)
{
    return m_impl->attempt([&] {
        sqlite3* db = m_impl->raw();
        Transaction transaction(db);
        const auto dropped = computesTheSame ? 0 : deleteCellsWhere(db, "variant", variant.name);
        Statement(db,
            "INSERT INTO variants VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET definition = "
            "excluded.definition")
            .bind(variant.name, variant.definition)
            .run();
        transaction.commit();
        return dropped;
    });
}

Result<RunData> Session::summary() const
{
    return m_impl->attempt([&] {
        const Snapshot snapshot(m_impl->raw());
        return withPaths(
            readRunData(m_impl->raw()), m_impl->path, [this](const auto& kept) { return m_impl->found(kept); });
    });
}

Result<RunData> Session::load() const
{
    return m_impl->attempt([&] {
        const Snapshot snapshot(m_impl->raw());
        auto run = withPaths(
            readRunData(m_impl->raw()), m_impl->path, [this](const auto& kept) { return m_impl->found(kept); });
        const auto fill = [this](LogRecords& records) {
            for (auto& series : records.series) {
                series.points = readPoints(m_impl->raw(), series.id);
            }
        };
        fill(run);
        for (auto& log : run.replaced) {
            fill(log.records);
        }
        return run;
    });
}

Result<std::vector<Point>> Session::points(std::int64_t seriesId) const
{
    return m_impl->attempt([&] { return readPoints(m_impl->raw(), seriesId); });
}

Result<void> Session::visitRange(const SeriesRange& range, const std::function<bool(SeriesPiece)>& visit) const
{
    return m_impl->attempt([&] {
        const Snapshot snapshot(m_impl->raw());
        visitPieces(m_impl->raw(), range, visit);
    });
}

Result<QueryTable> Session::query(const std::string& sql, const CancelToken& cancel) const
{
    return m_impl->attempt([&] { return runQuery(m_impl->raw(), sql, cancel); });
}

bool isSessionFile(const fs::path& path)
{
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
        return false;
    }
    constexpr std::string_view magic = "SQLite format 3";
    std::string start(magic.size(), '\0');
    std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
    return path.extension() == ".nanscope" || start == magic;
}

Result<Session> openSessionOfRun(const fs::path& path, OpenMode mode, const std::string& run)
{
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
        return failure(ErrorKind::io, "the session of this run is gone; rescan to import it again", path.string());
    }
    auto session = TRY(Session::open(path, mode));
    const auto root = TRY(session.root());
    if (root.empty()) {
        return failure(ErrorKind::refused,
            "the session of this run was begun anew and holds no run; rescan to import it again", path.string());
    }
    if (hashText(root) != run) {
        return failure(
            ErrorKind::refused, "the session of this run was replaced by another run's; open it anew", path.string());
    }
    return session;
}

} // namespace nanscope::session
