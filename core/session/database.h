// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// RAII over SQLite's C interface. Inside the room a failed call throws DatabaseFailure; attempt() turns it into a
// Result at the room's border, so that no exception leaves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <sqlite3.h>

#include "core/base/job.h"
#include "core/base/result.h"
#include "core/session/sessiontypes.h"

namespace nanscope::session {

struct DatabaseFailure
{
    Error error;
    int code = 0; ///< SQLite's, without its extension; 0 for what SQLite did not say
};

/// Throws what the last call on this connection left behind, as a sentence.
[[noreturn]] void throwLastError(sqlite3* db, int code);

inline void check(sqlite3* db, int code)
{
    if (code != SQLITE_OK) {
        throwLastError(db, code);
    }
}

struct DatabaseCloser
{
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
using Database = std::unique_ptr<sqlite3, DatabaseCloser>;

struct StatementFinalizer
{
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

/// Bytes that outlive the next step() of the statement they are bound to.
using Bytes = std::span<const std::byte>;

/// One prepared statement; parameters are bound in order, columns read by index. A NaN is bound as its eight bytes,
/// because SQLite would turn it into NULL.
class Statement
{
public:
    Statement(sqlite3* db, std::string_view sql);

    template <class... Values>
    Statement& bind(const Values&... values)
    {
        int index = 0;
        sqlite3_reset(m_statement.get());
        (bindAt(++index, values), ...);
        return *this;
    }

    /// True while there is a row.
    bool step();
    void run();
    /// Lets go of what step() holds, once its row has been read.
    void reset() { sqlite3_reset(m_statement.get()); }

    std::int64_t integer(int column) const { return sqlite3_column_int64(m_statement.get(), column); }
    bool isNull(int column) const { return sqlite3_column_type(m_statement.get(), column) == SQLITE_NULL; }
    double real(int column) const;
    std::string text(int column) const;
    /// Valid until the next step().
    Bytes blob(int column) const;

    template <class T>
    std::optional<T> optional(int column) const
    {
        if (isNull(column)) {
            return std::nullopt;
        }
        if constexpr (std::is_same_v<T, std::string>) {
            return text(column);
        } else if constexpr (std::is_floating_point_v<T>) {
            return real(column);
        } else {
            return static_cast<T>(integer(column));
        }
    }

private:
    void bindAt(int index, std::int64_t value);
    void bindAt(int index, int value) { bindAt(index, static_cast<std::int64_t>(value)); }
    void bindAt(int index, bool value) { bindAt(index, static_cast<std::int64_t>(value)); }
    void bindAt(int index, double value);
    void bindAt(int index, std::string_view value);
    void bindAt(int index, const std::string& value) { bindAt(index, std::string_view(value)); }
    void bindAt(int index, const char* value) { bindAt(index, std::string_view(value)); }
    void bindAt(int index, Bytes value);
    void bindAt(int index, std::nullopt_t);
    template <class T>
    void bindAt(int index, const std::optional<T>& value)
    {
        value ? bindAt(index, *value) : bindAt(index, std::nullopt);
    }

    sqlite3* m_db;
    std::unique_ptr<sqlite3_stmt, StatementFinalizer> m_statement;
};

/// Rolled back unless committed. Takes the write lock at once, so that a writer never fails half way.
class Transaction
{
public:
    explicit Transaction(sqlite3* db);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

private:
    sqlite3* m_db;
    bool m_open = true;
};

/// What is read while it lives belongs to one moment, whatever others write meanwhile.
class Snapshot
{
public:
    explicit Snapshot(sqlite3* db);
    ~Snapshot();
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

private:
    sqlite3* m_db;
};

void execute(sqlite3* db, const char* sql);
std::int64_t pragmaValue(sqlite3* db, std::string_view name);

/// Runs `work` and returns what it returns; a failure of the database becomes an error about `path`.
template <class Work>
auto attempt(const std::string& path, Work&& work) -> Result<std::invoke_result_t<Work>>
{
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
            work();
            return {};
        } else {
            return work();
        }
    } catch (const DatabaseFailure& failed) {
        return failure(failed.error.kind, failed.error.what, path);
    }
}

/// Runs one statement of the user's, which may only read. Throws DatabaseFailure.
QueryTable runQuery(sqlite3* db, const std::string& sql, const CancelToken& cancel);

} // namespace nanscope::session
