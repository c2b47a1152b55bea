// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Cells of a sweep and their gauges in the session's database. Storing opens a transaction of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/session/database.h"

namespace nanscope::session {

/// As Session::addCell(), addDeepGauges(), cells(), findCell() and opTraces().
void storeCell(sqlite3* db, Cell& cell);
std::optional<Cell> storeDeepGauges(sqlite3* db, const Cell& cell);
std::vector<Cell> readCells(sqlite3* db);
std::optional<std::int64_t> findCell(sqlite3* db, const Cell& cell);
std::vector<OpTrace> readOpTraces(sqlite3* db, std::int64_t cellId);

/// Drops those with this value in a column of theirs, with all that belongs to them, in a transaction of the caller's;
/// returns how many they were.
std::int64_t deleteCellsWhere(sqlite3* db, const char* column, const std::string& value);

/// The columns that every row of a scan shares, of captures and of op traces, from `column` on.
Scan readScan(const Statement& row, int column);

} // namespace nanscope::session
