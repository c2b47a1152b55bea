// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json_fwd.hpp>

#include "core/model/model.h"

namespace nanscope {

using Json = nlohmann::ordered_json;

class JsonAnswer;

/// Part of the contract with scripts (design section 9).
enum ExitStatus {
    exitDone = 0,
    exitInternal = 1,
    exitUsage = 2,
    exitRejected = 3,
    exitNothing = 4,
    exitCancelled = 5,
    exitFailOn = 6,
};

ExitStatus exitStatusOf(ErrorKind kind);

enum class LogLevel { error, warning, info, debug };

struct TerminalOptions
{
    bool json = false;
    bool progressJsonl = false;
    bool progressLine = true;
    LogLevel level = LogLevel::warning;
};

/// Answers on stdout, everything else on stderr; a progress line only on a terminal.
class Terminal
{
public:
    Terminal(TerminalOptions options, CancelToken cancel);
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    bool json() const { return m_options.json; }
    const CancelToken& cancelToken() const { return m_cancel; }

    /// Lines of text. What a file, a session or a child process said is a part of one line only if it went through
    /// printable() where the line was built.
    void print(std::string_view text);
    void printJson(const Json& answer);
    void printAnswer(const JsonAnswer& answer);

    /// The answer as JSON or as text, of which only the one that is asked for is made.
    template <class MakeJson, class MakeText>
    void answer(const MakeJson& makeJson, const MakeText& makeText)
    {
        if (!json()) {
            print(makeText());
        } else if constexpr (std::is_same_v<decltype(makeJson()), JsonAnswer>) {
            printAnswer(makeJson());
        } else {
            printJson(makeJson());
        }
    }

    /// One line on stderr for a reader who waits at a terminal; nothing with --json.
    void news(const std::string& text);
    /// One sentence on stderr, where the level asks for it.
    void say(LogLevel level, const std::string& text);
    void error(const Error& error);
    /// One sentence each, with the whole path.
    void rejected(const RunData& run);

    JobContext job();
    void progress(const Progress& progress);
    /// For programs that follow a sweep: the cell itself. A person sees the progress line move on.
    void cellDone(const Progress& progress, const Cell& cell);
    void cellDone(const Progress& progress, const Json& cell);

    /// False if stdout took less than what was printed: the disk is full, or the reader went away.
    bool flushed();

private:
    void showLine(const Progress& progress);
    void showJson(const Progress& progress, const Json* cell);
    void clearLine();
    std::optional<double> secondsLeft(const Progress& progress) const;

    using Clock = std::chrono::steady_clock;
    TerminalOptions m_options;
    CancelToken m_cancel;
    bool m_watched;
    bool m_lineShown = false;
    std::string m_phase;
    Clock::time_point m_phaseStart;
    Clock::time_point m_lastShown;
};

} // namespace nanscope
