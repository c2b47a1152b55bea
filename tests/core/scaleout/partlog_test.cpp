// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/partlog.h"

#include <gmock/gmock.h>

#include "core/platform/privatefolder.h"

namespace nanscope::scaleout {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PartLogTest : public ::testing::Test
{
protected:
    std::filesystem::path part() const { return m_folder.path() / "part-00003.nanscope"; }
    std::filesystem::path log() const { return m_folder.path() / "part-00003.jsonl"; }

    PartLog open(const std::string& job, const std::string& hardware = "a GPU") const
    {
        auto log = PartLog::open(part(), {job, 3, "cuda:1", "torch 2.11.0", hardware});
        if (!log) {
            throw std::runtime_error(log.error().what);
        }
        return std::move(*log);
    }

    platform::PrivateFolder m_folder = std::move(*platform::PrivateFolder::make());
};

TEST_F(PartLogTest, SaysWhatWasDoneByWhom)
{
    auto written = open("a");
    EXPECT_TRUE(written.done(7, 15, 0.5));
    EXPECT_TRUE(written.failed(8, "the worker died"));
    EXPECT_TRUE(written.done(9, 5, 0.25));
    const auto summary = readPartLog(part(), "a");
    EXPECT_THAT(summary.blocks, ElementsAre(7, 9));
    EXPECT_EQ(summary.cells, 20);
    EXPECT_EQ(summary.seconds, 0.75);
    EXPECT_EQ(summary.problem, "the worker died");
    EXPECT_EQ(summary.start.rank, 3);
    EXPECT_EQ(summary.start.device, "cuda:1");
    EXPECT_EQ(summary.start.engine, "torch 2.11.0");
    EXPECT_EQ(summary.start.hardware, "a GPU");
}

TEST_F(PartLogTest, KeepsTheVerdictOfABlockOnItsLine)
{
    auto written = open("a");
    EXPECT_TRUE(written.done(7, 1, 0.5, R"({"captures":[{"a":[[[1]]]}],"text":"\u00b7\n"})"));
    EXPECT_TRUE(written.done(8, 15, 0.5));
    EXPECT_THAT(readPartLog(part(), "a").verdicts, ElementsAre(R"({"captures":[{"a":[[[1]]]}],"text":"\u00b7\n"})"));
    std::ofstream(log(), std::ios::app) << R"({"block":9,"cells":1,"seconds":1,"verdict":"{)";
    EXPECT_THAT(readPartLog(part(), "a").verdicts, ::testing::SizeIs(1)) << "killed while it wrote";
}

TEST_F(PartLogTest, TellsApartWhereARankWasStartedAgain)
{
    EXPECT_TRUE(open("a").done(1, 1, 0.5, "first"));
    EXPECT_TRUE(open("a", "another GPU").done(2, 1, 0.25, "second"));
    EXPECT_TRUE(open("a").done(3, 1, 0.5, "third"));
    const auto all = readPartLog(part(), "a");
    EXPECT_EQ(all.start.hardware, "a GPU") << "the last one";
    EXPECT_THAT(all.verdicts, ElementsAre("first", "second", "third")) << "in their order";
    const auto places = readPartLogByPlace(part(), "a");
    ASSERT_EQ(places.size(), 2U);
    EXPECT_EQ(places[0].start.hardware, "a GPU");
    EXPECT_THAT(places[0].blocks, ElementsAre(1, 3));
    EXPECT_EQ(places[1].start.hardware, "another GPU");
    EXPECT_THAT(places[1].blocks, ElementsAre(2));
}

TEST_F(PartLogTest, CountsNoLineThatWasCutOff)
{
    EXPECT_TRUE(open("a").done(7, 15, 0.5));
    std::ofstream(log(), std::ios::app) << R"({"block":8,"cells":15)";
    EXPECT_THAT(readPartLog(part(), "a").blocks, ElementsAre(7));
    std::ofstream(log(), std::ios::app) << R"(,"seconds":1})"; // whole, but for its end
    EXPECT_THAT(readPartLog(part(), "a").blocks, ElementsAre(7));
    EXPECT_TRUE(open("a").done(9, 15, 0.5));
    EXPECT_THAT(readPartLog(part(), "a").blocks, ElementsAre(7, 8, 9)) << "the next start ends the line";
}

TEST_F(PartLogTest, LeavesOutAnotherJob)
{
    EXPECT_TRUE(open("a").done(7, 15, 0.5));
    EXPECT_TRUE(open("b").done(1, 15, 0.5));
    EXPECT_THAT(readPartLog(part(), "a").blocks, ElementsAre(7));
    EXPECT_THAT(readPartLog(part(), "b").blocks, ElementsAre(1));
    EXPECT_THAT(readPartLog(part(), "c").blocks, IsEmpty());
}

TEST_F(PartLogTest, ReadsNothingFromWhatIsNoLog)
{
    std::ofstream(log()) << "{\n[1]\n{\"block\":\"x\"}\n" << '\0' << "\xff\n";
    EXPECT_THAT(readPartLog(part(), "").blocks, IsEmpty());
    std::filesystem::remove(log());
    EXPECT_THAT(readPartLog(part(), "a").blocks, IsEmpty());
}

TEST_F(PartLogTest, ListsPartsByRank)
{
    for (const auto* name : {"part-00010.nanscope", "part-00002.nanscope", "part-00002.jsonl", "captures.nanscope",
             "part-00011.jsonl", "job.jsonl"}) {
        std::ofstream(m_folder.path() / name) << "x";
    }
    EXPECT_THAT(partsIn(m_folder.path()),
        ElementsAre(m_folder.path() / "part-00002.nanscope", m_folder.path() / "part-00010.nanscope",
            m_folder.path() / "part-00011.nanscope"))
        << "those of a diagnosis have no session";
    EXPECT_THAT(partsIn(m_folder.path() / "missing"), IsEmpty());
}

} // namespace

} // namespace nanscope::scaleout
