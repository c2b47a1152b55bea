// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/diagnose/trouble.h"
#include "core/model/model.h"

namespace nanscope {

/// Which checkpoint to go back to: for each one that the folder or a log shows, what speaks for and against it. None
/// where the run was not in trouble. Reads the verdicts: a fault of the kernel or the machine spares the newest clean
/// one, anything else may be in the weights already.
std::optional<Rollback> adviseRollback(const RunData& run, const std::vector<CaptureVerdict>& verdicts);

} // namespace nanscope
