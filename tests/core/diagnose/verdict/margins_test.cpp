// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// The edges of the rules: what is just enough for an accusation, and what is just not.
#include <cmath>

#include <gmock/gmock.h>

#include "core/diagnose/verdict/margin.h"
#include "core/model/verdict.h"
#include "tests/core/diagnose/madefacts.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

using test::MadeFacts;

TEST(Margins, SlackOfMoreThanOnePercentIsNeeded)
{
    MadeFacts s;
    s.member("gns-gram").slackPercent = 1.0;
    EXPECT_EQ(s.judged().rule, RuleId::withoutMargin);
    s.facts.members[0].slackPercent = 1.01;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.facts.members[0].slackPercent.reset();
    EXPECT_EQ(s.judged().blame, Blame::implementation) << "an unmeasured slack is no cliff";
}

TEST(Margins, FourBinadesOfHeadroomAreNeeded)
{
    MadeFacts s;
    s.member("gns-gram").headroomBinades = 3.99;
    EXPECT_EQ(s.judged().rule, RuleId::withoutMargin);
    s.facts.members[0].headroomBinades = 4;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
}

// polar-express was published with 1.09 % of slack, emerging-cans with 0.00055 %: half of it is margin enough, unless
// that is less than one rounding of the format.
TEST(Margins, AScheduleNeedsHalfOfWhatItsAuthorsLeftIt)
{
    MadeFacts s;
    s.member("polar-express").slackPercent = 0.56;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.facts.members[0].slackPercent = 0.54;
    EXPECT_NE(s.judged().blame, Blame::implementation);

    MadeFacts cans;
    cans.member("emerging-cans").slackPercent = 0.0004;
    EXPECT_EQ(cans.judged().blame, Blame::implementation);
    cans.facts.members[0].slackPercent = 0.0002;
    EXPECT_NE(cans.judged().blame, Blame::implementation);
    cans.facts.members[0].slackPercent = 0.4;
    cans.facts.members[0].precision = "bf16";
    EXPECT_NE(cans.judged().blame, Blame::implementation) << "less than a rounding of bf16";
}

TEST(Margins, NumbersDoNotDamageARectangle)
{
    MadeFacts s;
    s.member("gns-gram").absmaxQ = 101;
    EXPECT_EQ(s.judged().blame, Blame::numerics);
    s.facts.damage.shape = DamageShape::rectangle;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    EXPECT_THAT(s.judged().summary, HasSubstr("do not end like this"));
}

TEST(Margins, ValuesHereAndThereAreTheNumbersOnlyWhereTheFormatIsNearlyFull)
{
    for (const auto shape : {DamageShape::singleElement, DamageShape::scattered}) {
        MadeFacts s;
        s.facts.damage.shape = shape;
        auto& member = s.member("cans");
        member.slackPercent = -11.4;
        member.headroomBinades = 126;
        EXPECT_EQ(s.judged().blame, Blame::undecided)
            << name(shape) << ": past the limit of its schedule, and values of one";
        EXPECT_THAT(s.judged().summary, HasSubstr("do not end like this"));
        member.headroomBinades = 3.9;
        EXPECT_EQ(s.judged().rule, RuleId::withoutMargin) << name(shape);
        member.absmaxQ = 8500;
        EXPECT_EQ(s.judged().blame, Blame::numerics) << name(shape);
    }
}

TEST(Margins, WhatRanAwayLeavesNoRightRest)
{
    MadeFacts s;
    s.facts.damage.shape = DamageShape::rectangle;
    s.member("cans").slackPercent = -11.4;
    s.facts.fit.compared = true;
    s.facts.identified.how = IdentifiedBy::fit;
    s.facts.identified.fit = 0.05;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.facts.identified.fit = 0.051;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    s.facts.identified.fit = 0.004;
    s.facts.members[0].headroomBinades = 3.9;
    EXPECT_EQ(s.judged().blame, Blame::undecided) << "an overflow of the last step spoils nothing else";
    s.facts.members[0].headroomBinades = 11;
    s.facts.fit.compared = false;
    EXPECT_EQ(s.judged().blame, Blame::undecided) << "of a call beside it";
    s.facts.fit.compared = true;
    s.facts.dumpedByWrapper = false;
    s.facts.damage.shape = DamageShape::singleElement;
    EXPECT_EQ(s.judged().rule, RuleId::codeBesides);
}

TEST(Margins, ALargeQIsACliffOfTheGramForm)
{
    MadeFacts s;
    s.member("gns-gram").absmaxQ = 99.9;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.facts.members[0].absmaxQ = 100;
    EXPECT_EQ(s.judged().blame, Blame::numerics);
    EXPECT_THAT(s.judged().summary, HasSubstr("largest |Q| 100"));
}

TEST(Margins, OneMemberOnTheEdgeAmongSafeOnesLeavesAQuestion)
{
    MadeFacts s;
    s.member("gns-standard");
    s.member("gns-gram").slackPercent = 0.5;
    const auto j = s.judged();
    EXPECT_EQ(j.blame, Blame::undecided);
    EXPECT_THAT(j.question, HasSubstr("If it was gns-gram in fp16, the numbers"));
    EXPECT_THAT(j.question, HasSubstr("if it was gns-standard in fp16, they cannot"));
}

TEST(Margins, FormsNobodyRecommendsCountOnlyOnceTheyFail)
{
    MadeFacts s;
    s.member("gns-gram");
    s.member("gram-no-restart").headroomBinades = 0.5;
    EXPECT_EQ(s.judged().blame, Blame::implementation) << "they never have margin";
    s.facts.members[1].finite = 7;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
}

TEST(Margins, AFormPastItsLimitLeavesAQuestionThoughItStayedFinite)
{
    MadeFacts s;
    s.member("gns-gram");
    auto& naive = s.member("gram-no-restart");
    naive.slackPercent = 0.1;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    naive.slackPercent = -0.1;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    EXPECT_THAT(s.judged().question, HasSubstr("If it was gram-no-restart in fp16, "));
    naive.slackPercent = 5;
    naive.absmaxQ = 101;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
}

TEST(Margins, AFormThatIsNamedNeedsMarginLikeAnyOther)
{
    MadeFacts s;
    s.member("polar-express-unprotected").slackPercent = 0.9;
    EXPECT_EQ(s.judged().rule, RuleId::withoutMargin);
    s.facts.members[0].slackPercent = 1.1;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.facts.members[0].slackPercent = -32.9;
    EXPECT_EQ(s.judged().rule, RuleId::withoutMargin);
}

TEST(Margins, WhatFp16MakesZerosOfIsAQuestionOfTheCast)
{
    MadeFacts s;
    s.facts.inputAbsmax = 2.3e-8;
    s.member("keller-jordan");
    s.member("keller-jordan", 0, 8);
    s.facts.members[1].precision = "fp16";
    EXPECT_THAT(s.judged().question, HasSubstr("every value becomes zero there, and 0/0 is NaN"));
    EXPECT_THAT(s.judged().summary, HasSubstr("1 of 2 plausible pairs of variant and format"));
    s.facts.members.erase(s.facts.members.begin());
    EXPECT_EQ(s.judged().kind, "the cast makes zeros of the input");
}

TEST(Margins, DamageWhereTheInputIsZeroIsAskedAbout)
{
    MadeFacts s;
    s.member("gns-gram");
    s.facts.damageOnZeros = true;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    EXPECT_EQ(s.judged().rule, RuleId::damageOnZeros);
    EXPECT_EQ(diagnose::verdict::dividing(diagnose::verdict::consider(s.facts)), nullptr);
    s.facts.members[0].reproducing = 8;
    EXPECT_EQ(s.judged().blame, Blame::numerics) << "a variant that divides so itself explains it";
}

TEST(Margins, WithoutAnyReplayNobodyIsAccused)
{
    const MadeFacts s;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    EXPECT_EQ(s.judged().kind, "nothing to compare with");
}

TEST(Margins, EveryMemberBlowingUpDifferentlyIsNoProofForTheNumbers)
{
    MadeFacts s;
    s.member("keller-jordan", 0);
    s.member("dion-ns5", 0);
    const auto j = s.judged();
    EXPECT_EQ(j.blame, Blame::undecided);
    EXPECT_THAT(j.question, HasSubstr("if it was another, they cannot"));
}

TEST(Margins, TheAccusationNamesItsCounts)
{
    MadeFacts s;
    s.member("gns-gram").slackPercent = 5.14;
    EXPECT_EQ(s.judged().summary,
        "the input is finite, and the one plausible variant stays finite on it; in the dump every value is NaN "
        "(8 of 8 replays finite, the limit of convergence lies at least 5.1 % above the spectral norm, all values 2^11 "
        "or more below overflow)");
    s.member("gns-standard").headroomBinades = 9.7;
    EXPECT_THAT(s.judged().summary, HasSubstr("each of 2 plausible variants stays finite on it"));
    EXPECT_THAT(s.judged().summary, HasSubstr("(16 of 16"));
    EXPECT_THAT(s.judged().summary, HasSubstr("all values 2^9 or more below overflow"))
        << "the least of all, rounded down";
}

TEST(Margins, LongListsOfVariantsAreCutInTheQuestion)
{
    MadeFacts s;
    for (const auto* variant : {"keller-jordan", "torch-muon", "dion-ns5", "dion-polar-express", "gns-standard"}) {
        s.member(variant, 0, 8);
    }
    s.member("gns-gram");
    EXPECT_THAT(s.judged().question, HasSubstr("dion-polar-express in bf16 and 1 more"));
}

TEST(Margins, OverflowInTheCastNeedsACastAndAnOverflow)
{
    MadeFacts s;
    s.facts.inputAbsmax = 80384;
    s.member("deepspeed-gram", 0, 8);
    EXPECT_EQ(s.judged().kind, "overflow in the cast");
    s.facts.inputAbsmax = 65504;
    EXPECT_EQ(s.judged().kind, "the iteration leaves the number format");
    s.facts.inputAbsmax = 80384;
    s.member("gns-gram", 0, 8);
    EXPECT_EQ(s.judged().kind, "the iteration leaves the number format") << "gns normalises before it casts";
}

TEST(Margins, ExplanationSaysWhereItFirstBreaks)
{
    MadeFacts s;
    s.member("deepspeed-gram", 0, 8).firstBad = "step 3 q";
    EXPECT_THAT(s.judged().summary,
        HasSubstr("8 of 8 replays of deepspeed-gram in fp16 end with exactly this damage, "
                  "first at step 3 q"));
}

TEST(Margins, ATileMustBeFarOffAndFarFromTypical)
{
    MadeFacts s;
    s.finiteOutput();
    s.facts.fit.compared = true;
    s.facts.fit.localDamage = true;
    s.facts.nothingElse = true;
    s.facts.identified.names = {"gns-gram"};
    s.facts.identified.fit = 0.004;
    s.facts.fit.worstTileError = 0.081;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.facts.fit.worstTileError = 0.08;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    // Ten times the typical tile, where the typical one is rough itself.
    s.facts.identified.fit = 0.02;
    s.facts.fit.worstTileError = 0.19;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    s.facts.fit.worstTileError = 0.21;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.facts.fit.localDamage = false;
    EXPECT_EQ(s.judged().kind, "healthy");
}

TEST(Margins, ZerosThatAMaskCanLeaveAreAskedAbout)
{
    MadeFacts s;
    s.finiteOutput();
    s.facts.identified.names = {"gns-gram"};
    s.facts.identified.fit = 0.002;
    s.facts.identified.how = IdentifiedBy::sidecar;
    s.facts.fit = {true, true, "", 1.0, 8, 0};
    s.facts.misplaced = true;
    EXPECT_EQ(s.judged().kind, "finite corruption");
    s.facts.zeroInPlaces = true;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    EXPECT_THAT(s.judged().question, HasSubstr("a mask"));
    EXPECT_TRUE(diagnose::verdict::asksAboutPlace(s.judged().rule)) << "it is no healthy capture";
}

TEST(Margins, WhatTheOutputContradictsIsNoFunctionToBeOffFrom)
{
    MadeFacts s;
    s.finiteOutput();
    auto& id = s.facts.identified;
    id.how = IdentifiedBy::given;
    id.names = {"emerging-cubic5"};
    id.fit = 0.33;
    id.runnerUp = 0.0017;
    id.runnerUpName = "gns-gram";
    s.facts.fit = {true, true, "", 5.6, 16, 16};
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    EXPECT_EQ(s.judged().summary, "the output is not what emerging-cubic5 gives: 33 % off, and 0.17 % from gns-gram");
    id.fit = 0.09;
    EXPECT_EQ(s.judged().kind, "not judged in full") << "nowhere right is not wrong in places";
}

TEST(Margins, ASilentZeroIsNumbersOnlyWhereReplaysAreZeroToo)
{
    MadeFacts s;
    s.finiteOutput();
    s.facts.outputZero = true;
    s.member("keller-jordan", 8, 8);
    EXPECT_EQ(s.judged().blame, Blame::numerics);
    EXPECT_EQ(s.judged().kind, "silently zero");
    s.member("gns-gram", 8, 0);
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    EXPECT_EQ(diagnose::verdict::dividing(diagnose::verdict::consider(s.facts)), diagnose::verdict::reproduces);
    s.facts.members[0].reproducing = 0;
    EXPECT_EQ(s.judged().kind, "all zero");
    EXPECT_EQ(s.judged().blame, Blame::undecided);
}

TEST(Margins, ZeroInAndOutIsHealthyAnythingElseIsProof)
{
    MadeFacts s;
    s.zeroInput();
    s.finiteOutput();
    s.facts.outputZero = true;
    EXPECT_EQ(s.judged().summary, "zero in, zero out");
    s.facts.dumpedByWrapper = false;
    EXPECT_THAT(s.judged().summary, testing::HasSubstr("clone the input before the call"));
    s.facts.dumpedByWrapper = true;
    s.facts.outputZero = false;
    s.facts.identified.how = IdentifiedBy::sidecar;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    EXPECT_THAT(s.judged().summary, HasSubstr("yet the output is not zero"));
    s.facts.identified.how = IdentifiedBy::unknown;
    s.facts.control.reset();
    EXPECT_EQ(s.judged().blame, Blame::undecided) << "weight decay adds something, too";
    EXPECT_THAT(s.judged().question, HasSubstr("weight decay"));
}

TEST(Totals, TakeTheWorstOfEveryMember)
{
    const auto of = [](int finite, std::optional<double> slack, std::optional<double> q, double headroom) {
        MemberResult member;
        member.roundings = 8;
        member.finite = finite;
        member.slackPercent = slack;
        member.absmaxQ = q;
        member.headroomBinades = headroom;
        return member;
    };
    const auto totals =
        diagnose::verdict::totalsOf({of(8, 5.0, 3.0, 11), of(6, 2.5, 40, 7.5), of(7, std::nullopt, std::nullopt, 9)});
    EXPECT_EQ(totals.replays, 24);
    EXPECT_EQ(totals.finite, 21);
    EXPECT_EQ(totals.slackPercent, 2.5);
    EXPECT_EQ(totals.absmaxQ, 40);
    EXPECT_EQ(totals.headroomBinades, 7.5);
    EXPECT_EQ(diagnose::verdict::totalsText(totals),
        "21 of 24 replays finite, the limit of convergence lies at least 2.5 % above the spectral norm, largest |Q| 40")
        << "some left the format: there is no room to speak of";
    EXPECT_EQ(diagnose::verdict::totalsText(diagnose::verdict::totalsOf({of(8, 2.5, 40, 7.5)})),
        "8 of 8 replays finite, the limit of convergence lies at least 2.5 % above the spectral norm, largest |Q| 40, "
        "all values 2^7 or more below overflow");
    EXPECT_EQ(diagnose::verdict::totalsText(diagnose::verdict::totalsOf({of(8, -20, 0, 7.5)})),
        "8 of 8 replays finite, the spectral norm exceeds the limit of convergence by 25 %, largest |Q| 0, all "
        "values 2^7 or more below overflow");
    EXPECT_EQ(diagnose::verdict::totalsText(diagnose::verdict::totalsOf({of(0, std::nullopt, 0, 0)})),
        "0 of 8 replays finite");
}

} // namespace
} // namespace nanscope
