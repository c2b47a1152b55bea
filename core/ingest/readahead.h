// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace nanscope::ingest {

/// Computes work(0), work(1), ... work(count - 1) on a few threads and hands the results out in this order. At most
/// `window` results wait, so memory does not grow with `count`. Destroying it waits for the calls under way.
template <class T>
class ReadAhead
{
public:
    using Work = std::function<T(std::size_t)>;

    ReadAhead(std::size_t count, std::size_t threads, std::size_t window, Work work)
        : m_count(count)
        , m_work(std::move(work))
        , m_slots(std::max<std::size_t>(window, 1))
    {
        try {
            for (std::size_t i = 0; i < std::min(threads, count); ++i) {
                m_threads.emplace_back([this] { run(); });
            }
        } catch (const std::system_error&) {
            // No further thread to be had; with none at all next() works by itself.
        }
    }

    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    ~ReadAhead()
    {
        {
            const std::lock_guard lock(m_mutex);
            m_claimed = m_count;
        }
        m_roomMade.notify_all();
        for (auto& thread : m_threads) {
            thread.join();
        }
    }

    /// The next result, or what its work threw; waits for it. May be called `count` times.
    T next()
    {
        return next([] {});
    }

    /// The same; `waiting` is called, on this thread, every 50 ms of a long wait.
    T next(const std::function<void()>& waiting)
    {
        if (m_threads.empty()) {
            return m_work(m_taken++);
        }
        std::unique_lock lock(m_mutex);
        auto& slot = m_slots[m_taken % m_slots.size()];
        while (!m_resultMade.wait_for(lock, std::chrono::milliseconds(50), [&] { return slot.valid(); })) {
            lock.unlock();
            waiting();
            lock.lock();
        }
        auto result = std::move(slot);
        ++m_taken;
        lock.unlock();
        m_roomMade.notify_one();
        return result.get();
    }

private:
    void run()
    {
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_roomMade.wait(lock, [this] { return m_claimed >= m_count || m_claimed < m_taken + m_slots.size(); });
            if (m_claimed >= m_count) {
                return;
            }
            const auto index = m_claimed++;
            lock.unlock();
            std::packaged_task<T()> task([&] { return m_work(index); });
            task();
            lock.lock();
            m_slots[index % m_slots.size()] = task.get_future();
            m_resultMade.notify_one();
        }
    }

    std::size_t m_count;
    Work m_work;
    std::mutex m_mutex;
    std::condition_variable m_roomMade;
    std::condition_variable m_resultMade;
    std::vector<std::future<T>> m_slots;
    std::size_t m_claimed = 0; ///< first index no thread has begun
    std::size_t m_taken = 0; ///< first index not handed out
    std::vector<std::thread> m_threads;
};

} // namespace nanscope::ingest
