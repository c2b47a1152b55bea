// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <istream>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/rpc/server.h"

namespace nanscope::test {

/// One direction of a pipe between two threads.
class PipeBuffer : public std::streambuf
{
public:
    void close()
    {
        const std::lock_guard lock(m_mutex);
        m_closed = true;
        m_wake.notify_all();
    }

protected:
    int_type underflow() override
    {
        std::unique_lock lock(m_mutex);
        m_wake.wait(lock, [this] { return m_closed || !m_waiting.empty(); });
        if (m_waiting.empty()) {
            return traits_type::eof();
        }
        m_current = std::move(m_waiting);
        m_waiting.clear();
        setg(m_current.data(), m_current.data(), m_current.data() + m_current.size());
        return traits_type::to_int_type(m_current.front());
    }

    std::streamsize xsputn(const char* text, std::streamsize count) override
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.append(text, static_cast<std::size_t>(count));
        m_wake.notify_all();
        return count;
    }

    int_type overflow(int_type c) override
    {
        const char text = traits_type::to_char_type(c);
        xsputn(&text, 1);
        return c;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::string m_waiting;
    std::string m_current;
    bool m_closed = false;
};

/// The replay service on a thread of its own, spoken to in lines.
class RunningService
{
public:
    ~RunningService() { finish(); }

    void start(replay::DeviceFactory devices = replay::makeCoreDevice)
    {
        m_devices = std::move(devices);
        m_thread = std::thread([this] {
            std::istream in(&m_in);
            std::ostream out(&m_out);
            m_status = rpc::serve(in, out, m_info, m_devices);
            m_out.close();
        });
    }

    void send(const std::string& line)
    {
        m_in.sputn((line + "\n").data(), static_cast<std::streamsize>(line.size() + 1));
    }

    /// Nothing more is sent: it gives up what it is doing.
    void hangUp() { m_in.close(); }

    /// Every line has to be one whole JSON object; null once it says no more.
    nlohmann::json receive()
    {
        std::string line;
        if (!std::getline(m_answers, line)) {
            return nullptr;
        }
        auto answer = nlohmann::json::parse(line, nullptr, false);
        EXPECT_TRUE(answer.is_object()) << line;
        return answer;
    }

    nlohmann::json receiveUntil(const std::function<bool(const nlohmann::json&)>& wanted)
    {
        auto answer = receive();
        while (!answer.is_null() && !wanted(answer)) {
            answer = receive();
        }
        return answer;
    }

    /// Its exit status.
    int finish()
    {
        hangUp();
        if (m_thread.joinable()) {
            m_thread.join();
        }
        return m_status;
    }

private:
    rpc::ServiceInfo m_info {"eigen test", {{"cpu", "some processor"}}, {"no GPU: none here"}};
    replay::DeviceFactory m_devices;
    PipeBuffer m_in;
    PipeBuffer m_out;
    std::istream m_answers {&m_out};
    std::thread m_thread;
    int m_status = -1;
};

} // namespace nanscope::test
