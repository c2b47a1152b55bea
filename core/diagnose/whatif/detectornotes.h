// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/recovery/trail.h"
#include "core/diagnose/whatif/detectorreplay.h"

namespace nanscope::diagnose {

/// What the replay of this trail rests on and what its log cannot show, most important first.
std::vector<EvidenceLine> detectorNotes(const Trail& trail, const DetectorReplay& replay);

/// Where a capture that the same log names shows that the weights went bad before a loss could: no detector of losses
/// is early enough then.
std::optional<EvidenceLine> tooLate(
    const RunData& run, const std::vector<CaptureVerdict>& captures, const DetectorReplay& replay);

/// Where gradients are to be checked and none of its logs has their norm.
std::optional<EvidenceLine> noGradients(const RunData& run, const DetectorReplay& replay);

} // namespace nanscope::diagnose
