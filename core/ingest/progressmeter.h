// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "core/base/job.h"

namespace nanscope::ingest {

/// Reports one phase of an import at most every 50 ms, so that a million small files cost no million reports.
class ProgressMeter
{
public:
    ProgressMeter(const JobContext& job, std::string phase, std::string unit)
        : m_job(job)
        , m_report {"import", std::move(phase), 0, 0, std::move(unit), {}}
    { }

    bool cancelled() const { return m_job.cancel.cancelled(); }

    void advance(std::int64_t done, std::int64_t total, const std::string& message = {})
    {
        const auto now = std::chrono::steady_clock::now();
        if (now - m_last < std::chrono::milliseconds(50) && (total == 0 || done < total)) {
            return;
        }
        m_last = now;
        m_report.done = done;
        m_report.total = total;
        m_report.message = message;
        m_job.progress(m_report);
    }

private:
    const JobContext& m_job;
    Progress m_report;
    std::chrono::steady_clock::time_point m_last {};
};

} // namespace nanscope::ingest
