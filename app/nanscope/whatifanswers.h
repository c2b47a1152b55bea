// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "core/diagnose/whatif/detectorreplay.h"
#include "core/diagnose/whatif/guardwhatif.h"

namespace nanscope {

/// What `nanscope whatif` answers on a terminal: the sentences of core/diagnose/detectorwords.h and guardwords.h.
std::string detectorText(std::span<const diagnose::DetectorReplay> replays, const diagnose::DetectorQuestion& question);
std::string guardText(const diagnose::GuardWhatIf& whatIf);

} // namespace nanscope
