// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// The edges of the rules: what is just enough for an accusation, and what is just not.
#include <cmath>

#include <gmock/gmock.h>

#include "core/diagnose/margin.h"
#include "core/diagnose/rules.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

class Scene
{
public:
    Scene()
    {
        element.inputScan.count = 16;
        element.inputScan.absmax = 1;
        element.outputScan.count = 16;
        element.outputScan.nan = 1;
        c.element = &element;
        c.damage.name = "whole element";
        c.damage.text = "every value is NaN";
        c.damage.count = 16;
    }

    MemberResult& member(std::string_view variant, int finite = 8, int reproducing = 0)
    {
        const auto* found = *findVariant(variant);
        c.members.push_back({found, found->precision});
        MemberResult result {
            found->name.data(), std::string(name(found->precision)), 8, finite, reproducing, 5.0, std::nullopt, 11, ""};
        c.results.push_back(result);
        return c.results.back();
    }

    Judgement judged() const { return judgeDamage(c); }

    Element element;
    Case c;
};

TEST(Margins, SlackOfMoreThanOnePercentIsNeeded)
{
    Scene s;
    s.member("gns-gram").slackPercent = 1.0;
    EXPECT_EQ(s.judged().blame, Blame::numerics);
    s.c.results[0].slackPercent = 1.01;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.c.results[0].slackPercent.reset();
    EXPECT_EQ(s.judged().blame, Blame::implementation) << "an unmeasured slack is no cliff";
}

TEST(Margins, FourBinadesOfHeadroomAreNeeded)
{
    Scene s;
    s.member("gns-gram").headroomBinades = 3.99;
    EXPECT_EQ(s.judged().blame, Blame::numerics);
    s.c.results[0].headroomBinades = 4;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
}

// polar-express was published with 1.09 % of slack, emerging-cans with 0.00055 %: half of it is margin enough, unless
// that is less than one rounding of the format.
TEST(Margins, AScheduleNeedsHalfOfWhatItsAuthorsLeftIt)
{
    Scene s;
    s.member("polar-express").slackPercent = 0.56;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.c.results[0].slackPercent = 0.54;
    EXPECT_NE(s.judged().blame, Blame::implementation);

    Scene cans;
    cans.member("emerging-cans").slackPercent = 0.0004;
    EXPECT_EQ(cans.judged().blame, Blame::implementation);
    cans.c.results[0].slackPercent = 0.0002;
    EXPECT_NE(cans.judged().blame, Blame::implementation);
    cans.c.results[0].slackPercent = 0.4;
    cans.c.results[0].precision = "bf16";
    EXPECT_NE(cans.judged().blame, Blame::implementation) << "less than a rounding of bf16";
}

TEST(Margins, NumbersDoNotDamageARectangle)
{
    Scene s;
    s.member("gns-gram").slackPercent = 0.5;
    EXPECT_EQ(s.judged().blame, Blame::numerics);
    s.c.damage.name = "rectangle";
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    EXPECT_THAT(s.judged().summary, HasSubstr("do not end like this"));
}

TEST(Margins, ValuesHereAndThereAreTheNumbersOnlyWhereTheFormatIsNearlyFull)
{
    for (const auto* name : {"single element", "scattered"}) {
        Scene s;
        s.c.damage.name = name;
        auto& member = s.member("cans");
        member.slackPercent = -11.4;
        member.headroomBinades = 126;
        EXPECT_EQ(s.judged().blame, Blame::undecided) << name << ": past the limit of its schedule, and values of one";
        EXPECT_THAT(s.judged().summary, HasSubstr("do not end like this"));
        member.headroomBinades = 3.9;
        EXPECT_EQ(s.judged().blame, Blame::numerics) << name;
        EXPECT_TRUE(s.judged().marginal);
    }
}

TEST(Margins, WhatRanAwayLeavesNoRightRest)
{
    Scene s;
    s.c.damage.name = "rectangle";
    s.member("cans").slackPercent = -11.4;
    s.c.fit.compared = true;
    s.c.identification.how = IdentifiedBy::fit;
    s.c.identification.fit = 0.05;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.c.identification.fit = 0.051;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    s.c.identification.fit = 0.004;
    s.c.results[0].headroomBinades = 3.9;
    EXPECT_EQ(s.judged().blame, Blame::undecided) << "an overflow of the last step spoils nothing else";
    s.c.results[0].headroomBinades = 11;
    s.c.fit.compared = false;
    EXPECT_EQ(s.judged().blame, Blame::undecided) << "of a call beside it";
    s.c.fit.compared = true;
    s.c.besides = true;
    s.c.damage.name = "single element";
    EXPECT_EQ(s.judged().kind, besidesKind);
}

TEST(Margins, ALargeQIsACliffOfTheGramForm)
{
    Scene s;
    s.member("gns-gram").absmaxQ = 99.9;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.c.results[0].absmaxQ = 100;
    EXPECT_EQ(s.judged().blame, Blame::numerics);
    EXPECT_THAT(s.judged().summary, HasSubstr("max|Q| 100"));
}

TEST(Margins, OneMemberOnTheEdgeAmongSafeOnesLeavesAQuestion)
{
    Scene s;
    s.member("gns-standard");
    s.member("gns-gram").slackPercent = 0.5;
    const auto j = s.judged();
    EXPECT_EQ(j.blame, Blame::undecided);
    EXPECT_THAT(j.question, HasSubstr("If it was one of gns-gram in fp16"));
    EXPECT_THAT(j.question, HasSubstr("if it was one of gns-standard in fp16, they cannot"));
}

TEST(Margins, FormsNobodyRecommendsCountOnlyOnceTheyFail)
{
    Scene s;
    s.member("gns-gram");
    s.member("gram-no-restart").headroomBinades = 0.5;
    EXPECT_EQ(s.judged().blame, Blame::implementation) << "they never have margin";
    s.c.results[1].finite = 7;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
}

TEST(Margins, AFormPastItsLimitLeavesAQuestionThoughItStayedFinite)
{
    Scene s;
    s.member("gns-gram");
    auto& naive = s.member("gram-no-restart");
    naive.slackPercent = 0.1;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    naive.slackPercent = -0.1;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    EXPECT_THAT(s.judged().question, HasSubstr("If it was one of gram-no-restart in fp16"));
    naive.slackPercent = 5;
    naive.absmaxQ = 101;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
}

TEST(Margins, AFormThatIsNamedNeedsMarginLikeAnyOther)
{
    Scene s;
    s.member("polar-express-unprotected").slackPercent = 0.9;
    EXPECT_EQ(s.judged().blame, Blame::numerics);
    EXPECT_TRUE(s.judged().marginal);
    s.c.results[0].slackPercent = 1.1;
    EXPECT_EQ(s.judged().blame, Blame::implementation);
    s.c.results[0].slackPercent = -32.9;
    EXPECT_EQ(s.judged().blame, Blame::numerics);
}

TEST(Margins, WhatFp16MakesZerosOfIsAQuestionOfTheCast)
{
    Scene s;
    s.element.inputScan.absmax = 2.3e-8;
    s.member("keller-jordan");
    s.member("keller-jordan", 0, 8);
    s.c.members[1].precision = Precision::fp16;
    s.c.results[1].precision = "fp16";
    EXPECT_THAT(s.judged().question, HasSubstr("every value becomes zero there, and 0/0 is NaN"));
    EXPECT_THAT(s.judged().summary, HasSubstr("1 of 2 plausible variants and formats"));
    s.c.members.erase(s.c.members.begin());
    s.c.results.erase(s.c.results.begin());
    EXPECT_EQ(s.judged().kind, "the cast makes zeros of the input");
}

TEST(Margins, DamageWhereTheInputIsZeroIsAskedAbout)
{
    Scene s;
    s.member("gns-gram");
    s.c.deadLines = true;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    EXPECT_EQ(s.judged().kind, deadLinesKind);
    EXPECT_TRUE(divisionOf(s.c).can.empty());
    s.c.results[0].reproducing = 8;
    EXPECT_EQ(s.judged().blame, Blame::numerics) << "a variant that divides so itself explains it";
}

TEST(Margins, WithoutAnyReplayNobodyIsAccused)
{
    const Scene s;
    EXPECT_EQ(s.judged().blame, Blame::undecided);
    EXPECT_EQ(s.judged().kind, "nothing to compare with");
}

TEST(Margins, EveryMemberBlowingUpDifferentlyIsNoProofForTheNumbers)
{
    Scene s;
    s.member("keller-jordan", 0);
    s.member("dion-ns5", 0);
    const auto j = s.judged();
    EXPECT_EQ(j.blame, Blame::undecided);
    EXPECT_THAT(j.question, HasSubstr("if it was another, they cannot"));
}

TEST(Margins, TheAccusationNamesItsCounts)
{
    Scene s;
    s.member("gns-gram").slackPercent = 5.14;
    EXPECT_EQ(s.judged().summary,
        "the one plausible variant stays finite under 8 roundings (8 of 8 finite, slack 5.1 %, headroom 11 "
        "binades), and none ends like this dump: every value is NaN");
    s.member("gns-standard").headroomBinades = 9.7;
    EXPECT_THAT(s.judged().summary, HasSubstr("each of 2 plausible variants stays finite under 8 roundings (16 of 16"));
    EXPECT_THAT(s.judged().summary, HasSubstr("headroom 9 binades")) << "the least of all, rounded down";
}

TEST(Margins, LongListsOfVariantsAreCutInTheQuestion)
{
    Scene s;
    for (const auto* variant : {"keller-jordan", "torch-muon", "dion-ns5", "dion-polar-express", "gns-standard"}) {
        s.member(variant, 0, 8);
    }
    s.member("gns-gram");
    EXPECT_THAT(s.judged().question, HasSubstr("dion-polar-express in bf16 and 1 more"));
}

TEST(Margins, OverflowInTheCastNeedsACastAndAnOverflow)
{
    Scene s;
    s.element.inputScan.absmax = 80384;
    s.member("deepspeed-gram", 0, 8);
    EXPECT_EQ(s.judged().kind, "overflow in the cast");
    s.element.inputScan.absmax = 65504;
    EXPECT_EQ(s.judged().kind, "the iteration leaves the number format");
    s.element.inputScan.absmax = 80384;
    s.member("gns-gram", 0, 8);
    EXPECT_EQ(s.judged().kind, "the iteration leaves the number format") << "gns normalises before it casts";
}

TEST(Margins, ExplanationSaysWhereItFirstBreaks)
{
    Scene s;
    s.member("deepspeed-gram", 0, 8).firstBad = "step 3 q";
    EXPECT_THAT(s.judged().summary,
        HasSubstr("8 of 8 replays of deepspeed-gram in fp16 end with exactly this damage, "
                  "first at step 3 q"));
}

TEST(Margins, ATileMustBeFarOffAndFarFromTypical)
{
    Scene s;
    s.element.outputScan.nan = 0;
    s.c.fit.compared = true;
    s.c.fit.localDamage = true;
    s.c.identification.how = IdentifiedBy::given;
    s.c.identification.names = {"gns-gram"};
    s.c.identification.fit = 0.004;
    s.c.fit.worstTileError = 0.081;
    EXPECT_EQ(judgeFinite(s.c).blame, Blame::implementation);
    s.c.fit.worstTileError = 0.08;
    EXPECT_EQ(judgeFinite(s.c).blame, Blame::undecided);
    // Ten times the typical tile, where the typical one is rough itself.
    s.c.identification.fit = 0.02;
    s.c.fit.worstTileError = 0.19;
    EXPECT_EQ(judgeFinite(s.c).blame, Blame::undecided);
    s.c.fit.worstTileError = 0.21;
    EXPECT_EQ(judgeFinite(s.c).blame, Blame::implementation);
    s.c.fit.localDamage = false;
    EXPECT_EQ(judgeFinite(s.c).kind, "healthy");
}

TEST(Margins, ZerosThatAMaskCanLeaveAreAskedAbout)
{
    Scene s;
    s.element.outputScan.nan = 0;
    s.c.identification.names = {"gns-gram"};
    s.c.identification.fit = 0.002;
    s.c.identification.how = IdentifiedBy::sidecar;
    s.c.fit = {true, true, "", 1.0, 8, 0};
    EXPECT_EQ(judgeFinite(s.c).kind, "finite corruption");
    s.c.masked = true;
    EXPECT_EQ(judgeFinite(s.c).blame, Blame::undecided);
    EXPECT_THAT(judgeFinite(s.c).question, HasSubstr("a mask"));
    EXPECT_TRUE(asksAboutPlace(judgeFinite(s.c).kind)) << "it is no healthy capture";
}

TEST(Margins, WhatTheOutputContradictsIsNoFunctionToBeOffFrom)
{
    Scene s;
    s.element.outputScan.nan = 0;
    auto& id = s.c.identification;
    id.how = IdentifiedBy::given;
    id.names = {"emerging-cubic5"};
    id.fit = 0.33;
    id.runnerUp = 0.0017;
    id.runnerUpName = "gns-gram";
    s.c.fit = {true, true, "", 5.6, 16, 16};
    EXPECT_EQ(judgeFinite(s.c).blame, Blame::undecided);
    EXPECT_EQ(
        judgeFinite(s.c).summary, "the output is not what emerging-cubic5 gives: 33 % off, and 0.17 % from gns-gram");
    id.fit = 0.09;
    EXPECT_EQ(judgeFinite(s.c).kind, "healthy") << "nowhere right is not wrong in places";
}

TEST(Margins, ASilentZeroIsNumbersOnlyWhereReplaysAreZeroToo)
{
    Scene s;
    s.element.outputScan.nan = 0;
    s.element.outputScan.zero = 16;
    s.member("keller-jordan", 8, 8);
    EXPECT_EQ(judgeFinite(s.c).blame, Blame::numerics);
    EXPECT_EQ(judgeFinite(s.c).kind, "silently zero");
    s.member("gns-gram", 8, 0);
    EXPECT_EQ(judgeFinite(s.c).blame, Blame::undecided);
    EXPECT_EQ(divisionOf(s.c).can.size(), 1U);
    EXPECT_EQ(divisionOf(s.c).cannot.size(), 1U);
    s.c.results[0].reproducing = 0;
    EXPECT_EQ(judgeFinite(s.c).kind, "all zero");
    EXPECT_EQ(judgeFinite(s.c).blame, Blame::undecided);
}

TEST(Margins, ZeroInAndOutIsHealthyAnythingElseIsProof)
{
    Scene s;
    s.element.inputScan.zero = 16;
    s.element.outputScan.nan = 0;
    s.element.outputScan.zero = 16;
    EXPECT_EQ(judgeFinite(s.c).summary, "zero in, zero out");
    s.element.outputScan.zero = 15;
    s.c.damage.count = 0;
    s.c.identification.how = IdentifiedBy::sidecar;
    EXPECT_EQ(judgeFinite(s.c).blame, Blame::implementation);
    EXPECT_THAT(judgeFinite(s.c).summary, HasSubstr("yet the output is not zero"));
    s.c.identification.how = IdentifiedBy::unknown;
    EXPECT_EQ(judgeFinite(s.c).blame, Blame::undecided) << "weight decay adds something, too";
    EXPECT_THAT(judgeFinite(s.c).question, HasSubstr("weight decay"));
}

TEST(Totals, TakeTheWorstOfEveryMember)
{
    const auto totals = totalsOf({{"a", "bf16", 8, 8, 0, 5.0, 3.0, 11, ""}, {"b", "fp16", 8, 6, 0, 2.5, 40, 7.5, ""},
        {"c", "fp16", 8, 7, 0, std::nullopt, std::nullopt, 9, ""}});
    EXPECT_EQ(totals.roundings, 24);
    EXPECT_EQ(totals.finite, 21);
    EXPECT_EQ(totals.slackPercent, 2.5);
    EXPECT_EQ(totals.absmaxQ, 40);
    EXPECT_EQ(totals.headroomBinades, 7.5);
    EXPECT_EQ(totalsText(totals), "21 of 24 finite, slack 2.5 %, max|Q| 40, headroom 7 binades");
}

} // namespace
} // namespace nanscope
