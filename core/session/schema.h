// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

struct sqlite3;

namespace nanscope::session {

/// SQLite's application_id of a session: the letters "NanS".
constexpr std::int32_t sessionApplicationId = 0x4E616E53;

/// The first version with deep gauges.
constexpr std::int64_t deepGaugesVersion = 2;

/// The first version in which no two captures have one name, and with the user's own variants.
constexpr std::int64_t ownNamesVersion = 5;

/// The first version that keeps logs which were begun anew.
constexpr std::int64_t replacedLogsVersion = 6;

/// The version since which all that is known of the lines of events is kept. With a new phrase or fact it is the next
/// one, if need be by a migration of nothing: so the lines that older sessions hold are read again. Not so where no
/// older version kept a line that has it.
constexpr std::int64_t eventFactsVersion = 13;

/// The first version that keeps what found checkpoints hold.
constexpr std::int64_t checkpointContentsVersion = 10;

/// The first version that keeps how many steps a cell has.
constexpr std::int64_t cellStepsVersion = 11;

/// The first version that keeps of a scene more than its calls: see Scene.
constexpr std::int64_t wholeScenesVersion = 14;

/// The first version that keeps ParameterState.
constexpr std::int64_t parametersVersion = 15;

/// The first version that keeps ParameterCoverage.
constexpr std::int64_t coverageVersion = 16;

/// From this one on it is kept which optimizer's step a call belongs to, and what its helper did not write.
constexpr std::int64_t unwrittenVersion = 17;

/// Applies the migrations a file still lacks, in one transaction, in which `complete` does what is more than SQL for a
/// session that had an older version. Throws DatabaseFailure.
void migrate(sqlite3* db, const std::function<void(std::int64_t version)>& complete);

/// Throws unless the file holds exactly the tables and indexes this program makes for its version: no trigger, view or
/// other object of a stranger is ever reached.
void requireOwnSchema(sqlite3* db);

} // namespace nanscope::session
