// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/shards/shardlayout.h"
#include "core/shards/shards.h"

namespace nanscope::shards {

/// Where two dumps of the same region differ; `a` and `b` of the result are left at 0.
Result<Drift> compareShards(const tensorfile::Tensor& a, const tensorfile::Tensor& b, const HeldPart& held,
    const Shape& logical, const JobContext& job);

} // namespace nanscope::shards
