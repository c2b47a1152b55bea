// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/job.h"
#include "core/base/result.h"
#include "core/model/model.h"
#include "core/model/verdict.h"
#include "core/session/session.h"

namespace nanscope::workflow {

/// Reads checkpoints of the run's folder until the one that is recommended to go back to is known to be finite and no
/// newer one may be: newest first, and none that the log rules out. `run`, with its points, is given what they hold,
/// and `session`, if there is one, keeps it. What was read whole before and has not changed since is not read again.
/// Reads nothing where the run was in no trouble.
///
/// Returns how many were read. What cannot be read costs only itself and is said with the contents.
Result<std::int64_t> verifyCheckpoints(
    RunData& run, const std::vector<CaptureVerdict>& verdicts, session::Session* session, const JobContext& job);

/// Takes from found checkpoints what they held when they were read, where their files are others by now.
void forgetRewrittenCheckpoints(RunData& run);

} // namespace nanscope::workflow
