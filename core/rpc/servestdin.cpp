// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/serve.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <streambuf>
#include <thread>

#include "core/platform/platform.h"
#include "core/platform/sharedmemory.h"

namespace nanscope::rpc {

namespace {

std::atomic<bool> signalled = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

/// For an answer that nobody reads, and a kernel that does not look up.
constexpr unsigned longestGoodbye = 10; // seconds

extern "C" void onSignal(int)
{
    signalled = true;
    platform::endProgramAfter(longestGoodbye, 0);
}

/// What a thread that may block for ever has read so far.
struct Pump
{
    static constexpr std::size_t mostBlocks = 64;

    std::mutex mutex;
    std::condition_variable wake;
    std::condition_variable roomMade;
    std::deque<std::string> blocks;
    bool ended = false;

    /// Waits where the requests are not taken, which they are not while nobody reads the answers.
    void add(std::string block, bool last)
    {
        std::unique_lock lock(mutex);
        roomMade.wait(lock, [this] { return blocks.size() < mostBlocks; });
        blocks.push_back(std::move(block));
        ended = last;
        wake.notify_one();
    }
};

void readStandardInput(const std::shared_ptr<Pump>& pump)
{
    auto* input = std::cin.rdbuf();
    while (input->sgetc() != std::char_traits<char>::eof()) {
        std::string block(static_cast<std::size_t>(std::max<std::streamsize>(1, input->in_avail())), '\0');
        block.resize(static_cast<std::size_t>(input->sgetn(block.data(), static_cast<std::streamsize>(block.size()))));
        pump->add(std::move(block), false);
    }
    pump->add({}, true);
}

/// Standard input that ends when a signal arrives.
class InterruptibleInput : public std::streambuf
{
public:
    InterruptibleInput() { std::thread(readStandardInput, m_pump).detach(); }

protected:
    int_type underflow() override
    {
        using namespace std::chrono_literals;
        std::unique_lock lock(m_pump->mutex);
        for (;;) {
            while (!m_pump->blocks.empty()) {
                m_current = std::move(m_pump->blocks.front());
                m_pump->blocks.pop_front();
                m_pump->roomMade.notify_one();
                if (!m_current.empty()) {
                    setg(m_current.data(), m_current.data(), m_current.data() + m_current.size());
                    return traits_type::to_int_type(m_current.front());
                }
            }
            if (m_pump->ended || signalled) {
                return traits_type::eof();
            }
            // A handler cannot notify a condition variable, so the flag is looked at.
            m_pump->wake.wait_for(lock, 50ms);
        }
    }

private:
    std::shared_ptr<Pump> m_pump = std::make_shared<Pump>();
    std::string m_current;
};

} // namespace

int serveStandardStreams(const ServiceInfo& info, const replay::DeviceFactory& devices)
{
    // Unsynchronised, std::cin reads what is there instead of waiting for a full buffer, and holds no lock at exit.
    std::ios::sync_with_stdio(false);
    std::signal(SIGINT, onSignal);
    std::signal(SIGTERM, onSignal);
    platform::ignoreBrokenPipes();
    platform::removeAbandonedBlocks();
    InterruptibleInput buffer;
    std::istream in(&buffer);
    return serve(in, std::cout, info, devices);
}

} // namespace nanscope::rpc
