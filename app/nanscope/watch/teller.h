// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "app/nanscope/shared/terminal.h"
#include "app/nanscope/watch/commandrunner.h"
#include "app/nanscope/watch/watchevent.h"

namespace nanscope {

/// Says what a watched run tells, at once, from whichever thread finds it, and runs the command for it.
class Teller
{
public:
    /// Over once an event of the kind `until` was told.
    Teller(Terminal& terminal, std::string command, std::optional<WatchEvent::Kind> until);

    void tell(const WatchEvent& event);
    /// A sentence about the watching itself, said again only once another one was said in between.
    void say(const std::string& text);
    /// The trouble is over: the next one is said, whatever it is.
    void settled();
    /// That nothing is kept for now, and why: once, until something is kept again.
    void sayUnkept(const std::string& why);
    void kept();
    JobContext job();

    bool stopped() const { return m_over || m_terminal.cancelToken().cancelled(); }
    bool unwritable() const { return m_unwritable; }
    int told(WatchEvent::Kind kind) const { return m_told.at(static_cast<std::size_t>(kind)); }
    /// Lets the commands come to their end, and says how many were not run.
    void finish();

private:
    void print(const WatchEvent& event);

    Terminal& m_terminal;
    std::optional<WatchEvent::Kind> m_until;
    std::mutex m_mutex; ///< of the terminal
    std::array<std::atomic<int>, 5> m_told {};
    std::atomic<bool> m_over = false;
    std::atomic<bool> m_unwritable = false;
    std::string m_said;
    bool m_unkept = false; ///< and it was said
    CommandRunner m_commands; ///< last: its threads complain to the terminal
};

} // namespace nanscope
