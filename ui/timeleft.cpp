// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeleft.h"

#include <utility>

#include "core/base/job.h"

namespace nanscope {

std::optional<double> TimeLeft::after(const Progress& progress, std::int64_t nowMs)
{
    constexpr std::int64_t tooEarlyMs = 1000;
    std::string phase = progress.job + '\n' + progress.phase;
    // Fewer done than before: the same job again.
    if (phase != m_phase || progress.done < m_lastDone) {
        m_phase = std::move(phase);
        m_startMs = nowMs;
        m_startDone = progress.done;
    }
    m_lastDone = progress.done;
    const std::int64_t spent = nowMs - m_startMs;
    const std::int64_t done = progress.done - m_startDone;
    if (spent < tooEarlyMs || done <= 0 || progress.total < progress.done) {
        return std::nullopt;
    }
    const double perUnit = static_cast<double>(spent) / static_cast<double>(done);
    return perUnit * static_cast<double>(progress.total - progress.done) / 1000;
}

} // namespace nanscope
