// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <utility>

#include "core/base/job.h"

namespace nanscope {

/// Does one thing after the other on a thread of its own, for calls that nothing can interrupt: a caller waits as long
/// as it wants to. A thread that was waited for in vain is left to itself, and does nothing else any more.
class PatientThread
{
public:
    /// Once cancelled, a caller waits no longer than a moment.
    explicit PatientThread(const CancelToken& cancel);
    ~PatientThread();
    PatientThread(const PatientThread&) = delete;
    PatientThread& operator=(const PatientThread&) = delete;

    /// None where it is not done in time, or something before it was not. Rethrows what the work throws. From any
    /// thread.
    template <class Work>
    auto run(Work work, std::chrono::milliseconds patience) -> std::optional<decltype(work())>
    {
        auto task = std::make_shared<std::packaged_task<decltype(work())()>>(std::move(work));
        auto result = task->get_future();
        const bool done = give([task] { (*task)(); })
            && waited([&] { return result.wait_for(betweenLooks) == std::future_status::ready; }, patience);
        return done ? std::optional(result.get()) : std::nullopt;
    }

private:
    static constexpr std::chrono::milliseconds betweenLooks {20};

    struct Shared
    {
        std::mutex mutex;
        std::condition_variable wake;
        std::queue<std::function<void()>> tasks;
        bool over = false;
    };

    static void work(Shared& shared);
    bool give(std::function<void()> task);
    bool waited(const std::function<bool()>& ready, std::chrono::milliseconds patience);
    void stop();

    std::shared_ptr<Shared> m_shared; ///< outlives this where the thread does
    CancelToken m_cancel;
    std::atomic<bool> m_abandoned = false;
    std::thread m_thread;
};

} // namespace nanscope
