// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/session/query.h"

#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/session/database.h"

namespace nanscope::session {

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
