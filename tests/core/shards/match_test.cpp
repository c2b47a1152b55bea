// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>

#include "../tensorfile/madeshards.h"
#include "core/shards/shards.h"

namespace nanscope {

using namespace fixtures;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

class Matching : public testing::Test
{
protected:
    /// A dump of rank 0 or 1 of a mesh of two.
    void dump(const std::string& name, std::int64_t rank, float value = 0, const Numbers& whole = {4, 3})
    {
        MadeShard made;
        made.whole = whole;
        made.mesh.rank = rank;
        made.mesh.coordinate = Numbers {rank};
        made.values = {value, 1, 2, 3, 4, 5};
        made.values[1] = static_cast<float>(rank);
        open(name, shardFile(made));
    }

    void open(const std::string& name, const std::string& bytes)
    {
        std::filesystem::create_directories((m_folder.path() / name).parent_path());
        auto file = tensorfile::openCapture(m_folder.write(name, bytes));
        ASSERT_TRUE(file) << sentence(file.error());
        m_captures.push_back(std::move(*file));
    }

    std::vector<std::string> filesOf(const shards::ShardSet& set) const
    {
        std::vector<std::string> files;
        for (const auto index : set.captures) {
            const auto path = std::filesystem::path(m_captures[index].capture.path);
            files.push_back(path.lexically_relative(m_folder.path()).string());
        }
        return files;
    }

    static std::string wrapperName(int rank, int ms)
    {
        return "dion_nan_capture_rank" + std::to_string(rank) + "_shape4x3_pid" + std::to_string(70 + rank) + "_"
            + std::to_string(1795234396000 + ms) + ".pt";
    }

    TemporaryFolder m_folder;
    std::vector<tensorfile::CaptureFile> m_captures;
};

} // namespace

TEST_F(Matching, OneDumpOfEachRankIsOneTensor)
{
    dump(wrapperName(0, 0), 0);
    dump(wrapperName(1, 12), 1);
    const auto sets = shards::matchShards(m_captures);
    ASSERT_THAT(sets.sets, SizeIs(1));
    EXPECT_THAT(sets.sets[0].captures, ElementsAre(0, 1));
    EXPECT_THAT(sets.sets[0].how, HasSubstr("which call it was is not recorded"));
    EXPECT_THAT(sets.unmatched, IsEmpty());
    const auto shards = shards::shardsOf(m_captures, sets.sets[0], shards::ShardSide::input);
    ASSERT_THAT(shards, SizeIs(2));
    EXPECT_EQ(shards[1].place.rank, 1);
    EXPECT_THAT(shards::shardsOf(m_captures, sets.sets[0], shards::ShardSide::output), IsEmpty());
}

TEST_F(Matching, OrdinaryCapturesAreNoShards)
{
    dump("a.pt", 0);
    open("plain.pt", smallCapture());
    const auto sets = shards::matchShards(m_captures);
    EXPECT_THAT(sets.others, ElementsAre(1));
    EXPECT_THAT(sets.sets, SizeIs(1));
}

TEST_F(Matching, EquallyManyDumpsAreMatchedInTheirOrder)
{
    dump(wrapperName(1, 90), 1, 2);
    dump(wrapperName(0, 0), 0, 1);
    dump(wrapperName(1, 30), 1, 1);
    dump(wrapperName(0, 60), 0, 2);
    const auto sets = shards::matchShards(m_captures);
    ASSERT_THAT(sets.sets, SizeIs(2));
    EXPECT_THAT(filesOf(sets.sets[0]), ElementsAre(wrapperName(0, 0), wrapperName(1, 30)));
    EXPECT_THAT(filesOf(sets.sets[1]), ElementsAre(wrapperName(0, 60), wrapperName(1, 90)));
    EXPECT_THAT(sets.sets[0].how, HasSubstr("dump 1 of 2 of each rank"));
}

TEST_F(Matching, UnequallyManyDumpsAreLeftOpen)
{
    dump(wrapperName(0, 0), 0, 1);
    dump(wrapperName(0, 60), 0, 2);
    dump(wrapperName(1, 61), 1, 2);
    const auto sets = shards::matchShards(m_captures);
    EXPECT_THAT(sets.sets, IsEmpty());
    ASSERT_THAT(sets.unmatched, SizeIs(1));
    EXPECT_THAT(sets.unmatched[0].captures, SizeIs(3));
    EXPECT_THAT(sets.unmatched[0].how, HasSubstr("(0) of the mesh has 2 dumps and (1) has 1"));
}

TEST_F(Matching, NamesWithoutTimesGiveNoOrder)
{
    dump("first.pt", 0, 1);
    dump("second.pt", 0, 2);
    dump("third.pt", 1, 1);
    dump("fourth.pt", 1, 2);
    const auto sets = shards::matchShards(m_captures);
    EXPECT_THAT(sets.sets, IsEmpty());
    ASSERT_THAT(sets.unmatched, SizeIs(1));
    EXPECT_THAT(sets.unmatched[0].how, HasSubstr("neither a step nor a time"));
}

TEST_F(Matching, SidecarsKnowTheStep)
{
    m_folder.write("a0.json", R"({"step": 7})");
    m_folder.write("a1.json", R"({"step": 8})");
    m_folder.write("b0.json", R"({"step": 8})");
    dump("a0.pt", 0, 1);
    dump("a1.pt", 0, 2);
    dump("b0.pt", 1, 2);
    const auto sets = shards::matchShards(m_captures);
    ASSERT_THAT(sets.sets, SizeIs(2));
    EXPECT_THAT(filesOf(sets.sets[0]), ElementsAre("a0.pt"));
    EXPECT_THAT(filesOf(sets.sets[1]), ElementsAre("a1.pt", "b0.pt"));
    EXPECT_EQ(sets.sets[1].how, "step 8 of the sidecars");
}

TEST_F(Matching, TheNumberOfTheCallTellsWhichBelongTogether)
{
    const auto call = [this](const std::string& name, int rank, int index) {
        dump(name, rank);
        m_captures.back().capture.scene.optimizerStep = 4;
        m_captures.back().capture.scene.callIndex = index;
    };
    call("a_rank0.pt", 0, 8);
    call("a2_rank0.pt", 0, 9);
    call("a3_rank1.pt", 1, 9);
    for (auto& one : m_captures) {
        one.capture.file = one.capture.rank == 1 ? "a_rank1.pt" : "a_rank0.pt";
    }
    const auto sets = shards::matchShards(m_captures);
    ASSERT_EQ(sets.sets.size(), 2U);
    std::vector<std::vector<std::string>> found {filesOf(sets.sets[0]), filesOf(sets.sets[1])};
    std::ranges::sort(found);
    EXPECT_EQ(found[0], (std::vector<std::string> {"a2_rank0.pt", "a3_rank1.pt"}));
    EXPECT_EQ(found[1], (std::vector<std::string> {"a_rank0.pt"}));
}

TEST_F(Matching, NamesThatDifferInMoreThanTheRankAreOfDifferentTensors)
{
    dump("wq_rank0.pt", 0, 1);
    dump("wq_rank1.pt", 1, 1);
    dump("wk_rank_0.pt", 0, 2);
    dump("wk_rank_1.pt", 1, 2);
    const auto sets = shards::matchShards(m_captures);
    ASSERT_THAT(sets.sets, SizeIs(2));
    EXPECT_THAT(filesOf(sets.sets[0]), ElementsAre("wq_rank0.pt", "wq_rank1.pt"));
    EXPECT_THAT(filesOf(sets.sets[1]), ElementsAre("wk_rank_0.pt", "wk_rank_1.pt"));
}

TEST_F(Matching, FoldersTellCallsApartButFoldersOfRanksDoNot)
{
    dump("step1/rank0/x.pt", 0, 1);
    dump("step1/rank1/x.pt", 1, 1);
    EXPECT_THAT(shards::matchShards(m_captures).sets, SizeIs(1));
    dump("step2/rank0/x.pt", 0, 2);
    dump("step2/rank1/x.pt", 1, 2);
    const auto sets = shards::matchShards(m_captures);
    ASSERT_THAT(sets.sets, SizeIs(2));
    EXPECT_THAT(filesOf(sets.sets[1]), ElementsAre("step2/rank0/x.pt", "step2/rank1/x.pt"));
    EXPECT_THAT(sets.sets[1].how, HasSubstr("the folder tells them apart"));
}

TEST_F(Matching, ACopyOfADumpIsNoSecondDump)
{
    dump("a.pt", 0);
    dump("b.pt", 1);
    dump("copy of a.pt", 0);
    const auto sets = shards::matchShards(m_captures);
    EXPECT_THAT(sets.sets, SizeIs(1));
    EXPECT_THAT(sets.copies, ElementsAre(2));
}

TEST_F(Matching, OtherShapesMeshesAndPlacementsAreOtherTensors)
{
    dump("a.pt", 0);
    MadeShard made;
    made.mesh.ranks = {2, 3};
    made.mesh.rank = 3;
    made.mesh.coordinate = Numbers {1};
    open("b.pt", shardFile(made));
    made = {};
    made.mesh.coordinate = Numbers {1};
    made.whole = {2, 3};
    made.placements = {replicated()};
    open("c.pt", shardFile(made));
    EXPECT_THAT(shards::matchShards(m_captures).sets, SizeIs(3));
}

TEST_F(Matching, RanksThatDisagreeOnTheWholeAreSaidTo)
{
    dump("a.pt", 0);
    MadeShard made;
    made.whole = {2, 3};
    made.local = {1, 3};
    made.values = {1, 2, 3};
    made.mesh.coordinate = Numbers {1};
    open("b.pt", shardFile(made));
    const auto sets = shards::matchShards(m_captures);
    ASSERT_THAT(sets.sets, SizeIs(2));
    EXPECT_THAT(sets.sets[0].how, HasSubstr("other ranks have a whole of 2x3"));
    EXPECT_THAT(sets.sets[1].how, HasSubstr("other ranks have a whole of 4x3"));
}

TEST_F(Matching, RanksThatDoNotAscendAreNotPlacedByTheMesh)
{
    MadeShard made;
    made.mesh.ranks = {1, 0};
    made.mesh.coordinate = Numbers {0};
    open("a.pt", shardFile(made));
    made.placements = {replicated()};
    made.whole = {2, 3};
    open("b.pt", shardFile(made));
    made.mesh.more = text("_preserve_rank_order") + "\x88";
    made.placements = {shardOn(0)};
    made.whole = {4, 3};
    open("c.pt", shardFile(made));
    const auto sets = shards::matchShards(m_captures);
    ASSERT_THAT(sets.unmatched, SizeIs(1));
    EXPECT_THAT(sets.unmatched[0].captures, ElementsAre(0));
    EXPECT_THAT(sets.unmatched[0].how, HasSubstr("ranks do not ascend"));
    EXPECT_THAT(sets.sets, SizeIs(2)) << "replicas lie everywhere, and newer torch can keep the order of the mesh";
}

TEST_F(Matching, RanksOutsideOfTheMeshHoldNothing)
{
    MadeShard made;
    made.mesh.more = text("_coordinate_on_dim") + "N";
    made.local = {0};
    open("a.pt", shardFile(made));
    const auto sets = shards::matchShards(m_captures);
    EXPECT_THAT(sets.unmatched, IsEmpty());
    EXPECT_THAT(sets.others, ElementsAre(0));
}

TEST_F(Matching, StepsThatDifferAreNotOverruledByOneThatIsMissing)
{
    m_folder.write("a.json", R"({"step": 7})");
    m_folder.write("b.json", R"({"step": 8})");
    dump("a.pt", 0);
    dump("b.pt", 1);
    dump("c.pt", 1, 5);
    const auto sets = shards::matchShards(m_captures);
    EXPECT_THAT(sets.sets, IsEmpty());
    ASSERT_THAT(sets.unmatched, SizeIs(1));
    EXPECT_THAT(sets.unmatched[0].how, HasSubstr("several steps"));
}

TEST_F(Matching, WhatHasNoPlaceIsMatchedWithNothing)
{
    MadeShard made;
    open("a.pt", shardFile(made));
    made.placements = {shardOn(7)};
    made.mesh.coordinate = Numbers {0};
    open("b.pt", shardFile(made));
    const auto sets = shards::matchShards(m_captures);
    EXPECT_THAT(sets.sets, IsEmpty());
    ASSERT_THAT(sets.unmatched, SizeIs(2));
    EXPECT_THAT(sets.unmatched[0].how, HasSubstr("neither a place in the mesh nor a rank"));
    EXPECT_THAT(sets.unmatched[1].how, HasSubstr("dimension that it does not have"));
}

} // namespace nanscope
