// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/diagnose/recovery/failuretimeline.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// "Can I go on tonight?" in one line: the setting, the checkpoint, the cost.
std::string tonightLine(
    const RunData& run, const std::vector<CaptureVerdict>& verdicts, const Rollback& rollback, const Trouble& trouble);

} // namespace nanscope::diagnose
