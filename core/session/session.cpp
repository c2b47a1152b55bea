// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/session.h"

#include <functional>
#include <system_error>

#include <fmt/format.h>

#include "core/model/capturenames.h"
#include "core/platform/platform.h"
#include "core/session/chunks.h"
#include "core/session/lockwait.h"
#include "core/session/schema.h"
#include "core/session/sessionimpl.h"

namespace nanscope {

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

// In a folder that cannot be written, SQLite cannot make the files WAL needs, and asks to be told that nobody writes.
std::string immutableName(const fs::path& path)
{
    std::string uri = "file:";
    for (const unsigned char c : fs::absolute(path).string()) {
        const bool plain = std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
        uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
    }
    return uri + "?immutable=1";
}

Database connectReadOnly(const fs::path& path)
{
    try {
        auto db = connect(path.string(), SQLITE_OPEN_READONLY);
        pragmaValue(db.get(), "schema_version");
        return db;
    } catch (const DatabaseFailure& failed) {
        if (failed.error.kind == ErrorKind::format || failed.error.kind == ErrorKind::corrupt) {
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

void requireSession(sqlite3* db, OpenMode mode)
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
    if (version < 1 && mode == OpenMode::readOnly) {
        refuse(ErrorKind::unsupported,
            fmt::format("the session has the old version {} (this Nanscope writes {}); open it once from a folder you "
                        "may write to",
                version, sessionSchemaVersion));
    }
}

void chooseJournal(sqlite3* db, const fs::path& path)
{
    const bool network = isNetworkFileSystem(fs::absolute(path).parent_path());
    execute(db,
        network ? "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL"
                : "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
}

fs::path realPath(const fs::path& path)
{
    std::error_code error;
    auto real = fs::weakly_canonical(fs::absolute(path, error), error);
    return error ? path : real;
}

Database openDatabase(const fs::path& path, OpenMode mode)
{
    if (mode == OpenMode::readOnly) {
        auto db = connectReadOnly(path);
        distrust(db.get());
        requireSession(db.get(), mode);
        requireOwnSchema(db.get());
        return db;
    }
    auto db = connect(path.string(), SQLITE_OPEN_READWRITE | (mode == OpenMode::create ? SQLITE_OPEN_CREATE : 0));
    distrust(db.get());
    const bool fresh = mode == OpenMode::create && isFresh(db.get());
    if (!fresh) {
        requireSession(db.get(), mode);
    }
    if (sqlite3_db_readonly(db.get(), "main") == 1) {
        refuse(ErrorKind::io, "the session may not be written; open it read-only or copy it elsewhere");
    }
    chooseJournal(db.get(), path);
    migrate(db.get(), realPath(path).parent_path());
    requireOwnSchema(db.get());
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
        fs::create_directories(path.parent_path(), error);
        if (error) {
            return failure(ErrorKind::io, "the folder for the session cannot be made (" + error.message() + ")",
                path.parent_path().string());
        }
    }
    return {};
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
    Statement rejected(db, "SELECT path, reason FROM rejections ORDER BY path");
    while (rejected.step()) {
        run.rejected.push_back({rejected.text(0), rejected.text(1)});
    }
    return run;
}

RunData withPaths(sqlite3* db, RunData run, const std::function<std::string(const std::string&)>& found)
{
    run.root = found(run.root);
    for (auto& capture : run.captures) {
        capture.path = found(capture.path);
    }
    if (pragmaValue(db, "user_version") < ownNamesVersion) {
        nameCaptures(run.captures);
    }
    nameEvents(run);
    return run;
}

} // namespace

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

Session::Session(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{ }

Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open(const fs::path& path, OpenMode mode)
{
    if (auto prepared = prepareFile(path, mode); !prepared) {
        return tl::make_unexpected(prepared.error());
    }
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    impl->ownFolder = realPath(path).parent_path();
    impl->writable = mode != OpenMode::readOnly;
    auto db = impl->attempt([&] { return openDatabase(path, mode); });
    if (!db) {
        return tl::make_unexpected(db.error());
    }
    impl->db = std::move(*db);
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
    return userDataFolder() / "sessions"
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

Result<RunData> Session::summary() const
{
    return m_impl->attempt([&] {
        const Snapshot snapshot(m_impl->raw());
        return withPaths(
            m_impl->raw(), readRunData(m_impl->raw()), [this](const auto& kept) { return m_impl->found(kept); });
    });
}

Result<RunData> Session::load() const
{
    return m_impl->attempt([&] {
        const Snapshot snapshot(m_impl->raw());
        auto run = withPaths(
            m_impl->raw(), readRunData(m_impl->raw()), [this](const auto& kept) { return m_impl->found(kept); });
        for (auto& series : run.series) {
            series.points = readPoints(m_impl->raw(), series.id);
        }
        return run;
    });
}

Result<Session> openSessionOfRun(const fs::path& path, OpenMode mode, const std::string& run)
{
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
        return failure(ErrorKind::io, "the session of this run is gone; rescan to import it again", path.string());
    }
    auto session = Session::open(path, mode);
    const auto root = session ? session->root() : Result<std::string>(tl::make_unexpected(session.error()));
    if (!root) {
        return tl::make_unexpected(root.error());
    }
    if (hashText(*root) != run) {
        return failure(
            ErrorKind::refused, "the session of this run was replaced by another run's; open it anew", path.string());
    }
    return session;
}

} // namespace nanscope
