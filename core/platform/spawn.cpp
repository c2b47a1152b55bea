// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/spawn.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include <fcntl.h>
#include <spawn.h>

#include "core/platform/systemerror.h"

namespace nanscope::platform {

namespace {

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

/// The child starts with signals as a shell would leave them, whatever this process ignores or holds back.
void prepareSignals(posix_spawnattr_t& attributes)
{
    sigset_t defaults;
    sigset_t none;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) {
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

} // namespace

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

} // namespace nanscope::platform
