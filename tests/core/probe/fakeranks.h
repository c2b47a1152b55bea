// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "core/probe/rankgroup.h"

namespace nanscope::test {

/// One rank's view of a group of two: the other rank passes what the test says, and both may fail.
class FakeRanks final : public probe::RankGroup
{
public:
    explicit FakeRanks(int rank = 0)
        : m_rank(rank)
    { }

    int rank() const override { return m_rank; }
    int size() const override { return 2; }

    Result<std::uint8_t> maximum(std::uint8_t mine) override
    {
        return answer(std::max<std::uint8_t>(mine, otherIsBad ? 1 : 0));
    }
    Result<float> sum(float mine) override { return answer(mine + (otherIsBad ? 1.0F : 0.0F)); }
    Result<probe::StepRange> range(std::int64_t mine) override
    {
        const auto other = otherStep.value_or(mine);
        return answer(probe::StepRange {std::min(mine, other), std::max(mine, other)});
    }

    bool otherIsBad = false;
    std::optional<std::int64_t> otherStep;
    std::optional<Error> broken;
    int exchanges = 0;

private:
    template <class T>
    Result<T> answer(T value)
    {
        ++exchanges;
        return broken ? Result<T>(tl::make_unexpected(*broken)) : Result<T>(value);
    }

    int m_rank;
};

} // namespace nanscope::test
