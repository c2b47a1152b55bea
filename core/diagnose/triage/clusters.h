// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// Births that one cause can have brought about: alike in shape, pattern and verdict, and near each other, which means
/// of one process and at most a thousand updates after the one before, or of other ranks and at most two updates apart.
/// Births of different attempts of a run are of different causes, and so are those of ranks of which it is not known
/// whether they were of one attempt; the text says which. Empty where there are fewer than two births. Steps of ranks
/// are compared, clocks never.
std::vector<Cluster> clustersOf(const RunData& run, std::span<const CaptureVerdict> verdicts);

} // namespace nanscope::diagnose
