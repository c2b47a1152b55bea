// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Files that are damaged, hostile or not what they are called: each is named once, and the rest of the folder is read.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "core/session/session.h"
#include "logfolder.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class BadInput : public LogFolder
{
protected:
    void SetUp() override { m_folder.write("run/good.log", "Step 7: train_loss=1.5000, grad_norm=2.0000\n"); }

    /// Imports the folder twice, since what is named once must not be named again.
    RunData imported()
    {
        auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
        EXPECT_TRUE(session);
        EXPECT_TRUE(ingest::importRun(m_folder.path() / "run", *session));
        const auto run = ingest::importRun(m_folder.path() / "run", *session);
        EXPECT_TRUE(run) << run.error().what;
        return run.value_or(RunData {});
    }

    static std::vector<std::string> rejected(const RunData& run)
    {
        std::vector<std::string> names;
        for (const auto& rejection : run.rejected) {
            names.push_back(rejection.path);
        }
        return names;
    }

    static std::int64_t pointsOf(const RunData& run, const std::string& source, const std::string& name = "loss")
    {
        std::int64_t points = 0;
        for (const auto& series : run.series) {
            points += series.source == source && series.name == name ? series.pointCount : 0;
        }
        return points;
    }

    static std::string rubbish(std::size_t size)
    {
        std::string bytes;
        for (unsigned i = 0; i < size; ++i) {
            bytes += static_cast<char>(i * 2654435761U >> 24U);
        }
        return bytes;
    }

    static std::string wide(const std::string& text)
    {
        std::string bytes;
        for (const char c : text) {
            bytes += c;
            bytes += '\0';
        }
        return bytes;
    }

    static std::int64_t peakMemoryKb()
    {
        std::ifstream status("/proc/self/status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("VmHWM:")) {
                return std::stoll(line.substr(6));
            }
        }
        return -1;
    }
};

TEST_F(BadInput, rubbishNamedLikeALogIsNamedAndOtherRubbishIsNot)
{
    m_folder.write("run/rubbish.log", rubbish(100'000));
    m_folder.write("run/core.1234", rubbish(100'000));
    m_folder.write("run/a.out",
        "\x7f"
        "ELF"
            + rubbish(1000));
    const auto run = imported();
    EXPECT_THAT(rejected(run), ElementsAre("rubbish.log"));
    EXPECT_THAT(run.rejected.at(0).reason, HasSubstr("not text"));
    EXPECT_EQ(pointsOf(run, "good.log"), 1);
    EXPECT_THAT(run.series, SizeIs(2));
}

TEST_F(BadInput, wideCharactersAndPointersAreNamedWithAdvice)
{
    m_folder.write("run/a_mark.log", "\xff\xfe" + wide("Step 0: train_loss=1.0000\n"));
    m_folder.write("run/b_bare.log", wide("Step 0: train_loss=1.0000\nStep 1: train_loss=1.0000\n"));
    m_folder.write("run/c_lfs.log", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n");
    const auto run = imported();
    EXPECT_THAT(rejected(run), ElementsAre("a_mark.log", "b_bare.log", "c_lfs.log"));
    EXPECT_THAT(run.rejected.at(0).reason, HasSubstr("UTF-8"));
    EXPECT_THAT(run.rejected.at(1).reason, HasSubstr("UTF-8"));
    EXPECT_THAT(run.rejected.at(2).reason, HasSubstr("git lfs pull"));
    EXPECT_EQ(pointsOf(run, "good.log"), 1);
}

TEST_F(BadInput, zerosInALineAreNoPartOfIt)
{
    const std::string zeros(3, '\0');
    const auto log = read("a.log",
        "Step 0: train_" + zeros + "loss=1.0000\n" + zeros + "Step 1: train_loss=2.0000\n" + "Step 2: train_loss=3.0"
            + zeros + "000\n");
    EXPECT_THAT(values(find(log, "loss")), ElementsAre(1, 2, 3));
}

TEST_F(BadInput, aLineOfTwoGigabytesTakesNoMemory)
{
    const auto path = m_folder.write("run/long.log", "Step 0: train_loss=1.0000\nx");
    constexpr std::uintmax_t size = std::uintmax_t {2} << 30;
    std::error_code error;
    std::filesystem::resize_file(path, size, error);
    if (error) {
        GTEST_SKIP() << "no room for a sparse file";
    }
    m_folder.write("run/long.log", "\nStep 1: train_loss=2.0000\n", true);
    const auto before = peakMemoryKb();
    const auto run = imported();
    constexpr std::int64_t mostKb = 32 * 1024;
    EXPECT_LT(peakMemoryKb() - before, mostKb);
    EXPECT_EQ(pointsOf(run, "long.log"), 2);
    ASSERT_THAT(run.events, SizeIs(1));
    EXPECT_THAT(run.events[0].text, HasSubstr("are a hole in the file"));
    EXPECT_EQ(pointsOf(run, "good.log"), 1);
}

TEST_F(BadInput, stepsBeyondCountingHarmNoOthers)
{
    m_folder.write("run/a.jsonl",
        "{\"step\": 1, \"loss\": 1}\n{\"step\": 1000000000000000000, \"loss\": 2}\n{\"step\": 2.5, \"loss\": 3}\n"
        "{\"step\": 1e300, \"loss\": 4}\n{\"step\": 2, \"loss\": 5}\n");
    m_folder.write("run/b.csv", "step,loss\n1,1\n1000000000000000000,2\n2,3\n");
    m_folder.write("run/c.log",
        "Step 1: train_loss=1.0000\nStep 1000000000000000000: train_loss=2.0000\n"
        "Step 99999999999999999999: train_loss=3.0000\nStep 2: train_loss=4.0000\n");
    const auto run = imported();
    EXPECT_EQ(pointsOf(run, "a.jsonl"), 2);
    EXPECT_EQ(pointsOf(run, "b.csv"), 2);
    EXPECT_EQ(pointsOf(run, "c.log"), 3) << "only what fits into no number is left out";
    std::vector<std::string> said;
    for (const auto& event : run.events) {
        said.push_back(event.source + ":" + std::to_string(event.line) + " " + event.text);
    }
    EXPECT_THAT(said,
        testing::UnorderedElementsAre(HasSubstr("a.jsonl:2 rows whose step"), HasSubstr("b.csv:3 rows whose step")))
        << "once for each log";
    for (const auto& series : run.series) {
        EXPECT_FALSE(series.stepInferred) << series.source << ": a row with a step is not counted";
    }
}

TEST_F(BadInput, timeThatGoesBackIsNoRestart)
{
    const std::string titan = " - root - INFO - step: ";
    const auto log = read("train.log",
        "[titan] 2026-10-25 02:59:59,657" + titan + "1  loss: 3.0\n[titan] 2026-10-25 02:00:01,657" + titan
            + "2  loss: 2.0\n[titan] 1970-01-01 00:00:00,000" + titan + "3  loss: 1.0\n");
    EXPECT_THAT(steps(find(log, "loss")), ElementsAre(1, 2, 3));
}

TEST_F(BadInput, aLogThatLiesThereTwiceIsReadOnce)
{
    const std::string text = "Step 0: train_loss=1.0000\nStep 1: train_loss=2.0000\n";
    m_folder.write("run/copy/train.log", text);
    m_folder.write("run/train.log", text);
    m_folder.write("run/nearly.log", "Step 0: train_loss=1.0000\nStep 1: train_loss=3.0000\n");
    m_folder.write("run/attempt_0/0/stdout.log", text);
    m_folder.write("run/attempt_0/1/stdout.log", text);
    const auto run = imported();
    EXPECT_THAT(rejected(run), IsEmpty()) << "nothing of it is missing";
    ASSERT_EQ(run.notes.size(), 1U);
    EXPECT_EQ(run.notes[0].path, "train.log");
    EXPECT_THAT(run.notes[0].reason, HasSubstr("copy/train.log"));
    EXPECT_EQ(pointsOf(run, "copy/train.log"), 2);
    EXPECT_EQ(pointsOf(run, "train.log"), 0);
    EXPECT_EQ(pointsOf(run, "nearly.log"), 2);
    EXPECT_EQ(pointsOf(run, "attempt_0/1/stdout.log"), 2) << "two ranks may print the same";
}

TEST_F(BadInput, aLogThatGrowsWhileItIsReadIsReadToWhereItWas)
{
    const auto path = m_folder.write("run/live.log", "Step 0: train_loss=1.0000\nStep 1: tra");
    auto session = session::Session::open(m_folder.path() / "s.nanscope", session::OpenMode::create);
    ASSERT_TRUE(session);
    const auto first = ingest::importRun(m_folder.path() / "run", *session);
    ASSERT_TRUE(first);
    EXPECT_EQ(pointsOf(*first, "live.log"), 1);
    m_folder.write("run/live.log", "in_loss=2.0000\nStep 2: train_loss=nan\n", true);
    const auto second = ingest::importRun(m_folder.path() / "run", *session);
    ASSERT_TRUE(second);
    EXPECT_EQ(pointsOf(*second, "live.log"), 3);
    EXPECT_THAT(second->rejected, IsEmpty());
}

} // namespace
} // namespace nanscope
