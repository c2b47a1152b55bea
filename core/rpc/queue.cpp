// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/queue.h"

#include <algorithm>
#include <chrono>

namespace nanscope::rpc {

bool ServiceQueue::add(std::shared_ptr<ServiceJob> job)
{
    const std::lock_guard lock(m_mutex);
    const auto repeats = [&](const auto& each) { return each->id == job->id; };
    if (m_ended || m_jobs.size() >= maxWaiting || std::any_of(m_jobs.begin(), m_jobs.end(), repeats)) {
        return false;
    }
    auto place = m_jobs.end();
    if (!job->isSweep()) {
        place = std::find_if(
            m_jobs.begin() + (m_running ? 1 : 0), m_jobs.end(), [](const auto& each) { return each->isSweep(); });
    }
    m_jobs.insert(place, std::move(job));
    m_wake.notify_one();
    return true;
}

bool ServiceQueue::cancel(const nlohmann::ordered_json& id)
{
    const std::lock_guard lock(m_mutex);
    const auto found = std::find_if(m_jobs.begin(), m_jobs.end(), [&](const auto& job) { return job->id == id; });
    if (found == m_jobs.end()) {
        return false;
    }
    (*found)->cancel.cancel();
    return true;
}

std::shared_ptr<ServiceJob> ServiceQueue::begin(const std::function<bool()>& tidy)
{
    using namespace std::chrono_literals;
    std::unique_lock lock(m_mutex);
    for (bool untidy = tidy(); !m_ended && m_jobs.empty(); untidy = untidy && tidy()) {
        if (untidy) {
            m_wake.wait_for(lock, 200ms);
        } else {
            m_wake.wait(lock);
        }
    }
    m_running = !m_jobs.empty();
    return m_running ? m_jobs.front() : nullptr;
}

void ServiceQueue::finish()
{
    const std::lock_guard lock(m_mutex);
    m_jobs.pop_front();
    m_running = false;
}

void ServiceQueue::end()
{
    const std::lock_guard lock(m_mutex);
    m_ended = true;
    for (auto& job : m_jobs) {
        job->cancel.cancel();
    }
    m_wake.notify_one();
}

} // namespace nanscope::rpc
