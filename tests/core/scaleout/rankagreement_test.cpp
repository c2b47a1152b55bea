// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/scaleout/rankagreement.h"

#include <thread>

#include <gmock/gmock.h>

#include "memorystore.h"

namespace nanscope::scaleout {

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// What rank 0 finds where each of these ranks answers with its hash.
RankAgreement agreedBy(const std::vector<std::optional<std::uint64_t>>& hashes, std::chrono::milliseconds patience)
{
    testing::MemoryStore store;
    Result<RankAgreement> result;
    std::vector<std::thread> ranks;
    for (std::size_t rank = 0; rank < hashes.size(); ++rank) {
        if (!hashes[rank]) {
            continue;
        }
        ranks.emplace_back([&, rank] {
            const Launch launch {static_cast<int>(rank), static_cast<int>(hashes.size()), 0, "host", 1, rank == 0, "s"};
            const replay::ReplayHash hash {{*hashes[rank], ~*hashes[rank]}};
            auto answer = agreeOverRanks({"cuda:0", "a GPU", {hash, hash}}, launch, store, patience);
            if (rank == 0) {
                result = std::move(answer);
            }
        });
    }
    for (auto& rank : ranks) {
        rank.join();
    }
    if (!result) {
        throw std::runtime_error(result.error().what);
    }
    return std::move(*result);
}

TEST(RankAgreement, SaysThatAllRanksGiveTheSame)
{
    const auto answer = agreedBy({7, 7, 7, 7}, 30s);
    EXPECT_THAT(answer.missing, IsEmpty());
    EXPECT_THAT(answer.agreement.devices, SizeIs(4));
    EXPECT_EQ(answer.agreement.agree, std::optional(true));
    const replay::ReplayHash seven {{7, ~std::uint64_t {7}}};
    EXPECT_EQ(answer.agreement.devices[3].hashes.front(), seven);
}

TEST(RankAgreement, NamesTheRankThatGivesOtherBits)
{
    const auto answer = agreedBy({7, 7, 8, 7}, 30s);
    EXPECT_EQ(answer.agreement.agree, std::optional(false));
    EXPECT_THAT(answer.agreement.odd, ElementsAre("rank 2, cuda:0"));
    EXPECT_THAT(answer.agreement.text, HasSubstr("rank 2, cuda:0 gives other bits"));
}

TEST(RankAgreement, NamesRanksThatDoNotCome)
{
    const auto answer = agreedBy({7, std::nullopt, 7, std::nullopt}, 300ms);
    EXPECT_THAT(answer.missing, ElementsAre(1, 3));
    EXPECT_THAT(answer.agreement.devices, SizeIs(2));
}

TEST(RankAgreement, SaysWhyARankGaveNothing)
{
    testing::MemoryStore store;
    std::thread other([&] {
        EXPECT_TRUE(agreeOverRanks(
            {"cuda:1", {}, {}, {}, "cuda:1 is full:\nno room"}, {1, 2, 1, "host", 1, false, "s"}, store, 30s));
    });
    const replay::ReplayHash hash {{7, 7}};
    const auto answer =
        agreeOverRanks({"cuda:0", "a GPU", {hash}, "GPU-1"}, {0, 2, 0, "host", 1, true, "s"}, store, 30s);
    other.join();
    ASSERT_TRUE(answer);
    EXPECT_THAT(answer->missing, IsEmpty());
    ASSERT_THAT(answer->agreement.devices, SizeIs(2));
    EXPECT_EQ(answer->agreement.devices[0].uuid, "GPU-1");
    EXPECT_THAT(answer->agreement.devices[1].hashes, IsEmpty());
    EXPECT_EQ(answer->agreement.devices[1].problem, "cuda:1 is full: no room");
    EXPECT_THAT(answer->agreement.text, HasSubstr("rank 1, cuda:1 gave nothing"));
}

TEST(RankAgreement, WaitsForRankZeroNoLongerThanItIsPatient)
{
    testing::MemoryStore store;
    const auto answer = agreeOverRanks({"cuda:0", "a GPU", {}}, {1, 2, 1, "host", 1, false, "s"}, store, 200ms);
    ASSERT_TRUE(answer);
    EXPECT_THAT(answer->missing, ElementsAre(0));
}

TEST(RankAgreement, ReportsAStoreThatDoesNotAnswer)
{
    testing::MemoryStore store;
    store.stopAnswering();
    EXPECT_FALSE(agreeOverRanks({"cuda:0", "a GPU", {}}, {1, 2, 1, "host", 1, false, "s"}, store, 200ms));
}

} // namespace

} // namespace nanscope::scaleout
