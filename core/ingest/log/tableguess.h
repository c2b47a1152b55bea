// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the first lines of a log look like to somebody who knows none of its names: columns of numbers, and which of
// them may be the step and the loss.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ingest/log/columnmap.h"

namespace nanscope::ingest {

struct GuessedColumn
{
    std::string name;
    std::vector<double> values; ///< of the lines that have a number there
};

struct TableGuess
{
    std::vector<GuessedColumn> columns; ///< in their order
    std::size_t rows = 0;
};

/// Lines of objects, of fields under a heading, or of key=value pairs; nothing where it is none of these.
std::optional<TableGuess> guessTable(std::span<const std::string_view> lines);

struct ColumnAdvice
{
    std::string text; ///< why nothing was read from such a table, and the --map to try
    bool likely = false; ///< it looks like a log, not like any table
};

/// For a table that gave nothing when it was read with `columns`.
std::optional<ColumnAdvice> adviseColumns(const TableGuess& table, const ColumnMap& columns);

} // namespace nanscope::ingest
