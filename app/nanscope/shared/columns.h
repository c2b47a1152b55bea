// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// --map NAME=COLUMN: which column of a log is the loss, the step and so on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/nanscope/shared/options.h"
#include "app/nanscope/shared/terminal.h"
#include "core/ingest/ingest.h"

namespace nanscope {

using ColumnWords = std::vector<std::string>;

void addColumnOption(Options& options, ColumnWords& words);

/// As given on the command line; none where nothing was.
Result<std::optional<ingest::ColumnMap>> parseColumns(const ColumnWords& words);

/// Fails with the nearest names if the map names a column that no log under `paths` has.
Result<void> requireColumns(
    const std::vector<std::filesystem::path>& paths, const ingest::ColumnMap& columns, Terminal& terminal);

/// parseColumns(), then requireColumns() for paths that are no session, which has been read already.
Result<std::optional<ingest::ColumnMap>> columnsFor(
    const std::vector<std::filesystem::path>& paths, const ColumnWords& words, Terminal& terminal);

/// "loss is total, step is iter".
std::string columnsText(const ingest::ColumnMap& columns);

/// Where values were read and none is the loss: what to say to make one it. Empty where there is nothing to say.
std::string lossHint(const RunData& run, const std::string& path);

} // namespace nanscope
