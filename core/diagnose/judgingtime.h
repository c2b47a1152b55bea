// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "core/base/job.h"

namespace nanscope::diagnose {

/// How long captures are judged: until the job is cancelled, or the time is up. What follows the judging is not part of
/// it.
class JudgingTime
{
public:
    /// Without a limit only the job ends it.
    JudgingTime(const JobContext& job, std::optional<std::chrono::duration<double>> limit);

    /// The job to judge under.
    const JobContext& job() const { return m_judging; }

    /// Why the judging ended early: "cancelled", "the time limit of 60 s"; nothing while it may go on.
    std::optional<std::string> stopped() const;

private:
    using Clock = std::chrono::steady_clock;

    bool expired() const { return m_limit && Clock::now() >= m_end; }

    CancelToken m_outer;
    JobContext m_judging;
    std::optional<std::chrono::duration<double>> m_limit;
    Clock::time_point m_end;
    std::jthread m_watch; ///< last: it uses the others
};

} // namespace nanscope::diagnose
