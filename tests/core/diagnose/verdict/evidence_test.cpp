// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "core/diagnose/context/logvote.h"
#include "core/model/verdict.h"
#include "tests/core/diagnose/madefacts.h"

namespace nanscope {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A tile of a matrix of 64x96 is bad, with its replays, to which facts are added.
class Trial : public test::MadeFacts
{
public:
    Trial()
        : MadeFacts(DamageShape::rectangle, "a tile is NaN")
    {
        facts.rows = 64;
        facts.cols = 96;
        facts.inputAbsmax = 0.25;
        member("gns-gram").slackPercent = 5.1;
        facts.identified.names = {"gns-gram"};
        facts.identified.how = IdentifiedBy::fit;
        facts.identified.fit = 0.004;
        rectangle(32, 48, 64, 96);
    }

    Trial& rectangle(std::int64_t rowBegin, std::int64_t rowEnd, std::int64_t colBegin, std::int64_t colEnd)
    {
        const auto count = (rowEnd - rowBegin) * (colEnd - colBegin);
        facts.damage = {
            DamageShape::rectangle, "", 0, rowBegin, rowEnd, colBegin, colEnd, count, count, {{0x7fc0, 512}}};
        return *this;
    }

    void explainByNumbers() { facts.members[0].reproducing = 6; }
};

std::string joined(const std::vector<EvidenceLine>& lines)
{
    std::string text;
    for (const auto& line : lines) {
        text += line.text + " <" + line.source + ">\n";
    }
    return text;
}

Series norms(const std::vector<double>& values, const std::string& name = "grad_norm")
{
    Series series;
    series.name = name;
    series.source = "console.log";
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i);
        series.points.push_back({number, values[i], stateOf(values[i]), number + 1});
    }
    return series;
}

TEST(ReplayLines, CountVariantsRoundingsAndReplaysApart)
{
    Trial t;
    const auto line = [&t] {
        const auto judged = t.judged();
        const auto isReplays = [](const EvidenceLine& one) { return one.text.find("replayed under") != one.text.npos; };
        const auto found = std::ranges::find_if(judged.speaksFor, isReplays);
        return found == judged.speaksFor.end() ? std::string() : found->text;
    };
    EXPECT_THAT(line(), StartsWith("1 variant replayed under 8 roundings: 8 of 8 replays finite"));
    auto& second = t.member("gns-standard");
    second.slackPercent = 5.1;
    EXPECT_THAT(line(), StartsWith("2 variants replayed under 8 roundings each: 16 of 16 replays finite"));
    t.facts.members[1].roundings = 2;
    t.facts.members[1].finite = 2;
    EXPECT_THAT(line(), StartsWith("2 variants replayed under 2 to 8 roundings each: 10 of 10 replays finite"));
    auto third = t.facts.members[1];
    third.precision = "bf16";
    t.facts.members.push_back(third);
    EXPECT_THAT(line(), StartsWith("3 pairs of variant and format replayed under 2 to 8 roundings each: 12 of 12"));
    third.recordedEpsilon = true;
    t.facts.members.push_back(third);
    EXPECT_THAT(line(), StartsWith("4 combinations of variant, format and epsilon replayed under 2 to 8 roundings"));
}

TEST(Evidence, SaysWhyTheOutputDoesNotTellWhatRan)
{
    Trial t;
    t.facts.identified.how = IdentifiedBy::unknown;
    EXPECT_THAT(joined(t.judged().speaksAgainst), HasSubstr("not known: the output is too damaged to tell, so every"));
    t.zeroInput();
    EXPECT_THAT(joined(t.judged().speaksAgainst), HasSubstr("what comes of a zero matrix does not tell, so"));
    t.facts.inputZero = false;
    t.facts.fit.compared = true;
    EXPECT_THAT(joined(t.judged().speaksAgainst), HasSubstr("does not tell the variants apart, so"));
    t.facts.identified.matchesNone = true;
    EXPECT_THAT(joined(t.judged().speaksAgainst), HasSubstr("the output is not what any known variant gives <"));
}

TEST(Evidence, SaysWhoGaveTheWordThatNothingElseRan)
{
    Trial t;
    t.facts.nothingElse = true;
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("you said that nothing else touched"));
    t.facts.nothingElseBySidecar = true;
    EXPECT_THAT(joined(t.judged().speaksFor),
        HasSubstr("the sidecar says that nothing else touched the input or the result <sidecar>"));
}

TEST(Evidence, FiniteReplaysSpeakForTheKernelAndAgainstTheNumbers)
{
    Trial t;
    EXPECT_THAT(joined(t.judged().speaksFor),
        HasSubstr("8 of 8 replays finite, the limit of convergence lies at least 5.1 % above the spectral norm"));
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("0 of 8 replays end with exactly the dump's damage <replay>"));
    t.facts.members[0].absmaxQ = 8500;
    t.facts.damage.shape = DamageShape::wholeElement;
    t.facts.identified.how = IdentifiedBy::unknown;
    ASSERT_EQ(t.judged().rule, RuleId::atTheEdge);
    EXPECT_THAT(joined(t.judged().speaksAgainst), HasSubstr("8 of 8 replays finite"));
    EXPECT_THAT(joined(t.judged().speaksAgainst), HasSubstr("0 of 8 replays end with"));
}

TEST(Evidence, ReplaysThatReproduceTheDumpSpeakForTheNumbers)
{
    Trial t;
    t.facts.members.clear();
    t.member("deepspeed-gram", 0, 6);
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("6 of 8 replays end with exactly the dump's damage"));
    EXPECT_THAT(joined(t.judged().speaksAgainst), Not(HasSubstr("replays end with")));
}

TEST(Evidence, AlignedTilesAreToldFromOtherRectangles)
{
    Trial t;
    EXPECT_THAT(joined(t.judged().speaksFor),
        HasSubstr("one aligned tile of 16 × 32 at the edge (perhaps of a larger tile, cut there)"));
    t.rectangle(16, 32, 32, 64);
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("one aligned tile of 16 × 32, as the last write"));
    // Starts off its own grid.
    t.rectangle(8, 24, 32, 64);
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("the damage is a rectangle"));
    // Neither a power of two nor cut by the edge.
    t.rectangle(16, 32, 32, 56);
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("the damage is a rectangle"));
}

TEST(Evidence, ATileCutByTheEdgeIsStillOne)
{
    Trial t;
    t.facts.rows = 40;
    t.facts.cols = 90;
    t.rectangle(32, 40, 64, 90);
    EXPECT_THAT(joined(t.judged().speaksFor),
        HasSubstr("one aligned tile of 8 × 26 at the edge (perhaps of a larger tile, cut there)"));
    // 48 is a multiple of 16 only, so nothing that begins there can be 42 wide.
    t.rectangle(32, 40, 48, 90);
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("the damage is a rectangle"));
}

TEST(Evidence, AMuteMapIsSaidToBeMute)
{
    Trial t;
    t.facts.damage = {
        DamageShape::wholeElement, "every value is NaN", 0, 0, 64, 0, 96, 64 * 96, 64 * 96, {{0x7fc0, 64 * 96}}};
    const auto v = t.judged();
    EXPECT_THAT(joined(v.notTestable), HasSubstr("the map says nothing about where it began"));
    EXPECT_THAT(joined(v.speaksFor), Not(HasSubstr("a constant that was stored")));
}

TEST(Evidence, OnlyAPatternThatNoArithmeticMakesIsAConstant)
{
    Trial t;
    for (const std::uint64_t made : {0x7fc0, 0xffc0, 0x7fff, 0xffff, 0x7e00, 0xfe00, 0x7fffffff}) {
        t.facts.damage.nanBits = {{made, 512}};
        EXPECT_THAT(joined(t.judged().speaksFor), Not(HasSubstr("every NaN has the bits"))) << made;
    }
    t.facts.damage.nanBits = {{0x7fa5, 512}};
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("every NaN has the bits 0x7fa5, which no arithmetic makes"));
    t.facts.damage.nanBits = {{0x7fa5, 500}, {0xffc0, 12}};
    EXPECT_THAT(joined(t.judged().speaksFor), Not(HasSubstr("every NaN has")));
    t.facts.damage.nanBits = {{0x7fa5, 1}};
    t.facts.damage.count = 1;
    EXPECT_THAT(joined(t.judged().speaksFor), Not(HasSubstr("every NaN"))) << "one value has one pattern by nature";
}

TEST(Evidence, HowTheVariantIsKnownIsSaidWithItsSource)
{
    Trial t;
    t.facts.control.reset();
    t.facts.identified.runnerUp = 0.09;
    t.facts.identified.runnerUpName = "dion-ns5";
    EXPECT_THAT(joined(t.judged().speaksFor),
        HasSubstr("what gns-gram gives, to 0.4 %; the next, dion-ns5, is 9 % off <output>"));
    t.facts.identified.how = IdentifiedBy::given;
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("you said that gns-gram ran <--ran>"));
    t.facts.identified.how = IdentifiedBy::sidecar;
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("the sidecar says that gns-gram ran <sidecar>"));
    t.facts.identified.how = IdentifiedBy::unknown;
    EXPECT_THAT(joined(t.judged().speaksAgainst), HasSubstr("which function ran is not known"));
}

TEST(Evidence, ASidecarThatContradictsTheDumpSpeaksAgainst)
{
    Trial t;
    auto& id = t.facts.identified;
    id.how = IdentifiedBy::sidecar;
    id.names = {"keller-jordan"};
    id.fit = 0.4;
    id.runnerUp = 0.004;
    id.runnerUpName = "dion-ns5";
    EXPECT_THAT(joined(t.judged().speaksAgainst),
        HasSubstr("finite part of the output is 40 % off from keller-jordan, and 0.4 % from dion-ns5"));
    // Not clearly better, or nothing that fits well itself: no contradiction.
    id.fit = 0.011;
    EXPECT_THAT(joined(t.judged().speaksAgainst), Not(HasSubstr("perhaps something else ran")));
    id.fit = 0.9;
    id.runnerUp = 0.2;
    EXPECT_THAT(joined(t.judged().speaksAgainst), Not(HasSubstr("perhaps something else ran")));
}

TEST(Evidence, LogsVoteOnTheSideTheyBelongTo)
{
    Trial t;
    std::vector<double> climbing;
    for (int i = 0; i < 10; ++i) {
        climbing.push_back(std::pow(2, i));
    }
    RunData run;
    run.series = {norms(climbing)};
    t.facts.logs = diagnose::logLinesOf(run, {});
    EXPECT_THAT(joined(t.judged().speaksAgainst), HasSubstr("grad_norm climbs 512-fold"));
    t.explainByNumbers();
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("grad_norm climbs 512-fold"));

    run.series = {norms({1, 1, 1, 1, 1}), norms({65536, 65536, 65536, 65536}, "loss_scale")};
    t.facts.logs = diagnose::logLinesOf(run, {});
    EXPECT_THAT(joined(t.judged().speaksAgainst), HasSubstr("grad_norm stays within 2x"));
    EXPECT_THAT(joined(t.judged().speaksAgainst), HasSubstr("loss_scale stays within 2x"));
    t.facts.members[0].reproducing = 0;
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("grad_norm stays within 2x"));
}

TEST(Evidence, CalmGradientsSayNothingAgainstAnInputThatOverflows)
{
    Trial t;
    t.facts.inputAbsmax = 80384;
    t.facts.members.clear();
    t.member("deepspeed-gram", 0, 8).firstBad = "cast";
    RunData run;
    run.series = {norms({1, 1, 1, 1, 1})};
    t.facts.logs = diagnose::logLinesOf(run, {});
    ASSERT_EQ(t.judged().rule, RuleId::castOverflows);
    EXPECT_THAT(joined(t.judged().speaksAgainst), Not(HasSubstr("grad_norm")));
    EXPECT_THAT(joined(t.judged().notTestable), HasSubstr("absmax 80384; whether it should be that large"));
    EXPECT_THAT(joined(t.judged().notTestable), HasSubstr("not make the input smaller, whose absmax is 80384"));
}

TEST(Evidence, AFiniteInputExcludesUpstreamButAccusesNobody)
{
    Trial t;
    EXPECT_THAT(joined(t.judged().speaksFor), HasSubstr("the dumped input is finite (absmax 0.25)"));
    for (const auto blame : {Blame::undecided, Blame::numerics}) {
        t.explainByNumbers();
        t.facts.damageOnZeros = blame == Blame::undecided;
        t.facts.members[0].reproducing = blame == Blame::undecided ? 0 : 6;
        ASSERT_EQ(t.judged().blame, blame);
        EXPECT_THAT(joined(t.judged().speaksFor), Not(HasSubstr("the input is finite")));
        EXPECT_THAT(joined(t.judged().notTestable), HasSubstr("the dumped input is finite (absmax 0.25)"));
    }
}

TEST(Evidence, WhatACaptureCannotShowIsAlwaysSaid)
{
    for (const auto blame : {Blame::undecided, Blame::numerics, Blame::implementation}) {
        Trial t;
        t.facts.damageOnZeros = blame == Blame::undecided;
        t.facts.members[0].reproducing = blame == Blame::numerics ? 6 : 0;
        const auto v = t.judged();
        ASSERT_EQ(v.blame, blame);
        EXPECT_THAT(joined(v.notTestable), HasSubstr("a race that the capture's own synchronisation hides"));
        EXPECT_THAT(joined(v.notTestable), HasSubstr("the snapshot is not what the kernel read"));
        EXPECT_THAT(joined(v.notTestable), HasSubstr("on another GPU"));
        for (const auto& line : v.notTestable) {
            EXPECT_FALSE(line.source.empty()) << line.text;
        }
    }
}

} // namespace
} // namespace nanscope
