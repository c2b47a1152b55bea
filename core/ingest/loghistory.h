// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What an import needs to know of earlier ones so that nothing is lost and nothing is read twice: whether a file still
// begins with what was taken of it, which log a renamed file is, and what of a log that was begun anew is told again.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/ingest/ingest.h"
#include "core/session/session.h"

namespace nanscope::platform {
class FileReader;
} // namespace nanscope::platform

namespace nanscope::ingest {

/// The end of a mark's identity for logs that are read with columns of the user's.
std::string readWith(const ColumnMap& columns);

/// Only what was taken is hashed: the rest may still be written.
session::LogMark markAt(const platform::FileReader& reader, std::int64_t offset, const ColumnMap& columns);

/// The same bytes, up to the same place. Neither device and inode, which a copy or a mounted disk changes and a new
/// file may inherit, nor the columns they were read with tell contents apart.
bool sameContents(const session::LogMark& a, const session::LogMark& b);
bool sameColumns(const session::LogMark& mark, const ColumnMap& columns);

/// A file begins with what was taken of a log, as it is or unpacked.
bool stillHolds(const FoundFile& file, const session::LogMark& mark);

struct FollowedLogs
{
    std::set<std::string> held; ///< sources whose files hold what was taken of them
    bool moved = false; ///< some have other names now
};

/// Lets logs whose files were renamed or copied away since the last import follow their contents, as a rotation of logs
/// does.
Result<FollowedLogs> followRenamed(const FoundFiles& found, session::Session& session, const CancelToken& cancel);

/// After an import: drops replaced logs whose every record their successor has as well, and notes which others are new.
/// What a cancel leaves is settled after the next import.
Result<void> settleReplaced(session::Session& session, RunData& now, const CancelToken& cancel);

} // namespace nanscope::ingest
