// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nanscope::ingest {

/// "loss" for "train/loss" and the like; any other name is returned as it is.
std::string canonicalName(std::string_view raw);

/// True for the names design section 9 fixes: loss val_loss grad_norm lr loss_scale tokens_per_second step_time_s.
bool isCanonical(std::string_view name);

/// Which of several step-like columns to believe: 1 is best, none for a name that is no step.
std::optional<int> stepPriority(std::string_view raw);

bool isRankName(std::string_view raw);

} // namespace nanscope::ingest
