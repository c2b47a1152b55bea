// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "ui/jobs/runloader.h"

namespace nanscope {

/// The report of a run as text, read afresh from its session.
Result<std::string> reportText(const LoadedRun& run, bool json);

/// Writes it beside its final name and renames.
Result<void> writeReport(const LoadedRun& run, const std::filesystem::path& path);

} // namespace nanscope
