// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace nanscope::probe {

/// The smallest and the largest of what the ranks passed.
struct StepRange
{
    std::int64_t first = 0;
    std::int64_t last = 0;
};

/// The ranks with which a guard or a detector agrees: all that hold a replica or a shard of what is updated, which can
/// be more than Newton-Schulz works with. Every function is a collective: all ranks call the same ones in the same
/// order, and each waits for the others. An answer is the same on every rank. A failure says which rank is missing as
/// far as that is known; nothing is agreed then, and the ranks are of no use to each other any more. One thread.
class RankGroup
{
public:
    virtual ~RankGroup() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;

    virtual Result<std::uint8_t> maximum(std::uint8_t mine) = 0;
    virtual Result<float> sum(float mine) = 0;
    virtual Result<StepRange> range(std::int64_t mine) = 0;
};

/// A training of one process: agrees with itself.
class LoneRank final : public RankGroup
{
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    Result<std::uint8_t> maximum(std::uint8_t mine) override { return mine; }
    Result<float> sum(float mine) override { return mine; }
    Result<StepRange> range(std::int64_t mine) override { return StepRange {mine, mine}; }
};

} // namespace nanscope::probe
