// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include "core/replay/analysis/cliff.h"
#include "core/rpc/requests.h"

namespace nanscope::rpc {

/// A request of the service that takes its time.
struct ServiceJob
{
    nlohmann::ordered_json id;
    std::variant<SweepOrder, replay::FilmRequest, replay::FrameRequest, DeepOrder, replay::CliffRequest> order;
    CancelToken cancel;

    bool isSweep() const { return std::holds_alternative<SweepOrder>(order); }
};

/// Between the thread that reads lines and the one that does the work. A job stays in it while it runs, where a cancel
/// finds it.
class ServiceQueue
{
public:
    static constexpr std::size_t maxWaiting = 1000;

    /// False where a job of this id is still there, or too many wait.
    bool add(std::shared_ptr<ServiceJob> job);

    /// False where there is no such job.
    bool cancel(const nlohmann::ordered_json& id);

    /// The next job, which thereby runs; nothing once the queue has ended and is empty. While there is none, `tidy` is
    /// called again and again until it has nothing left to do.
    std::shared_ptr<ServiceJob> begin(const std::function<bool()>& tidy);

    /// The job that runs is done.
    void finish();

    /// Cancels what is there and takes no more.
    void end();

private:
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<std::shared_ptr<ServiceJob>> m_jobs;
    bool m_running = false; ///< the first one
    bool m_ended = false;
};

} // namespace nanscope::rpc
