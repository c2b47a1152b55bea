// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/ingest/log/columnmap.h"
#include "core/ingest/log/logsource.h"

namespace nanscope::ingest {

/// More than this is read behind all other logs of a run, which may be worth more and cost less.
constexpr std::int64_t muchText = std::int64_t {256} << 20;

/// Text, TensorBoard's event file, what W&B keeps of a run, or the folder of metrics of a run of MLflow. `stored` is
/// what an earlier import took of this log before `offset`, which is behind line (or record) `firstLine`, read with the
/// same columns.
Result<std::unique_ptr<LogSource>> openLog(const std::filesystem::path& path, const std::string& relative,
    std::int64_t offset = 0, std::int64_t firstLine = 0, const std::vector<Series>& stored = {},
    const ColumnMap& columns = {});

} // namespace nanscope::ingest
