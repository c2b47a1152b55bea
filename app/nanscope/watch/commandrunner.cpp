// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/watch/commandrunner.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/platform/childprocess.h"

namespace nanscope {

using namespace std::chrono_literals;

CommandRunner::CommandRunner(std::string command, std::function<void(const std::string&)> complain)
    : m_command(std::move(command))
    , m_complain(std::move(complain))
{
    for (int i = 0; i < (m_command.empty() ? 0 : atOnce); ++i) {
        m_threads.emplace_back([this] { work(); });
    }
}

CommandRunner::~CommandRunner()
{
    finish([] { return true; });
    for (auto& thread : m_threads) {
        thread.join();
    }
}

void CommandRunner::run(const WatchEvent& event)
{
    if (m_command.empty()) {
        return;
    }
    const std::lock_guard lock(m_mutex);
    if (m_waiting.size() < mostWaiting) {
        m_waiting.push_back(event);
        m_changed.notify_all();
    } else {
        ++m_dropped;
    }
}

std::size_t CommandRunner::finish(const std::function<bool()>& stopped)
{
    constexpr auto look = 50ms;
    std::unique_lock lock(m_mutex);
    const auto done = [this] { return m_waiting.empty() && m_running == 0; };
    while (!stopped() && !m_changed.wait_for(lock, look, done)) { }
    m_dropped += m_waiting.size();
    m_waiting.clear();
    m_over = true;
    m_end = m_end.value_or(Clock::now() + goodbye);
    m_changed.notify_all();
    return m_dropped;
}

void CommandRunner::work()
{
    std::unique_lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock, [this] { return m_over || !m_waiting.empty(); });
        if (m_waiting.empty()) {
            return;
        }
        const auto event = std::move(m_waiting.front());
        m_waiting.pop_front();
        ++m_running;
        lock.unlock();
        runOne(event);
        lock.lock();
        --m_running;
        m_changed.notify_all();
    }
}

bool CommandRunner::mustEnd(Clock::time_point until)
{
    const std::lock_guard lock(m_mutex);
    return Clock::now() >= (m_end ? std::min(*m_end, until) : until);
}

void CommandRunner::runOne(const WatchEvent& event)
{
    constexpr auto slice = 50ms;
    auto child = platform::ChildProcess::start({"/bin/sh", {"-c", m_command}, event.variables()});
    if (!child) {
        fail(sentence(child.error()));
        return;
    }
    // A command need not read what it is given.
    (void)child->writeLine(event.json(), Clock::now() + goodbye);
    child->closeInput();
    const auto until = Clock::now() + longest;
    while (child->running() && !mustEnd(until)) {
        std::string dropped;
        if (const auto got = child->readLine(dropped, Clock::now() + slice); !got) {
            break;
        } else if (*got == platform::ChildProcess::Got::end) {
            std::this_thread::sleep_for(slice);
        }
    }
    const auto end = child->running() ? child->kill() : child->end(Clock::now() + goodbye);
    if (end != "ended with status 0") {
        const auto why = lastLine(child->errors());
        fail(fmt::format("The command {}{}{}", end, why.empty() ? "" : ": ", why));
    }
}

void CommandRunner::fail(const std::string& why)
{
    {
        const std::lock_guard lock(m_mutex);
        // One that is ended with the watching did nothing wrong.
        if (m_complained || m_end) {
            return;
        }
        m_complained = true;
    }
    m_complain(why + "; it is run for what follows all the same, and no other failure is said");
}

} // namespace nanscope
