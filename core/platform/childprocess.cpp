// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/childprocess.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/try.h"
#include "core/platform/descriptor.h"
#include "core/platform/platform.h"

namespace nanscope::platform {

namespace {

/// A running child and our ends of its pipes, which never block.
struct Spawned
{
    pid_t pid = -1;
    Descriptor input;
    Descriptor output;
    Descriptor errors;
};

struct Pipe
{
    Descriptor ours;
    Descriptor theirs;
};

/// Numbers below three would be overwritten while the child's own streams are put in place.
Descriptor aboveStandardStreams(int number)
{
    Descriptor given(number);
    return Descriptor(::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

std::optional<Pipe> makePipe(bool weRead)
{
    std::array<int, 2> ends {};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return std::nullopt;
    }
    auto reading = aboveStandardStreams(ends[0]);
    auto writing = aboveStandardStreams(ends[1]);
    if (!reading.open() || !writing.open()) {
        return std::nullopt;
    }
    Pipe pipe = weRead ? Pipe {std::move(reading), std::move(writing)} : Pipe {std::move(writing), std::move(reading)};
    ::fcntl(pipe.ours.get(), F_SETFL, ::fcntl(pipe.ours.get(), F_GETFL) | O_NONBLOCK);
    return pipe;
}

std::vector<std::string> environmentWith(const ChildProgram& program)
{
    std::vector<std::string> entries;
    for (const auto& [name, value] : program.variables) {
        entries.push_back(std::string(name).append("=").append(value));
    }
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const bool replaced = std::any_of(program.variables.begin(), program.variables.end(),
            [&](const auto& variable) { return text.starts_with(variable.first + "="); });
        if (!replaced) {
            entries.emplace_back(text);
        }
    }
    return entries;
}

std::vector<char*> pointersTo(std::vector<std::string>& words)
{
    std::vector<char*> pointers;
    for (auto& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

constexpr std::array asAShellLeaves {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ};

/// The child starts with signals as a shell would leave them, whatever this process ignores or holds back.
void prepareSignals(posix_spawnattr_t& attributes)
{
    sigset_t defaults;
    sigset_t none;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int signal : asAShellLeaves) {
        sigaddset(&defaults, signal);
    }
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    constexpr auto flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP;
    ::posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
}

int spawnWith(const ChildProgram& program, const std::array<int, 3>& streams, pid_t& pid)
{
    std::vector<std::string> words {program.path.string()};
    words.insert(words.end(), program.arguments.begin(), program.arguments.end());
    auto variables = environmentWith(program);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    for (std::size_t i = 0; i < streams.size(); ++i) {
        ::posix_spawn_file_actions_adddup2(&actions, streams[i], static_cast<int>(i));
    }
    prepareSignals(attributes);
    const int code = ::posix_spawn(
        &pid, program.path.c_str(), &actions, &attributes, pointersTo(words).data(), pointersTo(variables).data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return code;
}

Result<Spawned> spawn(const ChildProgram& program)
{
    auto input = makePipe(false);
    auto output = makePipe(true);
    auto errors = makePipe(true);
    if (!input || !output || !errors) {
        return systemFailure("The program cannot be given pipes", errno, program.path);
    }
    Spawned child {-1, std::move(input->ours), std::move(output->ours), std::move(errors->ours)};
    const std::array streams {input->theirs.get(), output->theirs.get(), errors->theirs.get()};
    if (const int code = spawnWith(program, streams, child.pid); code != 0) {
        return systemFailure("The program cannot be started", code, program.path);
    }
    return child;
}

using namespace std::chrono_literals;

constexpr std::size_t keptErrorBytes = 4000;

/// Writing to a program that has left raises SIGPIPE, which would end this one. Held back for this thread alone, since
/// how the whole process takes the signal is not for a helper to change.
class BrokenPipesHeldBack
{
public:
    BrokenPipesHeldBack()
    {
        sigemptyset(&m_pipe);
        sigaddset(&m_pipe, SIGPIPE);
        m_wasPending = pending();
        ::pthread_sigmask(SIG_BLOCK, &m_pipe, &m_before);
    }
    ~BrokenPipesHeldBack()
    {
        if (!m_wasPending && pending()) {
            int taken = 0;
            ::sigwait(&m_pipe, &taken);
        }
        ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }
    BrokenPipesHeldBack(const BrokenPipesHeldBack&) = delete;
    BrokenPipesHeldBack& operator=(const BrokenPipesHeldBack&) = delete;

private:
    static bool pending()
    {
        sigset_t waiting;
        sigemptyset(&waiting);
        ::sigpending(&waiting);
        return sigismember(&waiting, SIGPIPE) == 1;
    }

    sigset_t m_pipe {};
    sigset_t m_before {};
    bool m_wasPending = false;
};

std::string endingText(int status)
{
    return WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                               : "ended with status " + std::to_string(WEXITSTATUS(status));
}

} // namespace

struct ChildProcess::State
{
    std::string path;
    Spawned child;
    std::string text; ///< read and not handed out from `begin` on
    std::size_t begin = 0;
    std::size_t searched = 0; ///< no line ends before it
    std::string errors;
    std::optional<int> status; ///< there once it has left and was waited for

    tl::unexpected<Error> fails(const std::string& what) const { return failure(ErrorKind::io, what, path); }

    std::size_t waiting() const { return text.size() - begin; }

    bool left()
    {
        siginfo_t seen {};
        const int found =
            status ? -1 : ::waitid(P_PID, static_cast<id_t>(child.pid), &seen, WEXITED | WNOHANG | WNOWAIT);
        if (found == 0 && seen.si_pid == child.pid) {
            // What it left running goes with it, as long as its number is still its own.
            killNow();
        } else if (found < 0 && !status && errno == ECHILD) {
            // Where this process was started with SIGCHLD ignored, the system takes them away unasked.
            status = 0;
        }
        return status.has_value();
    }

    void killNow()
    {
        ::kill(-child.pid, SIGKILL);
        int raw = 0;
        while (::waitpid(child.pid, &raw, 0) < 0 && errno == EINTR) { }
        status = raw;
    }

    /// Reads what is there; false where there was nothing.
    bool take(Descriptor& from, std::string& into)
    {
        std::array<char, std::size_t {64} << 10> block; // NOLINT(cppcoreguidelines-pro-type-member-init)
        const auto size = ::read(from.get(), block.data(), block.size());
        if (size > 0) {
            into.append(block.data(), static_cast<std::size_t>(size));
        } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
            from.close();
        }
        return size > 0;
    }

    bool takeErrors()
    {
        const bool some = take(child.errors, errors);
        if (errors.size() > keptErrorBytes) {
            errors.erase(0, errors.size() - keptErrorBytes);
        }
        return some;
    }

    bool takeOutput()
    {
        // Lines already handed out go before their room is needed again, and seldom enough to cost nothing.
        if (begin > text.size() / 2) {
            text.erase(0, begin);
            searched -= begin;
            begin = 0;
        }
        return take(child.output, text);
    }

    /// Waits for something to read, or to write where that is wanted, and reads; false where nothing came in time.
    bool wait(std::chrono::milliseconds atMost, bool toWrite)
    {
        const bool room = waiting() <= maxLineBytes;
        std::array<pollfd, 3> polled {{{room ? child.output.get() : -1, POLLIN, 0}, {child.errors.get(), POLLIN, 0},
            {toWrite ? child.input.get() : -1, POLLOUT, 0}}};
        if (::poll(polled.data(), polled.size(), static_cast<int>(atMost.count())) <= 0) {
            return false;
        }
        bool some = polled[2].revents != 0;
        some = (polled[0].revents != 0 && takeOutput()) || some;
        return (polled[1].revents != 0 && takeErrors()) || some;
    }

    std::optional<std::string> nextLine()
    {
        const auto end = text.find('\n', searched);
        searched = end == std::string::npos ? text.size() : end + 1;
        if (end == std::string::npos) {
            return std::nullopt;
        }
        auto line = text.substr(begin, end - begin);
        begin = end + 1;
        return line;
    }
};

namespace {

/// A child's end and its signals are seen at least this often.
std::chrono::milliseconds slice(ChildProcess::Clock::time_point until)
{
    const auto left = until - std::min(until, ChildProcess::Clock::now());
    return std::min<std::chrono::milliseconds>(20ms, std::chrono::ceil<std::chrono::milliseconds>(left));
}

} // namespace

Error becomeProgram(const ChildProgram& program)
{
    std::vector<std::string> words {program.path.string()};
    words.insert(words.end(), program.arguments.begin(), program.arguments.end());
    auto variables = environmentWith(program);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int signal : asAShellLeaves) {
        ::signal(signal, SIG_DFL);
    }
    ::alarm(0);
    ::execve(program.path.c_str(), pointersTo(words).data(), pointersTo(variables).data());
    return systemFailure("The program cannot be started", errno, program.path).value();
}

ChildProcess::ChildProcess(std::unique_ptr<State> state)
    : m_state(std::move(state))
{ }

ChildProcess::ChildProcess(ChildProcess&& other) noexcept = default;

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept
{
    std::swap(m_state, other.m_state);
    return *this;
}

ChildProcess::~ChildProcess()
{
    if (m_state) {
        end(Clock::now() + patience);
    }
}

Result<ChildProcess> ChildProcess::start(const ChildProgram& program)
{
    auto child = TRY(spawn(program));
    auto state = std::make_unique<State>();
    state->path = program.path.string();
    state->child = std::move(child);
    return ChildProcess(std::move(state));
}

Result<void> ChildProcess::writeLine(std::string_view line, Clock::time_point until)
{
    const BrokenPipesHeldBack heldBack;
    const auto text = std::string(line) + '\n';
    for (std::size_t written = 0; written < text.size();) {
        const auto size = ::write(m_state->child.input.get(), text.data() + written, text.size() - written);
        if (size > 0) {
            written += static_cast<std::size_t>(size);
        } else if (errno != EAGAIN && errno != EINTR) {
            return m_state->fails("The program takes no more input");
        } else if (Clock::now() >= until) {
            return m_state->fails("The program did not take its input in time");
        } else {
            // It may be waiting for its own output to be read.
            m_state->wait(slice(until), true);
        }
    }
    return {};
}

void ChildProcess::closeInput()
{
    m_state->child.input.close();
}

bool ChildProcess::running()
{
    return !m_state->left();
}

Result<ChildProcess::Got> ChildProcess::readLine(std::string& line, Clock::time_point until)
{
    for (bool waited = false;; waited = true) {
        if (auto next = m_state->nextLine()) {
            line = std::move(*next);
            return Got::line;
        }
        if (m_state->waiting() > maxLineBytes) {
            return m_state->fails("The program sends a line without end");
        }
        if (!m_state->child.output.open()) {
            return Got::end;
        }
        if (waited && Clock::now() >= until) {
            return Got::nothing;
        }
        // What a child left running keeps the pipe open; its own end counts, once what it wrote is read.
        const bool left = m_state->left();
        if (!m_state->wait(left ? 0ms : slice(until), false) && left) {
            return Got::end;
        }
    }
}

std::string ChildProcess::end(Clock::time_point until)
{
    auto& state = *m_state;
    state.child.input.close();
    while (!state.left()) {
        if (Clock::now() >= until) {
            state.killNow();
            return "did not leave and was killed";
        }
        // Its last lines are dropped, but the child must not wait for a reader.
        state.begin = state.searched = state.text.size();
        state.wait(std::min(slice(until), 5ms), false);
    }
    constexpr int pipeful = 16;
    for (int i = 0; i < pipeful && state.child.errors.open() && state.takeErrors(); ++i) { }
    return endingText(*state.status);
}

std::string ChildProcess::errors() const
{
    return m_state->errors;
}

} // namespace nanscope::platform
