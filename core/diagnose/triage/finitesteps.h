// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/run.h"

namespace nanscope::diagnose {

/// Up to which step the logged losses and gradient norms of a rank are finite: what went bad long before has not
/// reached them. Refers to the run, which has to outlive it.
class FiniteSteps
{
public:
    explicit FiniteSteps(const RunData& run);

    /// The last logged step, `step` at most, at which every series of the rank, or of none, has a finite value; none
    /// where nothing tells, or a log goes back in its steps.
    std::optional<std::int64_t> lastUpTo(std::int64_t step, const std::optional<int>& rank) const;

private:
    struct Line
    {
        const Series* series = nullptr;
        std::vector<std::int64_t> lastOfStretch; ///< of finite points in a row, by their index
    };

    static bool isOfOther(const Line& line, const std::optional<int>& rank);
    /// The last step up to this one at which any series of the rank has a value.
    std::int64_t latestUpTo(std::int64_t step, const std::optional<int>& rank) const;
    static std::optional<std::int64_t> lastOf(const Line& line, std::int64_t step);

    std::vector<Line> m_lines;
};

} // namespace nanscope::diagnose
