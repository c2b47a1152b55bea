// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "core/diagnose/logvote.h"
#include "core/diagnose/rules.h"

namespace nanscope {
namespace {

/// A case with a finite input and a NaN tile, to which members are added.
class Bench
{
public:
    Bench()
    {
        element.shape = {1, 4, 4};
        element.input.assign(16, 1.0);
        element.output.assign(16, 0.5);
        element.output[5] = NAN;
        element.inputScan.count = 16;
        element.inputScan.absmax = 1;
        element.outputScan.count = 16;
        element.outputScan.nan = 1;
        c.element = &element;
        c.damage.count = 1;
        c.damage.name = "single element";
        c.damage.text = "[1, 1] is NaN";
    }

    Bench& member(std::string_view variant, int finite, int reproducing, double slack = 5, double headroom = 11)
    {
        const auto* found = *findVariant(variant);
        c.members.push_back({found, found->precision});
        MemberResult result;
        result.variant = variant;
        result.precision = name(found->precision);
        result.roundings = 8;
        result.finite = finite;
        result.reproducing = reproducing;
        result.slackPercent = slack;
        result.headroomBinades = headroom;
        c.results.push_back(result);
        return *this;
    }

    Element element;
    Case c;
};

TEST(Rules, AllFiniteWithMarginIsImplementation)
{
    Bench b;
    b.member("gns-gram", 8, 0).member("gns-standard", 8, 0);
    const auto j = judgeDamage(b.c);
    EXPECT_EQ(j.blame, Blame::implementation);
    EXPECT_FALSE(j.marginal);
    EXPECT_TRUE(j.question.empty());
}

TEST(Rules, ASingleMemberThatReproducesTheDumpForbidsTheAccusation)
{
    Bench b;
    b.member("gns-gram", 8, 0).member("deepspeed-gram", 0, 8);
    const auto j = judgeDamage(b.c);
    EXPECT_EQ(j.blame, Blame::undecided);
    EXPECT_FALSE(j.question.empty());
}

TEST(Rules, AMemberThatBlowsUpDifferentlyForbidsItToo)
{
    Bench b;
    b.member("gns-gram", 8, 0).member("polar-express-unprotected", 5, 0);
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::undecided);
}

TEST(Rules, EveryMemberReproducingIsNumerics)
{
    Bench b;
    b.member("deepspeed-gram", 0, 8);
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::numerics);
    EXPECT_FALSE(judgeDamage(b.c).marginal);
    b.member("keller-jordan", 3, 5);
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::numerics);
    EXPECT_TRUE(judgeDamage(b.c).marginal);
}

TEST(Rules, InsideTheCliffIsMarginalNumerics)
{
    for (const auto& [slack, headroom] : {std::pair(0.5, 11.0), std::pair(5.0, 3.0)}) {
        Bench b;
        b.c.damage.name = "whole element";
        b.member("gns-gram", 8, 0, slack, headroom);
        const auto j = judgeDamage(b.c);
        EXPECT_EQ(j.blame, Blame::numerics);
        EXPECT_TRUE(j.marginal);
    }
    Bench q;
    q.c.damage.name = "whole element";
    q.member("gns-gram", 8, 0);
    q.c.results[0].absmaxQ = 8500;
    EXPECT_EQ(judgeDamage(q.c).blame, Blame::numerics);
}

TEST(Rules, ZeroInNonZeroOutIsProof)
{
    Bench b;
    b.element.inputScan.zero = 16;
    b.element.inputScan.absmax = 0;
    b.member("gns-gram", 8, 0).member("dion-ns5", 8, 0);
    const auto j = judgeDamage(b.c);
    EXPECT_EQ(j.blame, Blame::implementation);
    EXPECT_EQ(j.kind, "zero in, non-zero out");
}

TEST(Rules, AnEpsilonThatNobodySaidMayHaveBeenZero)
{
    Bench b;
    b.element.inputScan.zero = 16;
    b.element.inputScan.absmax = 0;
    b.c.epsilonUnknown = true;
    b.member("gns-gram", 8, 0);
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::implementation) << "0/0 leaves nothing finite";
    b.c.damage.name = "whole element";
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::undecided);
    EXPECT_NE(judgeDamage(b.c).question.find("which epsilon"), std::string::npos);
    b.c.epsilonUnknown = false;
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::implementation);
}

TEST(Rules, ANormThatMayHaveVanishedIsAskedAbout)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.c.faint = true;
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::implementation) << "0/0 leaves nothing finite";
    b.c.damage.name = "whole element";
    EXPECT_EQ(judgeDamage(b.c).kind, faintKind);
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::undecided);
}

TEST(Rules, InfWhereTheResultIsLargestMayBeACast)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::implementation);
    b.c.likeACast = true;
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::undecided);
    EXPECT_NE(judgeDamage(b.c).question.find("cast or scale"), std::string::npos);
    b.c.identification.how = IdentifiedBy::given;
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::implementation);
}

TEST(Rules, WhatOtherCodeLeavesIsAskedAbout)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.c.besides = true;
    EXPECT_EQ(judgeDamage(b.c).kind, besidesKind);
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::undecided);
    b.c.identification.how = IdentifiedBy::sidecar;
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::implementation);
}

TEST(Rules, RowsMayBeDividedByANormAndTilesMayNot)
{
    DamagePattern damage;
    damage.name = "scattered";
    EXPECT_TRUE(mayBeBesides(damage, true)) << "a cast";
    for (const auto* kind : {"rows", "columns"}) {
        damage.name = kind;
        EXPECT_TRUE(mayBeBesides(damage, true, true)) << kind << ": 0/0 of their own norm";
    }
    for (const auto* kind : {"single element", "whole element", "rows", "columns"}) {
        damage.name = kind;
        EXPECT_TRUE(mayBeBesides(damage, false)) << kind;
        EXPECT_FALSE(mayBeBesides(damage, true)) << kind << ": that takes a value besides the input";
    }
    for (const auto* kind : {"rectangle", "strided rectangle", "mirrored pair", "lower triangle"}) {
        damage.name = kind;
        EXPECT_FALSE(mayBeBesides(damage, false)) << kind;
    }
}

TEST(Rules, ZeroInputWhoseEpsilonVanishesIsNumerics)
{
    Bench b;
    b.element.inputScan.zero = 16;
    b.element.inputScan.absmax = 0;
    b.member("dion-polar-express", 0, 8);
    const auto j = judgeDamage(b.c);
    EXPECT_EQ(j.blame, Blame::numerics);
    EXPECT_NE(j.kind.find("epsilon"), std::string::npos);
}

TEST(Rules, OutputOfNoKnownVariantStaysUndecided)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.c.fit.compared = true;
    b.c.identification.matchesNone = true;
    b.c.identification.all = {{"gns-gram", 0.93}};
    EXPECT_EQ(judgeDamage(b.c).blame, Blame::undecided);
    EXPECT_EQ(judgeDamage(b.c).kind, "matches no known variant");
}

TEST(Rules, TheCastQuestionNamesTheNumberThatOverflows)
{
    Bench b;
    b.element.inputScan.absmax = 80384;
    b.member("gns-gram", 8, 0).member("deepspeed-gram", 0, 8);
    const auto j = judgeDamage(b.c);
    EXPECT_EQ(j.blame, Blame::undecided);
    EXPECT_NE(j.question.find("80384 > 65504"), std::string::npos) << j.question;
}

TEST(Rules, LocalFiniteDamageIsFiniteCorruption)
{
    Bench b;
    b.element.outputScan.nan = 0;
    b.c.damage = {};
    b.c.fit.compared = true;
    b.c.fit.localDamage = true;
    b.c.fit.worstTileError = 1.0;
    b.c.identification.names = {"gns-gram"};
    b.c.identification.fit = 0.004;
    b.c.identification.how = IdentifiedBy::fit;
    EXPECT_EQ(judgeFinite(b.c).blame, Blame::undecided) << "a fit does not tell what else the user's code does";
    b.c.misplaced = true;
    EXPECT_EQ(judgeFinite(b.c).kind, "finite corruption");
    b.c.misplaced = false;
    b.c.identification.how = IdentifiedBy::given;
    EXPECT_EQ(judgeFinite(b.c).kind, "finite corruption");
    EXPECT_EQ(judgeFinite(b.c).blame, Blame::implementation);
    b.c.deliberate = true;
    EXPECT_EQ(judgeFinite(b.c).blame, Blame::undecided);
    EXPECT_NE(judgeFinite(b.c).question.find("weight decay"), std::string::npos);
    b.c.fit.worstTileError = 0.03;
    EXPECT_EQ(judgeFinite(b.c).blame, Blame::undecided);
}

RunData runWithNorms(const std::vector<double>& values)
{
    RunData run;
    Series series;
    series.name = "grad_norm";
    series.rank = 0;
    series.source = "console.log";
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i);
        series.points.push_back({number, values[i], stateOf(values[i]), number + 1});
    }
    run.series.push_back(series);
    return run;
}

TEST(LogVote, ClimbingAndCalmTracesAreToldApart)
{
    CaptureVerdict verdict;
    verdict.rank = 0;
    std::vector<double> climbing;
    std::vector<double> calm;
    for (int i = 0; i < 12; ++i) {
        climbing.push_back(std::pow(2.0, i));
        calm.push_back(1 + 0.01 * i);
    }
    EXPECT_EQ(voteOf(runWithNorms(climbing), "grad_norm", verdict).kind, LogVote::Kind::climbing);
    const auto vote = voteOf(runWithNorms(calm), "grad_norm", verdict);
    EXPECT_EQ(vote.kind, LogVote::Kind::calm);
    EXPECT_EQ(vote.line.source, "console.log:12");
}

TEST(LogVote, WhatComesAfterTheBirthDoesNotVote)
{
    CaptureVerdict verdict;
    verdict.rank = 0;
    verdict.step = std::pair(std::int64_t {5}, std::int64_t {6});
    const auto vote = voteOf(runWithNorms({1, 1, 1, 1, 1, 1, 1e6, 1e7, NAN}), "grad_norm", verdict);
    EXPECT_EQ(vote.kind, LogVote::Kind::calm);
}

TEST(LogVote, TooFewPointsAreSilent)
{
    EXPECT_EQ(voteOf(runWithNorms({1, 2}), "grad_norm", {}).kind, LogVote::Kind::silent);
    EXPECT_EQ(voteOf(runWithNorms({1, 1, 1, 1}), "loss_scale", {}).kind, LogVote::Kind::silent);
}

} // namespace
} // namespace nanscope
