// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/database.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/platform/platform.h"

namespace nanscope::session {

namespace {

Error fullDisk()
{
    return {ErrorKind::io, "the disk is full; what was stored before is kept, free some space and run it again", {}};
}

bool isUsedUp(int systemCode)
{
    return systemCode == ENOSPC || systemCode == EDQUOT || systemCode == EFBIG || systemCode == EMFILE
        || systemCode == ENFILE;
}

/// SQLite tells a full disk, a limit on files and a broken disk apart only by what the system said last.
Error systemTrouble(int systemCode, std::string otherwise)
{
    if (systemCode == ENOSPC || systemCode == EDQUOT) {
        return fullDisk();
    }
    return {ErrorKind::io,
        isUsedUp(systemCode) ? "the session cannot be read or written, " + platform::systemReason(systemCode)
                             : std::move(otherwise),
        {}};
}

Error describe(int code, const char* message, int systemCode)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        return fullDisk();
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return {ErrorKind::io,
            "another program keeps the session locked; wait until it has finished, or close it, and try again", {}};
    case SQLITE_READONLY:
        return {ErrorKind::io, "the session is read-only; copy it to a folder you may write to", {}};
    case SQLITE_NOTADB:
        return {ErrorKind::format, "not a Nanscope session", {}};
    case SQLITE_CORRUPT:
        return {ErrorKind::corrupt, "the session file is damaged; import the run into a new session", {}};
    case SQLITE_CANTOPEN:
        return systemTrouble(systemCode, "the session cannot be opened; check that the folder exists and may be read");
    case SQLITE_IOERR:
        return systemTrouble(systemCode, fmt::format("the session cannot be read or written ({})", message));
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
        return {ErrorKind::refused, "the session holds a value that is too large", {}};
    default:
        return {ErrorKind::internal, fmt::format("the session refused the request ({})", message), {}};
    }
}

} // namespace

void throwLastError(sqlite3* db, int code)
{
    // SQLite forgets what the system said where a COMMIT fails, but nothing has touched errno since.
    const int left = errno;
    const int told = db != nullptr ? sqlite3_system_errno(db) : 0;
    const auto* message = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
    throw DatabaseFailure {describe(code, message, isUsedUp(left) ? left : told), code & 0xff};
}

Statement::Statement(sqlite3* db, std::string_view sql)
    : m_db(db)
{
    sqlite3_stmt* statement = nullptr;
    check(db, sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement, nullptr));
    m_statement.reset(statement);
}

bool Statement::step()
{
    errno = 0;
    const int code = sqlite3_step(m_statement.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        throwLastError(m_db, code);
    }
    return code == SQLITE_ROW;
}

void Statement::run()
{
    while (step()) { }
    sqlite3_reset(m_statement.get());
}

double Statement::real(int column) const
{
    if (sqlite3_column_type(m_statement.get(), column) == SQLITE_BLOB) {
        const auto bytes = blob(column);
        double value = std::nan("");
        if (bytes.size() == sizeof(value)) {
            std::memcpy(&value, bytes.data(), sizeof(value));
        }
        return value;
    }
    return sqlite3_column_double(m_statement.get(), column);
}

std::string Statement::text(int column) const
{
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(m_statement.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column));
    return data != nullptr ? std::string(data, size) : std::string();
}

Bytes Statement::blob(int column) const
{
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(m_statement.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column));
    return data != nullptr ? Bytes(data, size) : Bytes();
}

void Statement::bindAt(int index, std::int64_t value)
{
    check(m_db, sqlite3_bind_int64(m_statement.get(), index, value));
}

void Statement::bindAt(int index, double value)
{
    if (!std::isnan(value)) {
        check(m_db, sqlite3_bind_double(m_statement.get(), index, value));
        return;
    }
    check(m_db, sqlite3_bind_blob(m_statement.get(), index, &value, sizeof(value), SQLITE_TRANSIENT));
}

void Statement::bindAt(int index, std::string_view value)
{
    // A null pointer would bind NULL, and an empty view may hold one.
    const char* data = value.data() != nullptr ? value.data() : "";
    check(m_db, sqlite3_bind_text64(m_statement.get(), index, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bindAt(int index, Bytes value)
{
    const void* data = value.empty() ? static_cast<const void*>("") : value.data();
    check(m_db, sqlite3_bind_blob64(m_statement.get(), index, data, value.size(), SQLITE_STATIC));
}

void Statement::bindAt(int index, std::nullopt_t)
{
    check(m_db, sqlite3_bind_null(m_statement.get(), index));
}

Transaction::Transaction(sqlite3* db)
    : m_db(db)
{
    execute(db, "BEGIN IMMEDIATE");
}

Transaction::~Transaction()
{
    // SQLite has rolled back by itself after some failures, a full disk among them.
    if (m_open && sqlite3_get_autocommit(m_db) == 0) {
        sqlite3_exec(m_db, "ROLLBACK", nullptr, nullptr, nullptr);
    }
}

void Transaction::commit()
{
    execute(m_db, "COMMIT");
    m_open = false;
}

Snapshot::Snapshot(sqlite3* db)
    : m_db(db)
{
    execute(db, "BEGIN");
}

Snapshot::~Snapshot()
{
    if (sqlite3_get_autocommit(m_db) == 0) {
        sqlite3_exec(m_db, "ROLLBACK", nullptr, nullptr, nullptr);
    }
}

void execute(sqlite3* db, const char* sql)
{
    errno = 0;
    check(db, sqlite3_exec(db, sql, nullptr, nullptr, nullptr));
}

std::int64_t pragmaValue(sqlite3* db, std::string_view name)
{
    Statement statement(db, fmt::format("PRAGMA {}", name));
    return statement.step() ? statement.integer(0) : 0;
}

namespace {

[[noreturn]] void refuse(std::string what)
{
    throw DatabaseFailure {{ErrorKind::usage, std::move(what), {}}};
}

int allowReading(void*, int action, const char*, const char* function, const char*, const char*)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return std::string_view(function) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

/// Holds while the user's own words are compiled.
class ReadingOnly
{
public:
    explicit ReadingOnly(sqlite3* db)
        : m_db(db)
    {
        sqlite3_set_authorizer(db, allowReading, nullptr);
    }
    ~ReadingOnly() { sqlite3_set_authorizer(m_db, nullptr, nullptr); }
    ReadingOnly(const ReadingOnly&) = delete;
    ReadingOnly& operator=(const ReadingOnly&) = delete;

private:
    sqlite3* m_db;
};

using Prepared = std::unique_ptr<sqlite3_stmt, StatementFinalizer>;

/// Nothing but spaces and comments.
bool isBlank(sqlite3* db, const char* sql)
{
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(db, sql, -1, &raw, nullptr);
    return Prepared(raw) == nullptr && code == SQLITE_OK;
}

Prepared prepareQuery(sqlite3* db, const std::string& sql)
{
    const ReadingOnly guard(db);
    sqlite3_stmt* raw = nullptr;
    const char* tail = nullptr;
    const int code = sqlite3_prepare_v2(db, sql.c_str(), static_cast<int>(sql.size() + 1), &raw, &tail);
    Prepared statement(raw);
    if ((code & 0xff) == SQLITE_AUTH) {
        refuse("only reading is allowed here; write one SELECT statement");
    }
    if (code != SQLITE_OK) {
        refuse(fmt::format("the query is not valid SQL ({})", sqlite3_errmsg(db)));
    }
    if (!statement || !isBlank(db, tail)) {
        refuse("one statement at a time; write one SELECT statement");
    }
    if (sqlite3_stmt_readonly(raw) == 0) {
        refuse("only reading is allowed here; write one SELECT statement");
    }
    return statement;
}

std::string hex(sqlite3_stmt* statement, int column)
{
    const auto* data = static_cast<const unsigned char*>(sqlite3_column_blob(statement, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    return fmt::format("{:02x}", fmt::join(data, data + size, ""));
}

std::optional<std::string> cellText(sqlite3_stmt* statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        return std::nullopt;
    case SQLITE_FLOAT:
        return fmt::format("{}", sqlite3_column_double(statement, column));
    case SQLITE_BLOB:
        return hex(statement, column);
    default:
        return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
            static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
    }
}

/// Lets a statement end that would not end by itself.
class Interruptible
{
public:
    Interruptible(sqlite3* db, const CancelToken& cancel)
        : m_db(db)
        , m_cancel(cancel)
    {
        constexpr int instructionsPerLook = 10'000; // some tenths of a millisecond
        sqlite3_progress_handler(db, instructionsPerLook, mustStop, this);
    }
    ~Interruptible() { sqlite3_progress_handler(m_db, 0, nullptr, nullptr); }
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

private:
    static int mustStop(void* self) { return static_cast<Interruptible*>(self)->m_cancel.cancelled() ? 1 : 0; }

    sqlite3* m_db;
    const CancelToken& m_cancel;
};

/// Of a question that goes on for ever, in bytes; all of an answer is in memory before the first row is printed.
constexpr std::size_t largestAnswer = std::size_t {1} << 30;

} // namespace

QueryTable runQuery(sqlite3* db, const std::string& sql, const CancelToken& cancel)
{
    const Interruptible guard(db, cancel);
    const auto statement = prepareQuery(db, sql);
    QueryTable table;
    const int columns = sqlite3_column_count(statement.get());
    for (int column = 0; column < columns; ++column) {
        table.columns.emplace_back(sqlite3_column_name(statement.get(), column));
    }
    std::size_t bytes = 0;
    int code = sqlite3_step(statement.get());
    for (; code == SQLITE_ROW; code = sqlite3_step(statement.get())) {
        auto& row = table.rows.emplace_back();
        for (int column = 0; column < columns; ++column) {
            row.push_back(cellText(statement.get(), column));
            bytes += sizeof row.back() + (row.back() ? row.back()->size() : 0);
        }
        if (bytes > largestAnswer) {
            throw DatabaseFailure {
                {ErrorKind::refused, "the answer is larger than 1 GiB; add a LIMIT, or ask for fewer columns", {}}};
        }
    }
    if (code == SQLITE_INTERRUPT) {
        throw DatabaseFailure {{ErrorKind::cancelled, "the query was cancelled", {}}};
    }
    if (code != SQLITE_DONE) {
        throwLastError(db, code);
    }
    return table;
}

} // namespace nanscope::session
