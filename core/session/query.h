// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"

struct sqlite3;

namespace nanscope::session {

/// The answer to a query: each row as text columns, NULL as std::nullopt.
struct QueryTable
{
    std::vector<std::string> columns;
    std::vector<std::vector<std::optional<std::string>>> rows;
};

/// Runs one statement of the user's, which may only read. Throws DatabaseFailure.
QueryTable runQuery(sqlite3* db, const std::string& sql, const CancelToken& cancel);

} // namespace nanscope::session
