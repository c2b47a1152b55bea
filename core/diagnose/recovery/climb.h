// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "core/model/model.h"

namespace nanscope::diagnose {

/// The first point of the climb that the last finite points before a step are part of: at least twice the mean of the
/// hundred points before it (llm-foundry's rule for loss spikes, factor 2 over 100). What lasts longer than a hundred
/// points is a level, not a climb.
class ClimbSearch
{
public:
    explicit ClimbSearch(std::int64_t step)
        : m_step(step)
    { }

    void look(const Point& point);
    bool looked() const { return m_looked; }
    const Point* start() const { return m_start; } ///< null where there is none

private:
    std::int64_t m_step;
    std::deque<double> m_window;
    double m_sum = 0;
    double m_level = 0; ///< the mean before the climb
    std::size_t m_length = 0;
    const Point* m_start = nullptr;
    bool m_looked = false;
};

} // namespace nanscope::diagnose
