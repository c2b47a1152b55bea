// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/rules.h"
#include "core/model/model.h"

namespace nanscope {

/// Writes the lines that speak for and against the verdict, and what a capture can never show.
void argue(CaptureVerdict& verdict, const Case& c, const RunData& run);

/// Experiments to copy, the most informative first.
std::vector<std::string> nextExperiments(const CaptureVerdict& verdict);

} // namespace nanscope
