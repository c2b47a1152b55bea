// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What the capture helper writes once per process of a run: what is installed, on which GPU, and how it was launched.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/ingest/log/logsource.h"

namespace nanscope::ingest {

/// nanscope_run_rank{r}_pid{p}_{ms}.json
bool hasRunRecordName(const std::string& relative);

/// Its values as settings of the rank that it names. Refused with one sentence where it is cut off, of another version
/// or larger than any helper writes it.
Result<std::unique_ptr<LogSource>> openRunRecord(const std::filesystem::path& path, const std::string& relative);

} // namespace nanscope::ingest
