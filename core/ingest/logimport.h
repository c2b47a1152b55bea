// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "core/ingest/ingest.h"
#include "core/session/session.h"

namespace nanscope {

/// Stores what a log holds beyond what the session already took of it, piece by piece; a log that was cut off,
/// replaced or read with other columns since is forgotten and read anew. `advance` hears the place in the file. True
/// where the session has series of it now.
Result<bool> importLog(const FoundFile& file, Session& session, const std::vector<Series>& stored,
    const ColumnMap& columns, const std::function<void(std::int64_t)>& advance, const CancelToken& cancel);

} // namespace nanscope
