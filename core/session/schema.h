// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

struct sqlite3;

namespace nanscope::session {

/// SQLite's application_id of a session: the letters "NanS".
constexpr std::int32_t sessionApplicationId = 0x4E616E53;

/// The first version in which no two captures have one name, and with the user's own variants.
constexpr std::int64_t ownNamesVersion = 5;

/// The version since which all that is known of the lines of events is kept. With a new phrase or fact it is the next
/// one, if need be by a migration of nothing: so the lines that older sessions hold are read again. Not so where no
/// older version kept a line that has it.
constexpr std::int64_t eventFactsVersion = 13;

/// Applies the migrations a file still lacks, in one transaction, in which `complete` does what is more than SQL for a
/// session that had an older version. Throws DatabaseFailure.
void migrate(sqlite3* db, const std::function<void(std::int64_t version)>& complete);

/// Throws unless the file holds exactly the tables and indexes this program makes for its version: no trigger, view or
/// other object of a stranger is ever reached.
void requireOwnSchema(sqlite3* db);

} // namespace nanscope::session
