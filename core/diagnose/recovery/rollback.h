// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

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

/// "Can I go on tonight?" where adviseRollback() has no answer, as nothing that is logged stayed bad: what the captures
/// that began a fault ask for all the same. Empty where there are none.
std::string goOnTonight(const RunData& run, const std::vector<CaptureVerdict>& verdicts);

/// The advice once more, where verdicts were weighed again: by what the owner of the run ticked or saw. `run` with its
/// points. A run that was not advised on yet stays so.
void adviseAgain(Diagnosis& diagnosis, const RunData& run, ResumePaths paths = ResumePaths::inRun);

} // namespace nanscope::diagnose
