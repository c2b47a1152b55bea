// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "gpu/patientthread.h"

#include <algorithm>

namespace nanscope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds aMoment {2};

} // namespace

PatientThread::PatientThread(const CancelToken& cancel)
    : m_shared(std::make_shared<Shared>())
    , m_cancel(cancel)
    , m_thread([shared = m_shared] { work(*shared); })
{ }

PatientThread::~PatientThread()
{
    stop();
    m_abandoned ? m_thread.detach() : m_thread.join();
}

void PatientThread::work(Shared& shared)
{
    std::unique_lock lock(shared.mutex);
    while (true) {
        shared.wake.wait(lock, [&] { return shared.over || !shared.tasks.empty(); });
        if (shared.over) {
            return;
        }
        const auto task = std::move(shared.tasks.front());
        shared.tasks.pop();
        lock.unlock();
        task();
        lock.lock();
    }
}

bool PatientThread::give(std::function<void()> task)
{
    {
        const std::lock_guard lock(m_shared->mutex);
        if (m_shared->over) {
            return false;
        }
        m_shared->tasks.push(std::move(task));
    }
    m_shared->wake.notify_one();
    return true;
}

bool PatientThread::waited(const std::function<bool()>& ready, std::chrono::milliseconds patience)
{
    auto until = Clock::now() + patience;
    while (!ready()) {
        if (m_cancel.cancelled()) {
            until = std::min(until, Clock::now() + aMoment);
        }
        if (Clock::now() >= until) {
            m_abandoned = true;
            stop();
            return false;
        }
    }
    return true;
}

void PatientThread::stop()
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->over = true;
    }
    m_shared->wake.notify_one();
}

} // namespace nanscope
