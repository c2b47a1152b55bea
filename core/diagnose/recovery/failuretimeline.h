// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/diagnose/recovery/trainingprocess.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// All processes whose logs are there, and the one that the run ended with.
struct Trouble
{
    std::vector<ProcessLife> lives;
    const ProcessLife* life = nullptr; ///< in trouble, and no other went on past it; into `lives`

    bool none() const { return life == nullptr; }
};

/// Points into `run`, which has to outlive it.
Trouble troubleOf(const RunData& run, const std::vector<CaptureVerdict>& verdicts);
Trouble troubleOf(const RunData&& run, const std::vector<CaptureVerdict>& verdicts) = delete;

/// What happened first, in one phrase: "loss is NaN at step 21, and no number after it".
std::string troubleText(const RunData& run, const Trouble& trouble);

} // namespace nanscope::diagnose
