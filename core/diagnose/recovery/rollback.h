// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/diagnose/recovery/failuretimeline.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// How the line that resumes a run names a checkpoint of its folder: a report says no more of where that lies than it
/// has to, and what is to be copied works wherever it is pasted.
enum class ResumePaths { inRun, absolute };

/// Which checkpoint to go back to: for each one that the folder or a log shows, what speaks for and against it. None
/// where the run was not in trouble. Reads the verdicts: a fault of the kernel or the machine spares the newest clean
/// one, anything else may be in the weights already.
std::optional<Rollback> adviseRollback(
    const RunData& run, const std::vector<CaptureVerdict>& verdicts, ResumePaths paths = ResumePaths::inRun);

/// The same once more, where verdicts were weighed again: by what the owner of the run ticked or saw. `run` with its
/// points. A run that was not advised on yet stays so.
void adviseAgain(Diagnosis& diagnosis, const RunData& run, ResumePaths paths = ResumePaths::inRun);

} // namespace nanscope::diagnose
