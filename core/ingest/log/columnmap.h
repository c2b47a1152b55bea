// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the user says the columns of logs hold: headings of tables, keys of JSONL and key=value lines, TensorBoard's
// tags. Their word goes before every name that is known here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace nanscope::ingest {

struct MappedColumn
{
    std::string name; ///< "step", "rank", or what the series is called
    std::string column; ///< as the log has it
    bool here = false; ///< the first lines of the file that is read have it
};

struct ColumnMap
{
    std::vector<MappedColumn> entries;

    bool empty() const { return entries.empty(); }
    /// Empty where the map does not say.
    std::string_view columnOf(std::string_view name) const;
    std::string_view nameOf(std::string_view column) const;
    /// The same, but not for steps and ranks, which are no series.
    std::string_view seriesOf(std::string_view column) const;
    /// True where the file at hand has the column for it: whatever else goes by this name there is something else.
    bool claims(std::string_view name) const;
};

/// From words like "loss=train/total_loss". A known alias of a name stands for the name.
Result<ColumnMap> parseColumnMap(const std::vector<std::string>& words);

/// One NAME=COLUMN a line, as sessions keep it.
std::string textOf(const ColumnMap& columns);
Result<ColumnMap> columnMapFromText(std::string_view text);

/// What a column can be called.
const std::vector<std::string_view>& mappableNames();

} // namespace nanscope::ingest
