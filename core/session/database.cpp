// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/database.h"

#include <cerrno>
#include <cmath>
#include <cstring>

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

} // namespace nanscope::session
