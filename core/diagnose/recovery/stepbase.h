// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/diagnose/recovery/losshistory.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// The setting in which the reader of a log says what it knows of its trainer (core/ingest/log/logformat.h).
constexpr std::string_view stepBaseName = "log.step_base";

/// The loss printed as step s is that of W(s - base), W(n) being what checkpoint n holds. Steps as a detector counts
/// them are those of the weights; else the trainer's source, a resume or the first step of the log tells.
/// `losses` are those of its first lane.
std::int64_t stepBaseOf(const RunData& run, const LossLane& lane, const std::vector<const Series*>& losses);

} // namespace nanscope::diagnose
