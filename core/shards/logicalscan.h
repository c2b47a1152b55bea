// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/shards/partial.h"
#include "core/shards/shardcells.h"
#include "core/shards/shards.h"

namespace nanscope::shards {

/// Gathers the scan of a logical tensor from its complete cells, in any order.
class LogicalScan
{
public:
    LogicalScan(const tensorfile::Sharding& sharding, DType dtype, std::string operation, std::int64_t parts);

    Result<void> add(std::span<const Shard> shards, const ShardCell& cell, const JobContext& job);
    void finish(Stitched& tensor) const;

private:
    Result<void> reduce(const std::vector<tensorfile::Tensor>& parts, const HeldPart& held, const JobContext& job);
    void count(ReducedTotals& totals, const std::vector<double>& values, const ReducedBlock& reduced,
        const Block& block, const HeldPart& held) const;
    std::int64_t logicalIndex(const HeldPart& held, const Block& block, std::int64_t at) const;

    const tensorfile::Sharding& m_sharding;
    DType m_dtype;
    std::string m_operation;
    std::int64_t m_parts;
    std::int64_t m_known = 0;
    ReducedTotals m_own;
    ReducedTotals m_wide;
    std::int64_t m_wideOverflowed = 0;
};

} // namespace nanscope::shards
