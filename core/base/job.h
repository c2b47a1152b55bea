// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace nanscope {

/// One report of a long job. `total` is 0 while it is unknown.
struct Progress
{
    std::string job; ///< "import", "sweep", "diagnose", "report"
    std::string phase;
    std::int64_t done = 0;
    std::int64_t total = 0;
    std::string unit; ///< "files", "cells", "captures", "bytes"
    std::string message;
    bool uneven = false; ///< the units differ in length: what is done says nothing of how long the rest takes
};

/// Copies share one flag. Safe to set from any thread; long loops look at it at least every 50 ms.
class CancelToken
{
public:
    void cancel() { m_flag->store(true, std::memory_order_relaxed); }
    bool cancelled() const { return m_flag->load(std::memory_order_relaxed); }

private:
    std::shared_ptr<std::atomic<bool>> m_flag = std::make_shared<std::atomic<bool>>(false);
};

/// How a long job reports and is stopped. Called from the job's own thread.
struct JobContext
{
    std::function<void(const Progress&)> progress = [](const Progress&) {};
    CancelToken cancel;
};

} // namespace nanscope
