// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/probe/processes.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ATen/Parallel.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "tests/core/session/temporaryfolder.h"

namespace nanscope::test {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest {90};

/// A port of this machine that is kept for rank 0 from before the ranks are made.
class Listener
{
public:
    Listener()
    {
        sockaddr_in address {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* plain = reinterpret_cast<sockaddr*>(&address);
        if (::bind(m_socket, plain, size) != 0 || ::listen(m_socket, SOMAXCONN) != 0
            || ::getsockname(m_socket, plain, &size) != 0) {
            std::abort();
        }
        m_port = ntohs(address.sin_port);
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() { ::close(m_socket); }

    c10::intrusive_ptr<c10d::Store> store(int rank, int size) const
    {
        c10d::TCPStoreOptions options;
        options.port = m_port;
        options.isServer = rank == 0;
        options.numWorkers = static_cast<std::size_t>(size);
        options.masterListenFd = rank == 0 ? std::optional(m_socket) : std::nullopt;
        if (rank != 0) {
            ::close(m_socket); // or connections would go on after the end of rank 0
        }
        return c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
    }

private:
    int m_socket = ::socket(AF_INET, SOCK_STREAM, 0);
    std::uint16_t m_port = 0;
};

c10::intrusive_ptr<c10d::Backend> glooGroup(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds timeout)
{
    auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, std::move(options));
}

using MakeStore = std::function<c10::intrusive_ptr<c10d::Store>(int rank)>;

std::string worked(int rank, int size, const MakeStore& makeStore,
    const std::function<std::string(const Membership&)>& work, const Limits& limits)
{
    try {
        at::set_num_threads(1);
        const auto store = makeStore(rank);
        const auto meeting = c10::make_intrusive<c10d::PrefixStore>("all", store);
        // Outlives the work, as a trainer's group does: a connection that closes is noticed, a rank that is busy is
        // not.
        static Membership member;
        member = {rank, glooGroup(meeting, rank, size, limits.timeout), store, limits};
        return work(member);
    } catch (const std::exception& error) {
        return std::string("threw ") + error.what();
    }
}

/// The end of a pipe that a rank says its answer to. A rank is this process's fork: nothing is started anew, and torch
/// does not have to be loaded again.
class RankProcess
{
public:
    explicit RankProcess(const std::function<std::string()>& work)
    {
        std::array<int, 2> ends {};
        if (::pipe(ends.data()) != 0) {
            std::abort();
        }
        std::fflush(nullptr); // or the rank would say again what waits to be written
        m_pid = ::fork();
        if (m_pid == 0) {
            ::close(ends[0]);
            const auto text = work();
            const auto written = ::write(ends[1], text.data(), text.size());
            ::close(ends[1]);
            stay(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
        }
        if (m_pid < 0) {
            std::abort();
        }
        ::close(ends[1]);
        m_answers = ends[0];
    }
    RankProcess(const RankProcess&) = delete;
    RankProcess& operator=(const RankProcess&) = delete;
    ~RankProcess()
    {
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
        ::close(m_answers);
    }

    /// All that the rank said until it ended; none where it was killed, or has not ended until then.
    std::optional<std::string> answer(Clock::time_point until)
    {
        std::string text;
        while (waitsFor(until)) {
            std::array<char, 4096> part {};
            const auto size = ::read(m_answers, part.data(), part.size());
            if (size <= 0) {
                break;
            }
            text.append(part.data(), static_cast<std::size_t>(size));
        }
        return text.empty() ? std::nullopt : std::optional(text);
    }

private:
    /// A rank that has said all is killed: left to itself, it would close connections that others may still be making,
    /// and gloo would wait at its end for ranks that were killed. The alarm is for a test that was itself killed.
    [[noreturn]] static void stay(int status)
    {
        ::alarm(2 * static_cast<unsigned>(longest.count()));
        ::pause();
        ::_exit(status);
    }

    bool waitsFor(Clock::time_point until) const
    {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        pollfd wanted {m_answers, POLLIN, 0};
        return left > 0 && ::poll(&wanted, 1, static_cast<int>(left)) > 0;
    }

    pid_t m_pid = -1;
    int m_answers = -1;
};

} // namespace

C10dRanks Membership::among(const std::vector<int>& ranks, const std::string& name) const
{
    const auto place = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
    const auto meeting = c10::make_intrusive<c10d::PrefixStore>(name, store);
    auto own = options();
    own.name = name;
    return C10dRanks(
        glooGroup(meeting, static_cast<int>(place), static_cast<int>(ranks.size()), limits.timeout), std::move(own));
}

std::vector<std::optional<std::string>> inProcesses(
    int ranks, const std::function<std::string(const Membership&)>& work, const Limits& limits)
{
    const TemporaryFolder folder;
    const Listener listener;
    const MakeStore makeStore = [&](int rank) -> c10::intrusive_ptr<c10d::Store> {
        if (limits.rankZeroKeepsTheStore) {
            return listener.store(rank, ranks);
        }
        return c10::make_intrusive<c10d::FileStore>((folder / "store").string(), ranks);
    };
    std::vector<std::unique_ptr<RankProcess>> processes;
    for (int rank = 0; rank < ranks; ++rank) {
        processes.push_back(
            std::make_unique<RankProcess>([&] { return worked(rank, ranks, makeStore, work, limits); }));
    }
    std::vector<std::optional<std::string>> answers;
    const auto until = Clock::now() + longest;
    for (const auto& process : processes) {
        answers.push_back(process->answer(until));
    }
    return answers;
}

} // namespace nanscope::test
