// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/retries.h"

#include <cmath>

#include <gmock/gmock.h>

namespace nanscope {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

CaptureVerdict judged(Blame blame, std::string kind = "kernel, launch order, aliasing or communication")
{
    CaptureVerdict verdict;
    verdict.blame = blame;
    verdict.kind = std::move(kind);
    verdict.summary = "as judged";
    MemberResult calm;
    calm.roundings = 8;
    calm.finite = 8;
    verdict.members = {calm};
    return verdict;
}

CallsAgain again(std::int64_t failed, std::int64_t calls)
{
    return {{}, failed, calls};
}

auto says(const std::string& text)
{
    return Contains(Field(&EvidenceLine::text, HasSubstr(text)));
}

CaptureVerdict after(Blame blame, const CallsAgain& called)
{
    return withRetries(judged(blame), {called});
}

TEST(Retries, NoneOfNLowersNothing)
{
    for (const auto blame : {Blame::implementation, Blame::numerics, Blame::nondeterministic, Blame::undecided}) {
        const auto v = after(blame, again(0, 200));
        EXPECT_EQ(v.blame, blame);
        EXPECT_EQ(v.summary, "as judged");
        EXPECT_THAT(v.speaksFor, IsEmpty());
        EXPECT_THAT(v.speaksAgainst, IsEmpty());
        EXPECT_THAT(v.notTestable, says("not reproduced in this setting: 0 of 200 calls with the same input failed"));
        EXPECT_THAT(v.notTestable, says("fewer than 1.5 % do here; this lowers nothing"));
    }
}

TEST(Retries, SomeOfNMakeAKernelNondeterministic)
{
    const auto v = after(Blame::implementation, again(3, 200));
    EXPECT_EQ(v.blame, Blame::nondeterministic);
    EXPECT_EQ(v.kind, "the same input, another output");
    EXPECT_EQ(v.summary, "3 of 200 calls with the same input failed and the others did not; as judged");
    EXPECT_THAT(v.speaksFor, says("3 of 200 calls with the same input failed on the same GPU"));
    EXPECT_EQ(v.speaksFor.front().source, "retries");
}

TEST(Retries, SomeOfNAccuseNobodyElse)
{
    for (const auto blame : {Blame::numerics, Blame::undecided, Blame::machine}) {
        const auto v = after(blame, again(3, 200));
        EXPECT_EQ(v.blame, blame);
        EXPECT_THAT(v.speaksFor, IsEmpty());
        EXPECT_THAT(v.notTestable, says("end in two ways"));
    }
    auto near = judged(Blame::implementation);
    near.members[0].finite = 7;
    EXPECT_EQ(withRetries(near, {again(3, 200)}).blame, Blame::implementation);
    EXPECT_THAT(withRetries(near, {again(3, 200)}).notTestable, says("near an edge"));
}

TEST(Retries, AnotherGpuSaysNothing)
{
    auto gpu = again(200, 200);
    gpu.sameGpu = false;
    const auto v = after(Blame::implementation, gpu);
    EXPECT_EQ(v.blame, Blame::implementation);
    EXPECT_THAT(v.speaksFor, IsEmpty());
    EXPECT_THAT(v.notTestable, says("on another GPU: that says nothing"));
}

TEST(Retries, CallsOfAnotherCaptureAreNotWeighed)
{
    auto other = again(3, 200);
    other.capture = "other.pt";
    const auto v = after(Blame::implementation, other);
    EXPECT_EQ(v.blame, Blame::implementation);
    EXPECT_THAT(v.notTestable, IsEmpty());
}

TEST(Retries, AllOfNAreDeterministic)
{
    const auto v = after(Blame::implementation, again(200, 200));
    EXPECT_EQ(v.blame, Blame::implementation);
    EXPECT_THAT(v.notTestable, says("at 95 % confidence more than 98.5 % do: deterministic here"));
    EXPECT_THAT(after(Blame::nondeterministic, again(200, 200)).speaksAgainst, says("deterministic here"));
    EXPECT_EQ(after(Blame::nondeterministic, again(200, 200)).blame, Blame::nondeterministic)
        << "what the training showed is not taken back by calls from cold";
}

TEST(Retries, AFewCallsAreNotAlways)
{
    EXPECT_THAT(after(Blame::nondeterministic, again(58, 58)).notTestable, says("takes 59 of 59"));
    EXPECT_THAT(after(Blame::nondeterministic, again(58, 58)).speaksAgainst, IsEmpty());
    EXPECT_THAT(after(Blame::nondeterministic, again(59, 59)).speaksAgainst, says("deterministic"));
}

TEST(Retries, WhatWasBadBeforeIsNotTheFunctions)
{
    auto victim = judged(Blame::downstream);
    victim.role = Role::downstream;
    EXPECT_THAT(withRetries(victim, {again(0, 200)}).notTestable, IsEmpty());
}

TEST(Retries, BoundsAreThoseOfTheTables)
{
    EXPECT_DOUBLE_EQ(mostThatFail(200), 0.015);
    EXPECT_DOUBLE_EQ(mostThatFail(2), 1);
    // 0.05 = p^n, by hand.
    EXPECT_NEAR(std::pow(fewestThatFail(200), 200), 0.05, 1e-12);
    EXPECT_GT(fewestThatFail(59), 0.95);
    EXPECT_LT(fewestThatFail(58), 0.95);
}

// The lady tasting tea: 8 cups, 4 of each, all told apart has 1 chance in 70, three of four 16 more.
TEST(Retries, FishersTestHasHisOwnNumbers)
{
    EXPECT_NEAR(chanceOfSoFew(again(4, 4), again(0, 4)), 1.0 / 70, 1e-12);
    EXPECT_NEAR(chanceOfSoFew(again(3, 4), again(1, 4)), 17.0 / 70, 1e-12);
    EXPECT_NEAR(chanceOfSoFew(again(3, 200), again(0, 200)), 200.0 * 199 * 198 / (400.0 * 399 * 398), 1e-12);
    EXPECT_NEAR(chanceOfSoFew(again(0, 10), again(0, 10)), 1, 1e-12);
    EXPECT_NEAR(chanceOfSoFew(again(0, 10), again(10, 10)), 1, 1e-12);
    EXPECT_LT(chanceOfSoFew(again(900'000, 1'000'000), again(100'000, 1'000'000)), 1e-12);
}

TEST(Retries, ASettingMattersWhereChanceDoesNotExplainIt)
{
    CallsAgain off {{}, 0, 200, true, "kernels-off"};
    const auto open = withRetries(judged(Blame::implementation), {again(3, 200), off});
    EXPECT_THAT(open.notTestable, says("chance explains that in 12 % of cases, so it says nothing yet"));
    const auto clear = withRetries(judged(Blame::implementation), {again(200, 200), off});
    EXPECT_EQ(clear.blame, Blame::implementation);
    EXPECT_THAT(clear.speaksFor,
        says("use_triton=False in the optimizer, 200 of 200 without: chance explains that in less than 0.01 % of "
             "cases"));
    EXPECT_THAT(withRetries(judged(Blame::numerics), {again(200, 200), off}).speaksAgainst, says("makes a difference"));
    const auto undecided = withRetries(judged(Blame::undecided), {again(200, 200), off});
    EXPECT_THAT(undecided.speaksFor, IsEmpty());
    off.experiment = "fp32-norm";
    EXPECT_THAT(withRetries(judged(Blame::numerics), {again(200, 200), off}).speaksFor, says("makes a difference"));
    EXPECT_THAT(withRetries(judged(Blame::implementation), {off}).notTestable, IsEmpty()) << "nothing to compare with";
}

TEST(Retries, WhatCannotBeIsOneSentence)
{
    EXPECT_TRUE(check(again(0, 1)));
    EXPECT_THAT(check(again(3, 2)).error().what, HasSubstr("3 of 2 calls cannot have failed"));
    EXPECT_FALSE(check(again(0, 0)));
    EXPECT_FALSE(check(again(-1, 2)));
    EXPECT_THAT(check(CallsAgain {{}, 0, 1, true, "pray"}).error().what, HasSubstr("no experiment is called pray"));
}

} // namespace
} // namespace nanscope
