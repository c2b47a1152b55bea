// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "core/base/utf8.h"
#include "core/platform/childprocess.h"
#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using namespace std::chrono_literals;
using nanscope::platform::ChildProcess;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

namespace fs = std::filesystem;

namespace {

constexpr auto patience = 120s; // a large call is judged in a quarter of that on two idle cores

/// A running `nanscope watch`.
class Watching
{
public:
    explicit Watching(const WorkFolder& folder, const std::vector<std::string>& arguments)
        : m_child(start(folder, arguments))
    {
        m_pid = std::stoi(line());
    }

    /// The next line, an empty one where none comes.
    std::string line()
    {
        std::string text;
        const auto got = m_child.readLine(text, ChildProcess::Clock::now() + patience);
        return got && *got == ChildProcess::Got::line ? text : std::string();
    }

    Json event() { return Json::parse(line(), nullptr, false); }

    /// The next event of this kind; those before it are passed over.
    Json event(const std::string& kind)
    {
        for (auto text = line(); !text.empty(); text = line()) {
            if (auto json = Json::parse(text, nullptr, false); json.value("kind", "") == kind) {
                return json;
            }
        }
        return {};
    }

    /// Until it has said something on standard error, and no line before.
    void awaitSentence()
    {
        const auto end = ChildProcess::Clock::now() + patience;
        std::string text;
        while (m_child.errors().empty() && ChildProcess::Clock::now() < end) {
            ASSERT_EQ(m_child.readLine(text, ChildProcess::Clock::now() + 20ms), ChildProcess::Got::nothing);
        }
    }

    void interrupt() const { ::kill(m_pid, SIGINT); }
    std::string end() { return m_child.end(ChildProcess::Clock::now() + patience); }
    /// What it wrote to standard error, once it has ended.
    std::string errors() const { return m_child.errors(); }

private:
    static ChildProcess start(const WorkFolder& folder, const std::vector<std::string>& arguments)
    {
        nanscope::platform::ChildProgram program {"/bin/sh",
            {"-c", "echo $$; exec \"$0\" watch \"$@\"", NANSCOPE_PROGRAM}, {{"XDG_DATA_HOME", folder / "data"}}};
        program.arguments.insert(program.arguments.end(), arguments.begin(), arguments.end());
        return std::move(*ChildProcess::start(program));
    }

    ChildProcess m_child;
    pid_t m_pid = 0;
};

class WatchTest : public ::testing::Test
{
protected:
    void SetUp() override
    {
        fs::create_directories(m_run);
        append("Step 0: train_loss=1.5, grad_norm=0.25\n");
    }

    /// As a trainer that wants no reader to see half of it.
    std::string drop(const std::string& name, const MadeCapture& wanted = {}) const
    {
        const auto written = writeCapture(m_folder / "half.pt", wanted);
        auto path = m_run + "/" + name;
        fs::rename(written, path);
        return path;
    }

    void append(const std::string& text) const { std::ofstream(m_run + "/train.log", std::ios::app) << text; }

    Watching watching(std::vector<std::string> more = {}) const
    {
        more.insert(more.begin(), {m_run, "--json"});
        return Watching(m_folder, more);
    }

    WorkFolder m_folder;
    std::string m_run = m_folder / "run";
};

MadeCapture sized(std::int64_t rows)
{
    MadeCapture made;
    made.rows = rows;
    return made;
}

bool keepsDiagnosis(sqlite3* session)
{
    bool found = false;
    const auto each = [](void* to, int, char**, char**) {
        *static_cast<bool*>(to) = true;
        return 0;
    };
    sqlite3_exec(session, "SELECT 1 FROM facts WHERE name = 'diagnosis' AND value <> ''", each, &found, nullptr);
    return found;
}

void awaitDiagnosis(sqlite3* session)
{
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!keepsDiagnosis(session) && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(200ms);
    }
    EXPECT_TRUE(keepsDiagnosis(session));
}

void execute(sqlite3* session, const char* sql)
{
    EXPECT_EQ(sqlite3_exec(session, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(session);
}

std::string textOf(const fs::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST_F(WatchTest, TellsOfADumpAndOfItsVerdictAndEndsWithASum)
{
    auto watch = watching();
    const auto sum = watch.event();
    EXPECT_EQ(sum["schema"], "nanscope.watch/1");
    EXPECT_EQ(sum["kind"], "watching");
    EXPECT_EQ(sum["captures"], 0);
    EXPECT_EQ(sum["series"], 2);
    const auto path = drop("a_rank3.pt");
    const auto dump = watch.event();
    EXPECT_EQ(dump["kind"], "dump");
    EXPECT_EQ(dump["role"], "birth");
    EXPECT_EQ(dump["shape"], Json({1, 24, 40}));
    EXPECT_EQ(dump["file"], path);
    const auto verdict = watch.event();
    EXPECT_EQ(verdict["kind"], "verdict");
    EXPECT_EQ(verdict["capture"], "a_rank3.pt");
    EXPECT_TRUE(verdict["verdict"].is_string());
    watch.interrupt();
    const auto end = watch.event();
    EXPECT_EQ(end["kind"], "end");
    EXPECT_EQ(end["dumps"], 1);
    EXPECT_EQ(end["verdicts"], 1);
    EXPECT_EQ(watch.end(), "ended with status 0");
    EXPECT_EQ(watch.errors(), "");
}

TEST_F(WatchTest, TellsBetweenWhichStepsADumpLies)
{
    fs::copy(sample, m_folder / "sample", fs::copy_options::recursive);
    Watching watch(m_folder, {m_folder / "sample", "--all", "--json", "--until", "verdict"});
    const auto dump = watch.event("dump");
    EXPECT_EQ(dump["role"], "birth");
    EXPECT_EQ(dump["between"], Json({5, 6}));
    EXPECT_EQ(dump["step_source"], "console");
    watch.event("end");
    EXPECT_EQ(watch.end(), "ended with status 0");
}

TEST_F(WatchTest, KeepsTheVerdictInTheSessionOfTheFolder)
{
    auto watch = watching({"--session", m_folder / "s.nanscope", "--until", "verdict"});
    watch.event();
    drop("a.pt");
    const auto verdict = watch.event("verdict");
    EXPECT_EQ(watch.end(), "ended with status 0");
    const auto kept = run({"list", m_folder / "s.nanscope", "--json"}).json();
    EXPECT_EQ(kept["captures"].size(), 1U);
    const auto judged = run({"diagnose", m_folder / "s.nanscope", "--json"}).json();
    EXPECT_EQ(judged["captures"][0]["verdict"], verdict["verdict"]);
}

TEST_F(WatchTest, TellsOfTheFirstBadValueOfASeriesOnce)
{
    auto watch = watching();
    watch.event();
    append("Step 1: train_loss=nan, grad_norm=0.25\n");
    const auto first = watch.event();
    EXPECT_EQ(first["kind"], "nonfinite");
    EXPECT_EQ(first["series"], "loss");
    EXPECT_EQ(first["value"], "nan");
    EXPECT_EQ(first["step"], 1);
    EXPECT_EQ(first["source"], "train.log");
    EXPECT_EQ(first["line"], 2);
    append("Step 2: train_loss=nan, grad_norm=inf\n");
    const auto second = watch.event();
    EXPECT_EQ(second["series"], "grad_norm");
    EXPECT_EQ(second["value"], "inf");
    EXPECT_EQ(second["line"], 3);
}

TEST_F(WatchTest, SumsUpWhatWasThereUnlessAskedForAll)
{
    drop("old.pt");
    append("Step 1: train_loss=nan, grad_norm=0.25\n");
    {
        auto watch = watching();
        const auto sum = watch.event();
        EXPECT_EQ(sum["captures"], 1);
        EXPECT_EQ(sum["births"], 1);
        EXPECT_EQ(sum["nonfinite_series"], 1);
        drop("new.pt", sized(16));
        EXPECT_EQ(watch.event()["capture"], "new.pt");
        EXPECT_EQ(watch.event()["capture"], "new.pt") << "and its verdict, no other";
        watch.interrupt();
        EXPECT_EQ(watch.event()["kind"], "end");
    }
    auto all = watching({"--all", "--until", "nonfinite"});
    EXPECT_EQ(all.event()["captures"], 2);
    EXPECT_EQ(all.event()["kind"], "dump");
    EXPECT_EQ(all.event()["kind"], "dump");
    EXPECT_EQ(all.event("nonfinite")["line"], 2);
    EXPECT_EQ(all.event("end")["nonfinite"], 1);
    EXPECT_EQ(all.end(), "ended with status 0");
}

TEST_F(WatchTest, TellsOnceWhatCameInDamagedInAStep)
{
    auto watch = watching();
    watch.event();
    MadeCapture damaged;
    damaged.nanInput = true;
    drop("layer1_step4.pt", damaged);
    EXPECT_EQ(watch.event("dump")["role"], "upstream");
    const auto verdict = watch.event("verdict");
    EXPECT_EQ(verdict["verdict"], "upstream");
    EXPECT_EQ(verdict["step"], 4);
    damaged.rows = 8;
    drop("layer2_step4.pt", damaged);
    EXPECT_EQ(watch.event("dump")["capture"], "layer2_step4.pt");
    drop("birth_step9.pt");
    const auto next = watch.event("verdict");
    EXPECT_NE(next["capture"], "layer2_step4.pt") << "likewise, in the same step";
    watch.interrupt();
}

TEST_F(WatchTest, TellsOfDumpsInTheOrderOfTheirTimes)
{
    const std::string later = "dion_nan_capture_rank0_shape16x16_pid7_1700000009000.pt";
    const std::string first = "dion_nan_capture_rank1_shape16x16_pid8_1700000001000.pt";
    drop(later);
    drop(first, sized(8));
    auto watch = watching({"--all"});
    EXPECT_EQ(watch.event()["captures"], 2);
    EXPECT_EQ(watch.event("dump")["capture"], first);
    EXPECT_EQ(watch.event("dump")["capture"], later);
    watch.interrupt();
}

TEST_F(WatchTest, GivesTheCommandItsFactsAndRunsNothingOfAFileName)
{
    const auto trap = m_folder / "trap";
    const std::string hostile = "a$(touch trap)`touch trap`;'\"\n\x1b[2J_rank0.pt";
    const auto got = m_folder / "got";
    auto watch = watching({"--until", "dump", "--exec",
        "cd '" + m_folder.path().string()
            + "'; cat >>got; eval \"echo $NANSCOPE_FILE\" >>variables; "
              "echo $NANSCOPE_KIND >>variables"});
    watch.event();
    const auto path = drop(hostile);
    const auto told = watch.event();
    EXPECT_EQ(told["file"], path);
    watch.event("end");
    EXPECT_EQ(watch.end(), "ended with status 0");
    // The verdict may be there in the same look, and is told to the command, too.
    const auto lines = textOf(got);
    EXPECT_EQ(Json::parse(lines.substr(0, lines.find('\n')), nullptr, false), told);
    EXPECT_THAT(textOf(m_folder / "variables"), AllOf(HasSubstr("a__touch trap"), HasSubstr("\ndump\n")));
    EXPECT_FALSE(fs::exists(trap));
}

TEST_F(WatchTest, GoesOnWhereCommandsHangAndFail)
{
    auto watch = watching({"--exec", "test $NANSCOPE_KIND = dump && sleep 1000; echo no pager here >&2; exit 3"});
    watch.event();
    for (std::int64_t i = 0; i < 6; ++i) {
        drop("d" + std::to_string(i) + ".pt", sized(8 + i));
        EXPECT_EQ(watch.event("dump")["capture"], "d" + std::to_string(i) + ".pt");
    }
    watch.interrupt();
    watch.event("end");
    EXPECT_EQ(watch.end(), "ended with status 0");
    EXPECT_THAT(watch.errors(), HasSubstr("The command was not run for "));

    auto failing = watching({"--exec", "echo no pager here >&2; exit 3", "--until", "verdict"});
    failing.event();
    drop("last.pt", sized(20));
    failing.event("end");
    EXPECT_EQ(failing.end(), "ended with status 0");
    const auto errors = failing.errors();
    EXPECT_THAT(errors, HasSubstr("The command ended with status 3: no pager here;"));
    EXPECT_EQ(errors.find("The command"), errors.rfind("The command")) << "said once";
}

TEST_F(WatchTest, WaitsForAFolderAndTellsOfAllItHolds)
{
    const auto later = m_folder / "later";
    Watching watch(m_folder, {later, "--json", "--until", "verdict"});
    watch.awaitSentence();
    drop("a.pt");
    fs::rename(m_run, later);
    EXPECT_EQ(watch.event()["kind"], "watching");
    EXPECT_EQ(watch.event()["kind"], "dump");
    EXPECT_EQ(watch.event()["kind"], "verdict");
    watch.event("end");
    EXPECT_EQ(watch.end(), "ended with status 0");
    EXPECT_EQ(watch.errors(), "There is no such folder yet; it is waited for: " + later + "\n");
}

TEST_F(WatchTest, FollowsAFolderThatGoesAndComesBack)
{
    auto watch = watching();
    watch.event();
    drop("a.pt");
    watch.event("verdict");
    fs::rename(m_run, m_folder / "away");
    fs::create_directories(m_run);
    drop("b.pt", sized(16));
    EXPECT_EQ(watch.event("dump")["capture"], "b.pt");
    drop("c.pt", sized(20));
    EXPECT_EQ(watch.event("dump")["capture"], "c.pt");
    watch.interrupt();
    watch.event("end");
    EXPECT_EQ(watch.end(), "ended with status 0");
}

TEST_F(WatchTest, GoesOnWithoutASessionThatCannotBeUsed)
{
    writeText(m_folder / "s.nanscope", "no session");
    auto watch = watching({"--session", m_folder / "s.nanscope"});
    EXPECT_TRUE(watch.event()["session"].is_null());
    drop("a.pt");
    EXPECT_EQ(watch.event()["kind"], "dump");
    EXPECT_EQ(watch.event()["kind"], "verdict");
    append("Step 1: train_loss=nan\n");
    EXPECT_EQ(watch.event()["kind"], "nonfinite");
    watch.interrupt();
    EXPECT_EQ(watch.event()["kind"], "end");
    EXPECT_EQ(watch.end(), "ended with status 0");
    EXPECT_THAT(watch.errors(), HasSubstr("The run is watched without its session for now; "));
    EXPECT_EQ(textOf(m_folder / "s.nanscope"), "no session");
}

TEST_F(WatchTest, TellsOfTheNextDumpWhileALargeOneIsJudgedAndALogGrows)
{
    auto watch = watching();
    watch.event();
    std::atomic<bool> done = false;
    std::thread trainer([&] {
        for (int step = 1; !done; ++step) {
            append("Step " + std::to_string(step) + ": train_loss=1.5, grad_norm=0.25\n");
            std::this_thread::sleep_for(10ms);
        }
    });
    drop("large.pt", {768, 1024, false, true});
    EXPECT_EQ(watch.event()["capture"], "large.pt");
    drop("small.pt");
    const auto next = watch.event();
    EXPECT_EQ(next["kind"], "dump") << "not the verdict of the large one";
    EXPECT_EQ(next["capture"], "small.pt");
    std::vector<std::string> judged {watch.event("verdict")["capture"], watch.event("verdict")["capture"]};
    EXPECT_THAT(judged, ElementsAre("large.pt", "small.pt"));
    done = true;
    trainer.join();
}

TEST_F(WatchTest, JudgesADumpOnceThatIsWrittenSlowlyAndAddedToAfterwards)
{
    auto watch = watching();
    watch.event();
    const auto whole = textOf(writeCapture(m_folder / "whole.pt", {}));
    const auto path = m_run + "/slow.pt";
    for (std::size_t at = 0; at < whole.size(); at += whole.size() / 8 + 1) {
        std::ofstream(path, std::ios::app) << whole.substr(at, whole.size() / 8 + 1);
        std::this_thread::sleep_for(600ms);
    }
    EXPECT_EQ(watch.event()["kind"], "dump");
    EXPECT_EQ(watch.event()["kind"], "verdict");
    // The same tensors in other bytes, as a program leaves them that adds to its file.
    MadeCapture more;
    more.epsilon = 1e-6;
    fs::copy_file(writeCapture(m_folder / "more.pt", more), path, fs::copy_options::overwrite_existing);
    drop("next.pt", sized(16));
    EXPECT_EQ(watch.event("verdict")["capture"], "next.pt");
    watch.interrupt();
    EXPECT_EQ(watch.event("end")["dumps"], 2);
    EXPECT_EQ(watch.end(), "ended with status 0");
    EXPECT_EQ(watch.errors(), "") << "while it was written nothing was wrong with it";
}

TEST_F(WatchTest, TellsOnceWhatIsInARotatedLogAndItsCopy)
{
    auto watch = watching();
    watch.event();
    append("Step 1: train_loss=nan, grad_norm=0.25\n");
    EXPECT_EQ(watch.event()["step"], 1);
    fs::copy_file(m_run + "/train.log", m_run + "/console.log");
    std::ofstream(m_run + "/console.log", std::ios::app) << "and a line of the launcher\n";
    fs::rename(m_run + "/train.log", m_run + "/train.log.1");
    append("Step 2: train_loss=nan, grad_norm=0.25\n");
    drop("a.pt");
    EXPECT_EQ(watch.event()["kind"], "dump") << "no other bad value";
    EXPECT_EQ(watch.event()["kind"], "verdict");
    watch.interrupt();
    EXPECT_EQ(watch.event()["nonfinite"], 1);
}

TEST_F(WatchTest, StoresWhatItToldOnceItsSessionCanBeWrittenAgain)
{
    const auto session = m_folder / "s.nanscope";
    auto watch = watching({"--session", session});
    watch.event();
    sqlite3* holder = nullptr;
    ASSERT_EQ(sqlite3_open(session.c_str(), &holder), SQLITE_OK);
    sqlite3_busy_timeout(holder, 30'000);
    ASSERT_EQ(sqlite3_exec(holder, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    drop("a.pt");
    EXPECT_EQ(watch.event()["kind"], "dump");
    const auto verdict = watch.event();
    EXPECT_EQ(verdict["kind"], "verdict");
    append("Step 1: train_loss=nan, grad_norm=0.25\n");
    EXPECT_EQ(watch.event()["kind"], "nonfinite");
    EXPECT_EQ(sqlite3_exec(holder, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
    awaitDiagnosis(holder);
    sqlite3_close(holder);
    watch.interrupt();
    EXPECT_EQ(watch.event("end")["verdicts"], 1) << "nothing was told twice";
    EXPECT_EQ(watch.end(), "ended with status 0");
    const auto errors = watch.errors();
    EXPECT_EQ(std::ranges::count(errors, '\n'), 1) << errors;
}

TEST_F(WatchTest, JudgesOnceADumpThatIsWrittenAgainWhileItIsJudged)
{
    MadeCapture made {768, 1024, false, true};
    const auto first = writeCapture(m_folder / "first.pt", made);
    made.epsilon = 1e-6;
    const auto again = writeCapture(m_folder / "again.pt", made);
    auto watch = watching();
    watch.event();
    fs::rename(first, m_run + "/large.pt");
    EXPECT_EQ(watch.event()["kind"], "dump");
    std::this_thread::sleep_for(100ms);
    fs::rename(again, m_run + "/large.pt");
    EXPECT_THAT(watch.event("verdict")["capture"].get<std::string>(), ::testing::EndsWith("large.pt"));
    drop("last.pt");
    EXPECT_EQ(watch.event("verdict")["capture"], "last.pt") << "not the large one once more";
    watch.interrupt();
    const auto end = watch.event("end");
    EXPECT_EQ(end["verdicts"], 2);
    EXPECT_EQ(end["dumps"], 2);
}

TEST_F(WatchTest, TriesItsSessionAgainSoonWhereNothingElseHappens)
{
    const auto session = m_folder / "s.nanscope";
    writeText(session, "no session");
    auto watch = watching({"--session", session});
    EXPECT_TRUE(watch.event()["session"].is_null());
    std::this_thread::sleep_for(8s); // longer than it rests at first
    fs::remove(session);
    const auto end = std::chrono::steady_clock::now() + 15s;
    while (!fs::exists(session) && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(100ms);
    }
    EXPECT_TRUE(fs::exists(session));
}

TEST_F(WatchTest, SaysWhereTheValuesOfLogsCannotBeRead)
{
    const auto session = m_folder / "s.nanscope";
    auto watch = watching({"--session", session});
    watch.event();
    sqlite3* holder = nullptr;
    ASSERT_EQ(sqlite3_open(session.c_str(), &holder), SQLITE_OK);
    sqlite3_busy_timeout(holder, 30'000);
    execute(holder, "UPDATE chunks SET bits = x'00'");
    sqlite3_close(holder);
    drop("a.pt");
    EXPECT_EQ(watch.event()["kind"], "dump");
    EXPECT_EQ(watch.event()["kind"], "verdict");
    watch.interrupt();
    watch.event("end");
    EXPECT_EQ(watch.end(), "ended with status 0");
    EXPECT_THAT(watch.errors(), HasSubstr("The values of the logs could not be read from the session: "));
    EXPECT_THAT(watch.errors(), Not(HasSubstr("without its session")));
}

TEST_F(WatchTest, LetsNoFileNameSteerATerminalOrBeginALine)
{
    const std::string hostile = "h\x1b]0;owned\x07\x1b[2J\u202e\nForged_rank0.pt";
    Watching watch(m_folder, {m_run, "--until", "verdict"});
    std::vector<std::string> lines {watch.line()};
    drop(hostile);
    writeText(m_run + "/bad" + hostile, "nothing");
    for (auto line = watch.line(); !line.empty(); line = watch.line()) {
        lines.push_back(line);
    }
    EXPECT_EQ(watch.end(), "ended with status 0");
    EXPECT_EQ(lines.size(), 4U) << ::testing::PrintToString(lines);
    for (const auto& line : lines) {
        EXPECT_EQ(line, nanscope::printable(line));
        EXPECT_THAT(line, HasSubstr(" UTC  ")) << "a line of its own";
    }
}

TEST_F(WatchTest, RefusesWhatIsNoFolder)
{
    const auto file = drop("a.pt");
    for (const auto& arguments : {std::vector<std::string> {"watch", file}, {"watch", m_run, "--until", "nan"},
             {"watch", m_run, "--until", "end"}}) {
        const auto done = run(arguments);
        EXPECT_EQ(done.status, 2) << done.err;
        EXPECT_THAT(done.errors(), ::testing::SizeIs(1)) << done.err;
    }
}
