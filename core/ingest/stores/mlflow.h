// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A run in MLflow's file store is a folder with a file for every metric, parameter and tag. Its folder "metrics" stands
// for the log, so that what one process wrote is one log.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/ingest/log/logsource.h"

namespace nanscope::ingest {

/// The folder "metrics" of a run: the run's meta.yaml lies beside it.
bool isMlflowMetrics(const std::filesystem::path& folder);

/// A folder beside it that is read with it, "params" for example, or that holds nothing of use.
bool isReadWithMlflow(const std::filesystem::path& folder);

/// What tells one state of the run's files from another.
struct MlflowState
{
    std::int64_t bytes = 0;
    std::string identity;
    bool atRest = false; ///< nobody has written to it for a while
};
MlflowState mlflowState(const std::filesystem::path& metrics);

Result<std::unique_ptr<LogSource>> openMlflow(
    const std::filesystem::path& metrics, const std::string& relative, const ColumnMap& columns);

} // namespace nanscope::ingest
