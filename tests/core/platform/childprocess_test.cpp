// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/childprocess.h"

#include <cerrno>
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nanscope {

namespace {

using namespace std::chrono_literals;
using Got = platform::ChildProcess::Got;
using testing::HasSubstr;

/// Long enough that only a fault reaches it.
platform::ChildProcess::Clock::time_point later()
{
    return platform::ChildProcess::Clock::now() + 60s;
}

platform::ChildProcess shell(const std::string& script, std::vector<std::pair<std::string, std::string>> variables = {})
{
    auto child = platform::ChildProcess::start({"/bin/sh", {"-c", script}, std::move(variables)});
    if (!child) {
        throw std::runtime_error(sentence(child.error()));
    }
    return std::move(*child);
}

std::string readOne(platform::ChildProcess& child)
{
    std::string line;
    const auto got = child.readLine(line, later());
    return got && *got == Got::line ? line : "(no line)";
}

bool ended(platform::ChildProcess& child)
{
    std::string line;
    const auto got = child.readLine(line, later());
    return got && *got == Got::end;
}

/// True where no child of this process is left to be waited for.
bool noChildren()
{
    return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

/// False for a zombie, too: nobody may be there to reap an orphan.
bool runs(pid_t process)
{
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto state = text.rfind(") ");
    return state != std::string::npos && text[state + 2] != 'Z';
}

} // namespace

TEST(ChildProcess, AnswersLineByLine)
{
    auto child = shell("while read -r line; do echo \"<$line>\"; done");
    ASSERT_TRUE(child.writeLine("one", later()));
    EXPECT_EQ(readOne(child), "<one>");
    ASSERT_TRUE(child.writeLine("", later()));
    ASSERT_TRUE(child.writeLine("two  words", later()));
    EXPECT_EQ(readOne(child), "<>");
    EXPECT_EQ(readOne(child), "<two  words>");
    EXPECT_EQ(child.end(later()), "ended with status 0");
    EXPECT_TRUE(noChildren());
}

TEST(ChildProcess, PassesWordsAndVariablesUnchanged)
{
    auto child = platform::ChildProcess::start(
        {"/bin/sh", {"-c", "printf '%s\\n' \"$1\" \"$GREETING\" \"$HOME\"", "x", "a 'b' $c"},
            {{"GREETING", "two words"}, {"HOME", "elsewhere"}}});
    ASSERT_TRUE(child);
    EXPECT_EQ(readOne(*child), "a 'b' $c");
    EXPECT_EQ(readOne(*child), "two words");
    EXPECT_EQ(readOne(*child), "elsewhere");
    EXPECT_TRUE(ended(*child));
}

TEST(ChildProcess, AVariableIsGivenOnce)
{
    auto child = platform::ChildProcess::start({"/usr/bin/env", {}, {{"PATH", "elsewhere"}}});
    ASSERT_TRUE(child);
    std::vector<std::string> found;
    for (auto line = readOne(*child); line != "(no line)"; line = readOne(*child)) {
        if (line.starts_with("PATH=")) {
            found.push_back(line);
        }
    }
    EXPECT_THAT(found, testing::ElementsAre("PATH=elsewhere"));
}

TEST(ChildProcess, OneDoesNotHoldThePipesOfAnother)
{
    auto first = shell("cat >/dev/null");
    auto second = shell("cat >/dev/null");
    EXPECT_EQ(first.end(later()), "ended with status 0");
}

TEST(ChildProcess, CarriesLinesLargerThanAnyPipeBothWays)
{
    auto child = shell("cat");
    const std::string large(std::size_t {3} << 20, 'x');
    // Nobody reads while this is written, so what comes back has to be taken in meanwhile.
    ASSERT_TRUE(child.writeLine(large, later()));
    ASSERT_TRUE(child.writeLine("end", later()));
    EXPECT_EQ(readOne(child), large);
    EXPECT_EQ(readOne(child), "end");
}

TEST(ChildProcess, SaysHowTheProgramEnded)
{
    auto status = shell("echo last; echo why >&2; exit 7");
    EXPECT_EQ(readOne(status), "last");
    EXPECT_TRUE(ended(status));
    EXPECT_EQ(status.end(later()), "ended with status 7");
    EXPECT_EQ(status.errors(), "why\n");
    auto signal = shell("kill -9 $$");
    EXPECT_TRUE(ended(signal));
    EXPECT_EQ(signal.end(later()), "was ended by signal 9");
    EXPECT_TRUE(noChildren());
}

TEST(ChildProcess, LastWordsAreHeardThoughNobodyReadUntilThen)
{
    auto child = shell("echo why >&2; exit 7");
    siginfo_t info {};
    ASSERT_EQ(::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(child.end(later()), "ended with status 7");
    EXPECT_EQ(child.errors(), "why\n");
}

TEST(ChildProcess, WritingToOneThatLeftFailsAndDoesNotEndThisProgram)
{
    auto child = shell("exit 0");
    EXPECT_TRUE(ended(child));
    // The first line may still fit the pipe of a program that is on its way out.
    auto written = child.writeLine("x", later());
    for (int i = 0; written && i < 100; ++i) {
        written = child.writeLine(std::string(1 << 20, 'x'), later());
    }
    ASSERT_FALSE(written);
    EXPECT_THAT(sentence(written.error()), HasSubstr("takes no more input: /bin/sh"));
}

TEST(ChildProcess, AProgramThatCannotBeStartedIsOneSentence)
{
    for (const auto* path : {"/nonexistent/worker", "/etc/passwd", "/", ""}) {
        const auto child = platform::ChildProcess::start({path, {}, {}});
        ASSERT_FALSE(child) << path;
        EXPECT_THAT(sentence(child.error()), testing::StartsWith("The program cannot be started")) << path;
    }
    EXPECT_TRUE(noChildren());
}

TEST(ChildProcess, SilenceIsNothingAndNoEnd)
{
    auto child = shell("read -r line; echo $line");
    std::string line;
    const auto got = child.readLine(line, platform::ChildProcess::Clock::now() + 5ms);
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, Got::nothing);
    ASSERT_TRUE(child.writeLine("awake", later()));
    EXPECT_EQ(readOne(child), "awake");
}

TEST(ChildProcess, ALineWithoutEndIsRefused)
{
    auto child = shell("exec cat /dev/zero");
    std::string line;
    const auto got = child.readLine(line, later());
    ASSERT_FALSE(got);
    EXPECT_THAT(got.error().what, HasSubstr("line without end"));
    EXPECT_EQ(child.kill(), "did not leave and was killed");
    EXPECT_TRUE(noChildren());
}

TEST(ChildProcess, FloodsNeitherBlockNorFillTheMemory)
{
    auto child = shell("yes complaint >&2 & yes answer");
    for (int i = 0; i < 100000; ++i) {
        ASSERT_EQ(readOne(child), "answer");
    }
    EXPECT_LE(child.errors().size(), 4000U);
    // It reads nothing, so its pipe is full after a while.
    const auto written = child.writeLine(std::string(1 << 20, 'x'), platform::ChildProcess::Clock::now() + 50ms);
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().what, HasSubstr("did not take its input"));
    EXPECT_EQ(child.kill(), "did not leave and was killed");
}

TEST(ChildProcess, ErrorsAloneDoNotHideThatNothingWasAnswered)
{
    auto child = shell("while :; do echo complaint >&2; done");
    std::string line;
    const auto got = child.readLine(line, platform::ChildProcess::Clock::now() + 20ms);
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, Got::nothing);
    child.kill();
}

TEST(ChildProcess, TheEndOfOneThatLeftSomethingRunningIsSeen)
{
    // The background process keeps the pipe open.
    auto child = shell("sleep 1000 & echo $!; exit 3");
    const auto left = static_cast<pid_t>(std::stol(readOne(child)));
    EXPECT_TRUE(ended(child));
    EXPECT_EQ(child.end(later()), "ended with status 3");
    ::kill(left, SIGKILL);
}

TEST(ChildProcess, OneThatDoesNotLeaveIsKilledWithWhatItStarted)
{
    pid_t started = 0;
    {
        auto child = shell("trap '' TERM INT HUP; sleep 1000 & echo $!; wait; wait");
        started = static_cast<pid_t>(std::stol(readOne(child)));
        EXPECT_TRUE(runs(started));
        EXPECT_EQ(child.end(platform::ChildProcess::Clock::now() + 10ms), "did not leave and was killed");
    }
    EXPECT_TRUE(noChildren());
    // The signal is on its way; the test's own time limit ends a wait in vain.
    while (runs(started)) {
        ::usleep(1000);
    }
}

TEST(ChildProcess, TheDestructorLeavesNoProcess)
{
    {
        auto child = shell("cat >/dev/null");
        auto moved = std::move(child);
        moved = shell("cat >/dev/null");
    }
    EXPECT_TRUE(noChildren());
}

TEST(ChildProcess, TakesNoSignalMeantForTheCallersGroup)
{
    auto child = shell("ps -o pgid= -p $$ || cut -d' ' -f5 /proc/$$/stat");
    EXPECT_NE(std::stol(readOne(child)), static_cast<long>(::getpgrp()));
}

TEST(ChildProcess, StartsWithSignalsAsAShellLeavesThem)
{
    const auto before = std::signal(SIGINT, SIG_IGN);
    auto child = shell("kill -INT $$; echo survived");
    EXPECT_TRUE(ended(child));
    EXPECT_EQ(child.end(later()), "was ended by signal 2");
    std::signal(SIGINT, before);
}

} // namespace nanscope
