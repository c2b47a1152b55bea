// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How the benchmarks of the window time a frame: from a change to the painted picture.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <utility>
#include <vector>

#include <QCoreApplication>
#include <QElapsedTimer>

namespace nanscope::bench {

/// CPU time of a clock such as CLOCK_THREAD_CPUTIME_ID.
inline double cpuMs(clockid_t clock)
{
    timespec now {};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Milliseconds that passed, and those spent by this thread: on a busy machine the second is what the window is to
/// blame for.
struct Frame
{
    double wall;
    double cpu;
};

/// Every event up to the painted picture, and those of answers that came in meanwhile.
inline Frame frameOf(const std::function<void()>& change)
{
    QElapsedTimer timer;
    timer.start();
    const double before = cpuMs(CLOCK_THREAD_CPUTIME_ID);
    change();
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
    return {static_cast<double>(timer.nsecsElapsed()) / 1e6, cpuMs(CLOCK_THREAD_CPUTIME_ID) - before};
}

inline void report(const char* what, std::vector<Frame> times)
{
    for (const auto& [kind, name] : {std::pair {&Frame::wall, "wall"}, std::pair {&Frame::cpu, "its thread"}}) {
        std::ranges::sort(times, {}, kind);
        // clang 14 cannot capture the name of a structured binding.
        const auto at = [&times, own = kind](double part) {
            return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))].*own;
        };
        std::printf("%-22s %-10s p50 %.2f ms, p95 %.2f ms, worst %.2f ms\n", what, name, at(0.5), at(0.95), at(1));
    }
}

} // namespace nanscope::bench
