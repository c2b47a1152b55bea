// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/decomposing.h"

#include <chrono>
#include <cstdint>
#include <utility>

namespace nanscope::replay {

namespace {

/// Each whole number of percent once. A share that falls begins another decomposition.
class Teller
{
public:
    Teller(const JobContext& job, std::string name, std::string what)
        : m_tell(job.progress)
        , m_progress {std::move(name), "decomposing", 0, whole, "percent", std::move(what)}
    { }

    void tell(double share)
    {
        const auto percent = static_cast<std::int64_t>(share * whole);
        if (percent < m_progress.done) {
            m_begun = Clock::now();
            m_progress.done = 0;
        }
        if (percent > m_progress.done && Clock::now() - m_begun >= worthAWord) {
            m_progress.done = percent;
            m_tell(m_progress);
        }
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::int64_t whole = 100;
    static constexpr std::chrono::seconds worthAWord {1};

    std::function<void(const Progress&)> m_tell;
    Progress m_progress;
    Clock::time_point m_begun = Clock::now();
};

} // namespace

ShareDone decomposing(const JobContext& job, std::string name, std::string what)
{
    return [teller = Teller(job, std::move(name), std::move(what))](double share) mutable { teller.tell(share); };
}

} // namespace nanscope::replay
