// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "core/diagnose/verdict/experiments.h"
#include "core/model/verdict.h"
#include "tests/core/diagnose/madefacts.h"
#include "tests/core/diagnose/says.h"

namespace nanscope {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Facts that the rules judge so.
Facts factsFor(Blame blame)
{
    test::MadeFacts made;
    auto& member = made.member("gns-gram");
    member.reproducing = blame == Blame::numerics ? 8 : 0;
    made.facts.damageOnZeros = blame == Blame::undecided;
    if (blame == Blame::machine) {
        made.facts.hardwareError = EvidenceLine {"Xid 79", "dmesg"};
    }
    if (blame == Blame::nondeterministic) {
        made.facts.duplicate = DuplicateInput {"other.pt", true, 0, {}, {}, true};
    }
    return made.facts;
}

CallsAgain again(std::int64_t failed, std::int64_t calls)
{
    return {{}, failed, calls};
}

CaptureVerdict after(Facts facts, const std::vector<CallsAgain>& called)
{
    CaptureVerdict verdict;
    verdict.facts = std::move(facts);
    diagnose::verdict::judgeAgain(verdict);
    return diagnose::withObservations(verdict, {{}, {}, called});
}

CaptureVerdict after(Blame blame, const CallsAgain& called)
{
    return after(factsFor(blame), {called});
}

bool speaksOf(const CaptureVerdict& verdict, const char* source)
{
    const auto any = [&](const std::vector<EvidenceLine>& lines) {
        return std::ranges::any_of(lines, [&](const EvidenceLine& line) { return line.source == source; });
    };
    return any(verdict.speaksFor) || any(verdict.speaksAgainst);
}

TEST(Retries, AtTheSceneCountWithoutTheUser)
{
    auto facts = factsFor(Blame::undecided);
    facts.scene = {"mine:ns", {}, 9, 2, true};
    const auto v = after(facts, {});
    EXPECT_EQ(v.rule, RuleId::calledAgainFinite);
    EXPECT_THAT(v.summary, HasSubstr("2 of 9 calls with the same input at the scene failed"));
    EXPECT_THAT(v.notTestable, says("who wrote into the input during the call"));
    EXPECT_THAT(v.notTestable, says("mine:ns, which the sidecar says was called"));
    EXPECT_THAT(v.notTestable, Not(says("whether the same call fails again")));
    EXPECT_THAT(diagnose::withObservations(v, {}).facts.calledAgain, testing::SizeIs(1)) << "once, however often";
    facts.scene = {"", {}, 3, 5, false};
    EXPECT_NE(after(facts, {}).rule, RuleId::calledAgainFinite) << "a count that cannot be is none";
}

TEST(Retries, AtTheSceneSayNothingOfAFiniteOutput)
{
    auto facts = factsFor(Blame::undecided);
    facts.outputFinite = true;
    facts.fit.leftover = Leftover::zeros;
    facts.scene = {"", {}, 8, 0, false};
    EXPECT_NE(after(facts, {}).rule, RuleId::calledAgainFinite);
    EXPECT_THAT(after(facts, {}).facts.calledAgain, IsEmpty());
}

TEST(Retries, TheMostCallsAreHeldAgainstAChange)
{
    auto facts = factsFor(Blame::implementation);
    facts.scene = {"", {}, 1, 0, false};
    auto changed = again(0, 200);
    changed.experiment = "kernels-off";
    EXPECT_THAT(after(facts, {again(30, 200), changed}).speaksFor, says("30 of 200 without"));
}

TEST(Retries, OneFiniteCallAcquitsEveryFunctionOfTheInput)
{
    for (const auto blame : {Blame::implementation, Blame::numerics, Blame::undecided}) {
        for (const auto& called : {again(0, 200), again(3, 200), again(0, 1)}) {
            const auto v = after(blame, called);
            EXPECT_EQ(v.blame, Blame::nondeterministic) << name(blame);
            EXPECT_EQ(v.rule, RuleId::calledAgainFinite);
            EXPECT_THAT(v.speaksFor, says("the same bits end in two ways"));
        }
    }
    EXPECT_EQ(after(Blame::machine, again(3, 200)).blame, Blame::machine) << "a card that fails now and then does that";
    EXPECT_THAT(after(Blame::implementation, again(3, 200)).summary, HasSubstr("3 of 200 calls with the same input"));
    EXPECT_THAT(after(Blame::implementation, again(0, 200)).summary, HasSubstr("fewer than 1.5 % do"));
}

TEST(Retries, AnotherGpuSaysNothing)
{
    auto gpu = again(200, 200);
    gpu.sameGpu = false;
    const auto v = after(Blame::implementation, gpu);
    EXPECT_EQ(v.blame, Blame::implementation);
    EXPECT_FALSE(speaksOf(v, "retries"));
    EXPECT_THAT(v.notTestable, says("on another GPU: that says nothing"));
}

TEST(Retries, CallsOfAnotherCaptureAreNotWeighed)
{
    auto other = again(3, 200);
    other.capture = "other.pt";
    const auto v = after(Blame::implementation, other);
    EXPECT_EQ(v.blame, Blame::implementation);
    EXPECT_THAT(v.notTestable, Not(says("200 calls")));
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
    EXPECT_THAT(after(Blame::nondeterministic, again(58, 58)).speaksAgainst, Not(says("deterministic")));
    EXPECT_THAT(after(Blame::nondeterministic, again(59, 59)).speaksAgainst, says("deterministic"));
}

TEST(Retries, WhatWasBadBeforeIsNotTheFunctions)
{
    CaptureVerdict victim;
    victim.role = victim.facts.role = Role::downstream;
    victim.summary = "as judged";
    const auto v = diagnose::withObservations(victim, {{}, {}, {again(0, 200)}});
    EXPECT_EQ(v.summary, "as judged");
    EXPECT_THAT(v.notTestable, IsEmpty());
}

TEST(Retries, BoundsAreThoseOfTheTables)
{
    EXPECT_DOUBLE_EQ(diagnose::mostThatFail(200), 0.015);
    EXPECT_DOUBLE_EQ(diagnose::mostThatFail(2), 1);
    // 0.05 = p^n, by hand.
    EXPECT_NEAR(std::pow(diagnose::fewestThatFail(200), 200), 0.05, 1e-12);
    EXPECT_GT(diagnose::fewestThatFail(59), 0.95);
    EXPECT_LT(diagnose::fewestThatFail(58), 0.95);
}

// The lady tasting tea: 8 cups, 4 of each, all told apart has 1 chance in 70, three of four 16 more.
TEST(Retries, FishersTestHasHisOwnNumbers)
{
    EXPECT_NEAR(diagnose::chanceOfSoFew(again(4, 4), again(0, 4)), 1.0 / 70, 1e-12);
    EXPECT_NEAR(diagnose::chanceOfSoFew(again(3, 4), again(1, 4)), 17.0 / 70, 1e-12);
    EXPECT_NEAR(diagnose::chanceOfSoFew(again(3, 200), again(0, 200)), 200.0 * 199 * 198 / (400.0 * 399 * 398), 1e-12);
    EXPECT_NEAR(diagnose::chanceOfSoFew(again(0, 10), again(0, 10)), 1, 1e-12);
    EXPECT_NEAR(diagnose::chanceOfSoFew(again(0, 10), again(10, 10)), 1, 1e-12);
    EXPECT_LT(diagnose::chanceOfSoFew(again(900'000, 1'000'000), again(100'000, 1'000'000)), 1e-12);
}

TEST(Retries, ASettingMattersWhereChanceDoesNotExplainIt)
{
    CallsAgain off {{}, 0, 200, true, "kernels-off"};
    const auto open = after(factsFor(Blame::implementation), {again(3, 200), off});
    EXPECT_THAT(open.notTestable, says("chance explains that in 12 % of cases, so it says nothing yet"));
    const auto clear = after(factsFor(Blame::implementation), {again(200, 200), off});
    EXPECT_EQ(clear.blame, Blame::implementation);
    EXPECT_THAT(clear.speaksFor,
        says("use_triton=False in the optimizer, 200 of 200 without: chance explains that in less than 0.01 % of "
             "cases"));
    EXPECT_THAT(after(factsFor(Blame::numerics), {again(200, 200), off}).speaksAgainst, says("makes a difference"));
    const auto undecided = after(factsFor(Blame::undecided), {again(200, 200), off});
    EXPECT_FALSE(speaksOf(undecided, "retries"));
    off.experiment = "fp32-norm";
    EXPECT_THAT(after(factsFor(Blame::numerics), {again(200, 200), off}).speaksFor, says("makes a difference"));
    EXPECT_THAT(after(factsFor(Blame::implementation), {off}).notTestable, Not(says("makes a difference")))
        << "nothing to compare with";
}

TEST(Retries, WhatCannotBeIsOneSentence)
{
    EXPECT_TRUE(diagnose::check(again(0, 1)));
    EXPECT_THAT(diagnose::check(again(3, 2)).error().what, HasSubstr("3 of 2 calls cannot have failed"));
    EXPECT_FALSE(diagnose::check(again(0, 0)));
    EXPECT_FALSE(diagnose::check(again(-1, 2)));
    EXPECT_THAT(
        diagnose::check(CallsAgain {{}, 0, 1, true, "pray"}).error().what, HasSubstr("no experiment is called pray"));
}

} // namespace
} // namespace nanscope
