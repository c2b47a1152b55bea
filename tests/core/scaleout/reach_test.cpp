// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/reach.h"

#include <thread>

#include <gmock/gmock.h>

#include "memorystore.h"

namespace nanscope::scaleout {

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// What a rank meets in the collective.
enum class Meets { rightSum, wrongSum, noAnswer, death, nothing };

Result<Exchanged> metBy(Meets meets)
{
    if (meets == Meets::noAnswer) {
        return failure(ErrorKind::internal, "no answer within 60 s");
    }
    return Exchanged {0.5, 64 << 20, meets == Meets::rightSum};
}

/// One rank; true where it lives to the end.
Result<Reach> reachAs(std::size_t rank, const std::vector<Meets>& ranks, testing::MemoryStore& store)
{
    const Launch launch {static_cast<int>(rank), static_cast<int>(ranks.size()), 0, "host", 1, rank == 0, "s"};
    struct Death
    { };
    try {
        return reachAll(
            launch, store,
            [&] {
                if (ranks[rank] == Meets::death) {
                    throw Death {};
                }
                return metBy(ranks[rank]);
            },
            300ms);
    } catch (const Death&) {
        return Reach {};
    }
}

Reach reachedBy(const std::vector<Meets>& ranks)
{
    testing::MemoryStore store;
    Result<Reach> result;
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        if (ranks[rank] != Meets::nothing) {
            threads.emplace_back([&, rank] {
                auto reach = reachAs(rank, ranks, store);
                if (rank == 0) {
                    result = std::move(reach);
                }
            });
        }
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(result);
    return result.value_or(Reach {});
}

TEST(Reach, SaysThatAllRanksCameThrough)
{
    const auto reach = reachedBy({Meets::rightSum, Meets::rightSum, Meets::rightSum});
    EXPECT_TRUE(reach.whole());
    EXPECT_EQ(reach.text, "all 3 ranks came through, each with the right sum, the slowest in 0.5 s");
}

TEST(Reach, NamesTheRankThatNeverCame)
{
    const auto reach = reachedBy({Meets::rightSum, Meets::nothing, Meets::rightSum});
    EXPECT_THAT(reach.missing, ElementsAre(1));
    EXPECT_FALSE(reach.slowest) << "without it a collective would wait for ever";
    EXPECT_EQ(reach.text, "rank 1 did not come within 0.3 s; nothing was exchanged");
}

TEST(Reach, SaysOnTheOthersThatRankZeroNeverCame)
{
    testing::MemoryStore store;
    const auto reach = reachAs(1, {Meets::nothing, Meets::rightSum}, store);
    ASSERT_TRUE(reach);
    EXPECT_EQ(reach->text, "rank 0 did not come within 0.3 s; nothing was exchanged");
}

TEST(Reach, NamesTheRankThatStopsInTheCollective)
{
    const auto reach = reachedBy({Meets::noAnswer, Meets::death, Meets::noAnswer});
    EXPECT_THAT(reach.silent, ElementsAre(1));
    EXPECT_THAT(reach.failed, ElementsAre(Pair(0, "no answer within 60 s"), Pair(2, "no answer within 60 s")));
    EXPECT_THAT(reach.text, HasSubstr("rank 1 came, and gave no word any more"));
}

TEST(Reach, NamesTheRankWithAWrongSum)
{
    const auto reach = reachedBy({Meets::rightSum, Meets::rightSum, Meets::wrongSum});
    EXPECT_THAT(reach.wrong, ElementsAre(2));
    EXPECT_EQ(reach.text, "rank 2 came to a wrong sum: suspect the device there, or what links it");
}

TEST(Reach, BlamesNoRankWhereAllStillAnswer)
{
    const auto all = reachedBy({Meets::noAnswer, Meets::noAnswer});
    EXPECT_THAT(all.silent, IsEmpty());
    EXPECT_THAT(all.text, HasSubstr("suspect the network between them"));
    const auto one = reachedBy({Meets::rightSum, Meets::noAnswer});
    EXPECT_EQ(one.text, "rank 1 did not come through (rank 1: no answer within 60 s)");
}

TEST(Reach, FailsWhereTheStoreDoesNotAnswer)
{
    testing::MemoryStore store;
    store.stopAnswering();
    EXPECT_FALSE(reachAll(
        {0, 2, 0, "host", 1, true, "s"}, store, [] { return metBy(Meets::rightSum); }, 300ms));
}

} // namespace
} // namespace nanscope::scaleout
