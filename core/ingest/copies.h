// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/run.h"

namespace nanscope::ingest {

/// Counts lines that say what an event before them says already: a check on a GPU fails in every thread at once, and a
/// library may complain ten thousand times.
class Copies
{
public:
    /// True if `event` is a copy of one of `events`, which then counts it. Never of one from before the row of metrics
    /// that was begun last: between two rows it was another step.
    bool count(const Event& event, std::int64_t rows, std::vector<Event>& events);

    /// What follows are copies of nothing.
    void forget() { m_known.clear(); }

private:
    std::unordered_map<std::size_t, std::size_t> m_known; ///< place in `events` by hash
    std::int64_t m_rows = 0;
};

/// Without the digits of "[33,0,0]" and the like. "[Rank 3]" and "[0]" keep theirs, they tell who it was.
std::string withoutTuples(std::string_view text);

} // namespace nanscope::ingest
