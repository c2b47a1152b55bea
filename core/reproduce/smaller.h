// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/reproduce/expectation.h"

namespace nanscope::reproduce {

/// A capture that was made smaller, and how.
struct Smaller
{
    ReducedCapture capture; ///< with what stands for the dump in `shown`
    Shape before;
    std::int64_t nonZero = 0; ///< elements that are left
    std::int64_t calls = 0; ///< candidates that were replayed
    bool exhausted = false; ///< no more calls were allowed: less may do
    std::string kept; ///< what of the shape had to stay: "more columns than rows, both sides multiples of 8"
    std::string leading; ///< the variant and format that ends like the dump
    std::size_t others = 0; ///< replays that had to end as they do on the whole
};

/// The smallest part found on which every variant that may have run ends as on the whole, one of them like the dump. A
/// refusal says in its own words why the whole is kept.
Result<Smaller> smallerCapture(
    const ReducedCapture& whole, const std::vector<ExpectedNumbers>& numbers, const JobContext& job);

} // namespace nanscope::reproduce
