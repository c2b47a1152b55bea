// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/rules.h"
#include "core/model/model.h"

namespace nanscope {

/// What grad_norm and loss_scale have to say about a capture, whatever the verdict will be.
std::vector<LogTrend> logLinesOf(const RunData& run, const CaptureVerdict& verdict);

/// Writes the lines that speak for and against the verdict, and what a capture can never show.
void argue(CaptureVerdict& verdict, const Case& c, const std::vector<LogTrend>& logs);

/// Which ranks wrote logs and no dump, and why that says nothing; empty where there are none.
std::string silentRanks(const RunData& run);

} // namespace nanscope
