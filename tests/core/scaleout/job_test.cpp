// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/job.h"

#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "core/scaleout/gather.h"
#include "core/session/session.h"
#include "jobfolder.h"

namespace nanscope::scaleout {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JobTest : public ::testing::Test
{
protected:
    void rewrite(const std::string& from, const std::string& to) const
    {
        const auto path = m_folder.path() / "job.jsonl";
        std::ifstream file(path);
        std::string text {std::istreambuf_iterator<char>(file), {}};
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos);
        text.replace(at, from.size(), to);
        std::ofstream(path) << text;
    }

    std::string problem() const
    {
        const auto job = readJob(m_folder.path());
        return job ? "it is one" : job.error().what;
    }

    testing::JobFolder m_folder;
};

TEST_F(JobTest, KeepsWhatWasNotComparedInFull)
{
    auto job = m_folder.made();
    job.captures[1].leftOut = {"gns-gram", "dion-ns5"};
    const auto other = m_folder.path() / "other";
    const auto made = makeJob(other, job, m_folder.run());
    ASSERT_TRUE(made) << made.error().what;
    const auto read = readJob(other);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_THAT(read->captures[0].leftOut, IsEmpty());
    EXPECT_THAT(read->captures[1].leftOut, ElementsAre("gns-gram", "dion-ns5"));
    EXPECT_NE(made->id, m_folder.made().id);
}

TEST_F(JobTest, IsReadAsItWasMade)
{
    const auto made = m_folder.made();
    const auto read = readJob(m_folder.path());
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->id, made.id);
    EXPECT_EQ(read->device, "cpu");
    EXPECT_THAT(read->captures, SizeIs(3));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(read->captures[i].name, m_folder.run().captures[i].file);
        EXPECT_EQ(read->captures[i].elements, 64);
        EXPECT_EQ(read->captures[i].request.captures.front().path, m_folder.run().captures[i].path);
        EXPECT_EQ(read->captures[i].request.captures.front().identity, m_folder.run().captures[i].identity);
        EXPECT_EQ(read->captures[i].request.variants, made.captures[i].request.variants);
        EXPECT_EQ(read->captures[i].request.precisions, made.captures[i].request.precisions);
    }
    EXPECT_EQ(cellCount(*read), 12);
}

TEST_F(JobTest, KeepsTheUsersOwnVariants)
{
    replay::Variant mine = **replay::Catalogue().find("torch-muon");
    mine.name = "mine";
    auto job = m_folder.job();
    for (auto& capture : job.captures) {
        ASSERT_TRUE(capture.request.catalogue.add(mine));
        capture.request.variants = {"mine"};
    }
    ASSERT_TRUE(makeJob(m_folder.path(), job, m_folder.run()));
    const auto read = readJob(m_folder.path());
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_TRUE(read->captures[2].request.catalogue.find("mine"));
}

TEST_F(JobTest, IsTheSameOrRefused)
{
    const auto made = m_folder.made();
    const auto again = makeJob(m_folder.path(), m_folder.job(), m_folder.run());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->id, made.id);
    auto other = m_folder.job();
    other.captures.pop_back();
    const auto refused = makeJob(m_folder.path(), other, m_folder.run());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("name another folder"));
}

TEST_F(JobTest, TellsCapturesOfOneFileNameApart)
{
    m_folder.made();
    const auto session = session::Session::open(capturesPath(m_folder.path()), session::OpenMode::readOnly);
    ASSERT_TRUE(session);
    std::set<std::string> names;
    const auto run = session->summary();
    ASSERT_TRUE(run);
    for (const auto& capture : run->captures) {
        names.insert(capture.file);
    }
    EXPECT_THAT(names, ElementsAre("other.pt", "rank_0/dump.pt", "rank_1/dump.pt"));
}

TEST_F(JobTest, SaysWhatIsWrongWithAFolderThatHoldsNone)
{
    EXPECT_THAT(problem(), HasSubstr("there is no such file"));
    m_folder.made();
    rewrite("nanscope.job/1", "nanscope.job/9");
    EXPECT_THAT(problem(), HasSubstr("its first line does not say so"));
    rewrite("nanscope.job/9", "nanscope.job/1");
    EXPECT_EQ(problem(), "it is one");
    rewrite("\"captures\":3", "\"captures\":4");
    EXPECT_THAT(problem(), HasSubstr("some of its lines are missing"));
    rewrite("\"captures\":4", "\"captures\":3");
    rewrite("\"fp64\"", "\"fp63\"");
    EXPECT_THAT(problem(), HasSubstr("fp63"));
}

TEST_F(JobTest, CutsCapturesIntoBlocksOfVariants)
{
    auto job = m_folder.job();
    job.captures[0].request.variants = {"torch-muon", "gns-gram", "keller-jordan"};
    job.variantsPerBlock = 2;
    const auto blocks = blocksOf(job);
    ASSERT_THAT(blocks, SizeIs(4));
    EXPECT_THAT(requestOf(job, blocks[0], "cuda:1").variants, ElementsAre("torch-muon", "gns-gram"));
    EXPECT_THAT(requestOf(job, blocks[1], "cuda:1").variants, ElementsAre("keller-jordan"));
    EXPECT_THAT(requestOf(job, blocks[1], "cuda:1").devices, ElementsAre("cuda:1"));
    EXPECT_EQ(requestOf(job, blocks[2], "cpu").captures.front().path, m_folder.run().captures[1].path);
}

TEST_F(JobTest, BeginsWithTheLargestCapture)
{
    auto job = m_folder.job();
    job.captures[1].elements = 65;
    const auto blocks = blocksOf(job);
    ASSERT_THAT(blocks, SizeIs(6));
    EXPECT_EQ(blocks[0].capture, 1U);
    EXPECT_EQ(blocks[1].capture, 1U);
    EXPECT_EQ(blocks[2].capture, 0U);
    EXPECT_EQ(blocks[5].capture, 2U);
}

TEST_F(JobTest, GivesEachProcessManyBlocks)
{
    std::vector<JobCapture> captures(100, m_folder.job().captures.front());
    captures.front().request.variants.resize(34, "torch-muon");
    for (auto& capture : captures) {
        capture.request.variants = captures.front().request.variants;
    }
    EXPECT_EQ(variantsPerBlock(captures, 1), 34) << "as many as a capture has";
    EXPECT_EQ(variantsPerBlock(captures, 4), 13);
    EXPECT_EQ(variantsPerBlock(captures, 1000), 1);
    EXPECT_EQ(variantsPerBlock({}, 8), 1);
}

TEST_F(JobTest, GathersNothingWhereNobodyHasBegun)
{
    const auto gathered = gather(m_folder.made(), m_folder.path(), nullptr, {});
    ASSERT_TRUE(gathered);
    EXPECT_THAT(gathered->cells, IsEmpty());
    EXPECT_EQ(gathered->missing, 12);
}

} // namespace

} // namespace nanscope::scaleout
