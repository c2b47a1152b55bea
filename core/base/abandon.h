// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/job.h"

namespace nanscope {

/// What `work` returns, made on a thread of its own because a library in it cannot be interrupted. Nothing once
/// `cancel` is set: the thread goes on to its end without being waited for, so that `work` has to own whatever it uses.
template <class Work>
auto unlessCancelled(Work work, const CancelToken& cancel) -> std::optional<decltype(work())>
{
    if (cancel.cancelled()) {
        return std::nullopt;
    }
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto made = task.get_future();
    std::thread(std::move(task)).detach();
    constexpr auto between = std::chrono::milliseconds(2);
    while (made.wait_for(between) != std::future_status::ready) {
        if (cancel.cancelled()) {
            return std::nullopt;
        }
    }
    return made.get();
}

} // namespace nanscope
