// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What W&B keeps of a run on disk: every row that was logged, the configuration, the console. A record's place in the
// file stands for its line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "core/ingest/log/columnmap.h"
#include "core/ingest/log/logsource.h"

namespace nanscope::ingest {

/// "run-<id>.wandb": what W&B keeps of a run on disk.
bool isWandbName(const std::string& name);

/// The console that W&B keeps beside its file, which it repeats.
std::filesystem::path wandbConsoleBeside(const std::filesystem::path& path);

Result<std::unique_ptr<LogSource>> openWandb(
    const std::filesystem::path& path, const std::string& relative, std::int64_t offset, const ColumnMap& columns);

} // namespace nanscope::ingest
