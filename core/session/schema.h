// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

struct sqlite3;

namespace nanscope {

/// SQLite's application_id of a session: the letters "NanS".
constexpr std::int32_t sessionApplicationId = 0x4E616E53;

/// The first version with deep gauges.
constexpr std::int64_t deepGaugesVersion = 2;

/// Applies the migrations a file still lacks, in one transaction. Throws DatabaseFailure.
void migrate(sqlite3* db);

/// Throws unless the file holds exactly the tables and indexes this program makes for its version: no trigger, view or
/// other object of a stranger is ever reached.
void requireOwnSchema(sqlite3* db);

} // namespace nanscope
