// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "core/model/model.h"

namespace nanscope {

/// Births that one cause can have brought about: alike in shape, pattern and verdict, and near each other, which means
/// on one rank, or at most two updates apart. Empty where there are fewer than two births. Steps of ranks are compared,
/// clocks never.
std::vector<Cluster> clustersOf(const RunData& run, std::span<const CaptureVerdict> verdicts);

} // namespace nanscope
