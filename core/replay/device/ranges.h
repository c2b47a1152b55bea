// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/base/job.h"
#include "core/replay/device/share.h"

namespace nanscope::replay {

struct Range
{
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

inline int allThreads()
{
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// Calls `each` with ranges of 0 to `size`, `step` at a time, from up to `threads` threads, until `cancel` is set.
template <class Each>
void forRanges(std::int64_t size, std::int64_t step, int threads, const CancelToken& cancel, const Each& each,
    const ShareDone& told = {})
{
    std::atomic<std::int64_t> next = 0;
    const auto caller = std::this_thread::get_id();
    const auto work = [&] {
        for (auto begin = next.fetch_add(step); begin < size && !cancel.cancelled(); begin = next.fetch_add(step)) {
            each(Range {begin, std::min(begin + step, size)});
            if (told && std::this_thread::get_id() == caller) {
                told(static_cast<double>(begin) / static_cast<double>(size));
            }
        }
    };
    std::vector<std::jthread> helpers;
    for (std::int64_t helper = 1; helper < std::min<std::int64_t>(threads, (size + step - 1) / step); ++helper) {
        helpers.emplace_back(work);
    }
    work();
}

} // namespace nanscope::replay
