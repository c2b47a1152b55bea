// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/nanscope/watch/watchevent.h"

namespace nanscope {

/// Runs the user's command once for each event, a few at a time, on threads of its own. The command is the user's line
/// to the letter: what files say reaches it on its standard input and in variables only. What it prints is dropped.
class CommandRunner
{
public:
    /// `complain` is called once, from any thread, with the sentence why a command failed. An empty command runs
    /// nothing.
    CommandRunner(std::string command, std::function<void(const std::string&)> complain);
    ~CommandRunner();
    CommandRunner(const CommandRunner&) = delete;
    CommandRunner& operator=(const CommandRunner&) = delete;

    void run(const WatchEvent& event);
    /// Waits until every command is done, as long as `stopped` does not say otherwise. Those that run then have a
    /// moment to end, those that wait are dropped. Returns how many were.
    std::size_t finish(const std::function<bool()>& stopped);

    static constexpr int atOnce = 4;
    static constexpr std::size_t mostWaiting = 1000;
    static constexpr std::chrono::seconds longest {60}; ///< that a command may take
    static constexpr std::chrono::seconds goodbye {2};

private:
    using Clock = std::chrono::steady_clock;

    void work();
    void runOne(const WatchEvent& event);
    void fail(const std::string& why);
    bool mustEnd(Clock::time_point until);

    const std::string m_command;
    const std::function<void(const std::string&)> m_complain;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<WatchEvent> m_waiting;
    std::size_t m_dropped = 0;
    int m_running = 0;
    bool m_over = false;
    bool m_complained = false;
    std::optional<Clock::time_point> m_end; ///< of all that run
    std::vector<std::thread> m_threads;
};

} // namespace nanscope
