// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong where each rank decides for itself, and does not where they agree.
#include <cmath>
#include <csignal>
#include <functional>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "gpu/probe/nonfinite.h"
#include "gpu/probe/tensorguard.h"
#include "tests/gpu/probe/processes.h"

namespace nanscope {

namespace {

using test::inProcesses;
using test::Limits;
using test::Membership;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::StartsWith;

constexpr int badStep = 1;
constexpr int badRank = 1;

auto said(const std::string& text)
{
    return Optional(text);
}

/// Whether to leave the update out.
using Decide = std::function<bool(const at::Tensor& update, int step)>;

/// Five updates of a weight of four ones; the second has a NaN on rank 1. Says how often the weight went down by a
/// tenth, or NaN.
std::string train(int rank, const Decide& skips)
{
    auto weight = at::ones({4});
    for (int step = 0; step < 5; ++step) {
        auto update = at::ones({4});
        if (rank == badRank && step == badStep) {
            update[2] = NAN;
        }
        if (!skips(update, step)) {
            weight -= 0.1F * update;
        }
    }
    return fmt::format("{:.0f} updates", 10 * (1 - weight[2].item<float>()));
}

std::string trainAlone(const Membership& member)
{
    return train(member.rank, [](const at::Tensor& update, int) { return anyNonFinite(update).value(); });
}

std::string trainTogether(const Membership& member)
{
    C10dRanks ranks(member.group, member.options());
    TensorGuard guard(ranks);
    return train(member.rank, [&](const at::Tensor& update, int step) { return guard(update, step).value().skip; });
}

/// The group that Newton-Schulz works in, where heads are split or FSDP shards the batch: the second commit of dion's
/// pull request 79.
std::string trainInAGroupOfOne(const Membership& member)
{
    auto ranks = member.among({member.rank}, fmt::format("alone{}", member.rank));
    TensorGuard guard(ranks);
    return train(member.rank, [&](const at::Tensor& update, int step) { return guard(update, step).value().skip; });
}

TEST(Guard, ReplicasDriftApartWhereEachRankDecides)
{
    EXPECT_THAT(inProcesses(2, trainAlone), ElementsAre(said("5 updates"), said("4 updates")));
}

TEST(Guard, ReplicasStayTogetherWhereRanksAgree)
{
    EXPECT_THAT(inProcesses(3, trainTogether), Each(said("4 updates")));
}

TEST(Guard, AGroupOfOneDoesNotProtect)
{
    EXPECT_THAT(inProcesses(2, trainInAGroupOfOne), ElementsAre(said("5 updates"), said("4 updates")));
}

/// The logical tensor is [8], half of it on either rank; an update is whole or not at all.
std::string tearOrNot(const Membership& member, bool together)
{
    C10dRanks ranks(member.group, member.options());
    TensorGuard guard(ranks);
    auto shard = at::zeros({4});
    auto update = at::ones({4});
    if (member.rank == badRank) {
        update[0] = NAN;
    }
    const bool skip = together ? guard(update).value().skip : anyNonFinite(update).value();
    if (!skip) {
        shard += update;
    }
    return fmt::format("{}", shard.sum().item<float>());
}

TEST(Guard, ShardsAreTornWhereEachRankDecides)
{
    const auto shards = inProcesses(2, [](const Membership& member) { return tearOrNot(member, false); });
    EXPECT_THAT(shards, ElementsAre(said("4"), said("0")));
}

TEST(Guard, ShardsStayWholeWhereRanksAgree)
{
    const auto shards = inProcesses(2, [](const Membership& member) { return tearOrNot(member, true); });
    EXPECT_THAT(shards, Each(said("0")));
}

TEST(Guard, SaysItOnTheRankThatSawItAndOnTheFirst)
{
    const auto lines = inProcesses(3, [](const Membership& member) {
        C10dRanks ranks(member.group, member.options());
        TensorGuard guard(ranks);
        const auto answer = guard(member.rank == badRank ? at::full({2, 3}, NAN) : at::ones({2, 3}), 36).value();
        return fmt::format("{} {} {} {}", answer.skip, answer.local, guard.skipped(), answer.message);
    });
    EXPECT_THAT(lines,
        ElementsAre(Optional(std::string(
                        "true false 1 [nan_guard_fallback] non-finite Newton-Schulz output on another rank at step 36; "
                        "skipping update on all ranks")),
            Optional(std::string(
                "true true 1 [nan_guard_fallback] rank 1: non-finite Newton-Schulz output at step 36; skipping update "
                "on all ranks")),
            said("true false 1 ")));
}

TEST(Guard, UnequalNumbersOfMatricesWaitInVainAndSayForWhom)
{
    const auto answers = inProcesses(
        2,
        [](const Membership& member) -> std::string {
            C10dRanks ranks(member.group, member.options());
            TensorGuard guard(ranks);
            for (int matrix = 0; matrix < 2 + member.rank; ++matrix) {
                if (const auto answer = guard(at::ones({2})); !answer) {
                    return answer.error().what;
                }
            }
            return "done";
        },
        Limits {std::chrono::seconds(4), std::chrono::seconds(1)});
    EXPECT_THAT(answers[0], said("done"));
    EXPECT_THAT(answers[1],
        Optional(AllOf(
            HasSubstr("could not agree"), HasSubstr("; no word of rank 0. A rank has ended, or asks fewer times"))));
}

TEST(Guard, NotedMatricesMayBeUnequalInNumber)
{
    const auto answers = inProcesses(2, [](const Membership& member) {
        C10dRanks ranks(member.group, member.options());
        TensorGuard guard(ranks);
        for (int matrix = 0; matrix < 2 + member.rank; ++matrix) {
            guard.note(at::full({2}, matrix == 2 ? NAN : 1.0F));
        }
        const bool first = guard.agree().value().skip;
        const bool second = guard.agree().value().skip;
        return fmt::format("{} {}", first, second);
    });
    EXPECT_THAT(answers, Each(said("true false")));
}

TEST(Guard, ARankThatWasKilledIsNamedByAllOthers)
{
    const auto begin = std::chrono::steady_clock::now();
    const auto answers = inProcesses(
        3,
        [](const Membership& member) -> std::string {
            C10dRanks ranks(member.group, member.options());
            TensorGuard guard(ranks);
            guard(at::ones({2})).value();
            if (member.rank == 2) {
                ::raise(SIGKILL);
            }
            const auto answer = guard(at::ones({2}));
            const auto again = guard(at::ones({2}));
            return answer || again ? "agreed with a dead rank" : answer.error().what + " | " + again.error().what;
        },
        Limits {std::chrono::seconds(20), std::chrono::seconds(5)});
    EXPECT_EQ(answers[2], std::nullopt);
    for (int rank = 0; rank < 2; ++rank) {
        EXPECT_THAT(answers[rank],
            Optional(AllOf(HasSubstr(fmt::format("(rank {}: ", rank)), HasSubstr("; no word of rank 2. "),
                EndsWith("end the run"))));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

/// Whether the store knows who is missing, or has gone with its rank, is told in either case.
TEST(Guard, ARankThatTakesTheStoreWithItIsNotWaitedForEither)
{
    const auto answers = inProcesses(
        2,
        [](const Membership& member) -> std::string {
            C10dRanks ranks(member.group, member.options());
            TensorGuard guard(ranks);
            guard(at::ones({2})).value();
            if (member.rank == 0) {
                ::raise(SIGKILL);
            }
            const auto answer = guard(at::ones({2}));
            return answer ? "agreed with a dead rank" : answer.error().what;
        },
        Limits {std::chrono::seconds(20), std::chrono::seconds(3), true});
    EXPECT_EQ(answers[0], std::nullopt);
    EXPECT_THAT(
        answers[1], Optional(HasSubstr("; the store does not answer either: the rank that keeps it may have ended")));
}

TEST(Guard, RanksAtDifferentStepsAreTold)
{
    const auto answers = inProcesses(2, [](const Membership& member) {
        C10dRanks ranks(member.group, member.options());
        TensorGuard guard(ranks, {.checkSteps = true});
        guard(at::ones({2}), 6).value();
        const auto answer = guard(at::ones({2}), 7 + member.rank);
        return answer ? "agreed" : answer.error().what;
    });
    EXPECT_THAT(answers, Each(Optional(StartsWith("ranks are at different steps, 7 to 8 (rank "))));
}

/// A rank where torch fails takes part all the same, or the others would wait for it.
TEST(Guard, ARankThatCannotTellLetsAllLeaveTheUpdateOut)
{
    const auto answers = inProcesses(2, [](const Membership& member) -> std::string {
        C10dRanks ranks(member.group, member.options());
        TensorGuard guard(ranks);
        const auto answer = guard(member.rank == 0 ? at::Tensor() : at::ones({2}));
        return !answer ? answer.error().what : answer->skip ? "skips" : "updates";
    });
    EXPECT_THAT(answers[0], Optional(StartsWith("it could not be told whether an output is finite (torch: ")));
    EXPECT_THAT(answers[1], said("skips"));
}

} // namespace

} // namespace nanscope
