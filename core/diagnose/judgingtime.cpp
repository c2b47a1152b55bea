// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/judgingtime.h"

#include <algorithm>

#include <fmt/format.h>

namespace nanscope::diagnose {

JudgingTime::JudgingTime(const JobContext& job, std::optional<std::chrono::duration<double>> limit)
    : m_outer(job.cancel)
    , m_judging(job)
    , m_limit(limit)
{
    if (!m_limit) {
        return;
    }
    // A token of its own: what comes after the judging still listens to the job's.
    m_judging.cancel = CancelToken();
    // What the clock cannot count to is no limit.
    constexpr std::chrono::duration<double> longest = std::chrono::years(30);
    m_end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::min(*m_limit, longest));
    m_watch = std::jthread([this](const std::stop_token& stop) {
        constexpr auto between = std::chrono::milliseconds(20);
        while (!stop.stop_requested() && !m_judging.cancel.cancelled()) {
            if (expired() || m_outer.cancelled()) {
                m_judging.cancel.cancel();
            }
            std::this_thread::sleep_for(between);
        }
    });
}

std::optional<std::string> JudgingTime::stopped() const
{
    if (m_outer.cancelled()) {
        return "cancelled";
    }
    return expired() ? std::optional(fmt::format("the time limit of {:g} s", m_limit->count())) : std::nullopt;
}

} // namespace nanscope::diagnose
