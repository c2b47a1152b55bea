// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace nanscope::platform {

struct ChildProgram
{
    std::filesystem::path path;
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> variables; ///< added to this process's own
};

/// This process goes on as `program`, in its terminal and with its streams. Comes back only where that fails.
Error becomeProgram(const ChildProgram& program);

/// A started program, spoken to in lines over pipes. It is a process group of its own: Ctrl-C reaches the caller
/// alone, who decides what becomes of it. Nothing here waits longer than its caller allows, and the object's end is the
/// program's end. One thread at a time.
class ChildProcess
{
public:
    using Clock = std::chrono::steady_clock;
    enum class Got { line, nothing, end };

    static Result<ChildProcess> start(const ChildProgram& program);
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;
    ~ChildProcess();

    /// Fails where the program has left, or does not take the line until then.
    Result<void> writeLine(std::string_view line, Clock::time_point until);

    /// The program finds the end of its input.
    void closeInput();

    /// False once it has left.
    bool running();

    /// The next line of its standard output without its end. Fails for one that is longer than maxLineBytes.
    Result<Got> readLine(std::string& line, Clock::time_point until);

    /// Closes its input and waits for it to leave; kills it and what it started when it has not until then. Says what
    /// became of it: "ended with status 3".
    std::string end(Clock::time_point until);
    std::string kill() { return end(Clock::time_point::min()); }

    /// The end of what it wrote to its standard error.
    std::string errors() const;

    static constexpr std::size_t maxLineBytes = std::size_t {16} << 20;
    static constexpr std::chrono::seconds patience {2}; ///< of the destructor

private:
    struct State;
    explicit ChildProcess(std::unique_ptr<State> state);

    std::unique_ptr<State> m_state;
};

} // namespace nanscope::platform
