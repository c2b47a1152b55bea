// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gmock/gmock.h>

#include "core/diagnose/context/logvote.h"
#include "core/model/verdict.h"
#include "tests/core/diagnose/madefacts.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

class Bench : public test::MadeFacts
{
public:
    Bench()
        : MadeFacts(DamageShape::singleElement, "[1, 1] is NaN")
    { }

    Bench& member(std::string_view variant, int finite, int reproducing, double slack = 5, double headroom = 11)
    {
        MadeFacts::member(variant, finite, reproducing, slack).headroomBinades = headroom;
        return *this;
    }
};

TEST(Rules, AllFiniteWithMarginIsImplementation)
{
    Bench b;
    b.member("gns-gram", 8, 0).member("gns-standard", 8, 0);
    const auto j = b.judged();
    EXPECT_EQ(j.blame, Blame::implementation);
    EXPECT_FALSE(j.marginal);
    EXPECT_TRUE(j.question.empty());
}

// Of everything that accuses the call from its own dump, by a wrapper and of known code as well.
TEST(Rules, BesideOtherCodeNoDumpAccusesTheCall)
{
    const auto expectUndecided = [](Bench b, RuleId before) {
        ASSERT_EQ(b.judged().rule, before);
        ASSERT_TRUE(b.judged().blame == Blame::implementation || b.judged().blame == Blame::nondeterministic);
        b.facts.otherCode = true;
        b.facts.nothingElse = false;
        EXPECT_EQ(b.judged().blame, Blame::undecided) << name(before);
        EXPECT_EQ(b.judged().role, Role::birth) << name(before);
        EXPECT_THAT(b.judged().question, HasSubstr("what does the iteration alone make of its input?")) << name(before);
    };
    Bench b;
    b.member("gns-gram", 8, 0);
    expectUndecided(b, RuleId::noReplayEndsLikeThis);
    auto again = b;
    again.facts.calledAgain = {{"", 1, 20, true, ""}};
    expectUndecided(again, RuleId::calledAgainFinite);
    auto twin = b;
    twin.facts.duplicate = DuplicateInput {"good.pt", true, {}, {}, {}};
    twin.facts.duplicate->sameRest = true;
    expectUndecided(twin, RuleId::duplicateOfTheProcess);
    auto zero = b;
    zero.zeroInput();
    expectUndecided(zero, RuleId::zeroInSomethingOut);
    zero.finiteOutput();
    expectUndecided(zero, RuleId::zeroInFiniteOut);
    auto stale = b;
    stale.finiteOutput();
    stale.facts.nothingElse = true;
    stale.facts.outputOfEarlier = "earlier.pt";
    expectUndecided(stale, RuleId::staleOutput);
    auto tile = b;
    tile.finiteOutput();
    tile.facts.fit.compared = tile.facts.fit.localDamage = tile.facts.misplaced = true;
    tile.facts.fit.worstTileError = 1;
    tile.facts.identified.names = {"gns-gram"};
    tile.facts.identified.fit = 0.004;
    expectUndecided(tile, RuleId::finiteCorruption);
}

TEST(Rules, OfAFunctionOfMoreThanItsInputNoCallOfTheUsersTells)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.nothingElse = true;
    b.facts.calledAgain = {{"", 0, 100, true, ""}};
    ASSERT_EQ(b.judged().rule, RuleId::calledAgainFinite);
    b.facts.scene.otherTensors = 2;
    EXPECT_NE(b.judged().rule, RuleId::calledAgainFinite) << "what was called was the iteration alone";
    b.facts.calledAgain.front().atTheScene = true;
    EXPECT_EQ(b.judged().rule, RuleId::calledAgainFinite) << "a helper gave it all";
}

TEST(Rules, ThatACastIsToBlameIsAskedBesideWhatElseLeavesTheFormat)
{
    Bench b;
    b.facts.inputAbsmax = 8.7e33;
    b.facts.damage.shape = DamageShape::wholeElement;
    b.member("deepspeed-gram", 0, 8).member("gns-gram", 8, 0);
    EXPECT_THAT(b.judged().question,
        HasSubstr("(absmax 8.7e+33 > 65504); if it normalises in fp32 first, overflow "
                  "cannot explain it"));
    b.facts.members[1].finite = 0;
    EXPECT_THAT(b.judged().question, HasSubstr("its numbers leave the format, too"));
    b.facts.ran = {"gns-gram"};
    EXPECT_THAT(b.judged().summary, HasSubstr("each replay of gns-gram leaves the finite range"));
}

TEST(Rules, ANameUnderWhichAnotherTextWasFoundIsNoKnownCode)
{
    Bench b;
    b.member("keller-jordan", 8, 0);
    b.facts.control.reset();
    b.facts.nothingElse = true;
    b.facts.ran = {"keller-jordan"};
    EXPECT_EQ(b.judged().blame, Blame::implementation);
    b.facts.scene.function = "muon:zeropower";
    b.facts.scene.namedLike = "keller-jordan";
    const auto changed = b.judged();
    EXPECT_EQ(changed.rule, RuleId::functionUnknown);
    EXPECT_THAT(changed.question, testing::HasSubstr("what was changed in muon:zeropower"));
    EXPECT_THAT(changed.question, testing::HasSubstr("--impl python:muon:zeropower"));
    b.facts.nothingElse = false;
    EXPECT_EQ(b.judged().rule, RuleId::functionUnknown) << "that no other code ran says nothing of this one";
    b.zeroInput();
    b.facts.damage.shape = DamageShape::wholeElement;
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().rule, RuleId::functionUnknown) << "nor do zeros: the epsilon may be what was changed";
    b.facts.inputZero = false;
    b.facts.exactBits = true;
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "bits of the rest do not tell what was put around it";
}

TEST(Rules, ValuesThatFitDoNotTellWhatWasChanged)
{
    Bench b;
    b.member("keller-jordan", 8, 0);
    b.facts.control.reset();
    b.facts.damage.shape = DamageShape::rectangle;
    b.facts.fit.compared = true;
    b.facts.exactBits = true;
    b.facts.identified.names = {"keller-jordan"};
    b.facts.identified.all = {{"keller-jordan", 0}};
    b.facts.identified.fit = 0;
    b.facts.scene.function = "muon:zeropower";
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "a tile that is gone beside values that fit";
    b.facts.scene.namedLike = "keller-jordan";
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "a mask of a tile may have been put around it";
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "of the call nothing else ran; in it, something did";
    b.facts.ran = {"keller-jordan"};
    EXPECT_EQ(b.judged().blame, Blame::undecided);
    b.facts.ran.clear();
    b.facts.nothingElse = false;
    b.facts.scene.namedLike.clear();
    b.facts.damage.shape = DamageShape::rows;
    b.facts.exactBits = false;
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "an edited copy may divide rows by their norm";
}

TEST(Rules, OneValueThatIsGoneMayBeOfCodeThatNobodyPublished)
{
    Bench b;
    b.member("keller-jordan", 8, 0);
    b.facts.control.reset();
    b.facts.damage.shape = DamageShape::singleElement;
    b.facts.damage.count = b.facts.damage.nan = 1;
    b.facts.fit.compared = true;
    b.facts.exactBits = true;
    b.facts.identified.names = {"keller-jordan"};
    b.facts.identified.all = {{"keller-jordan", 0}};
    b.facts.identified.fit = 0;
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "no helper saw other code";
    b.facts.scene.function = "muon:zeropower";
    EXPECT_EQ(b.judged().blame, Blame::undecided);
    b.facts.ran = {"keller-jordan"};
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "whatever it computes";
    b.facts.ran.clear();
    b.facts.scene.namedLike = "keller-jordan";
    EXPECT_THAT(b.judged().question, testing::HasSubstr("what was changed in muon:zeropower"));
    b.facts.ran = {"keller-jordan"};
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "what it computes is not all that it does";
    b.facts.damage.shape = DamageShape::rectangle;
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "what was changed may be a mask of a tile";
    b.facts.scene.namedLike.clear();
    b.facts.ran.clear();
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "of one's own function a tile is a kernel's";
    b.facts.damage.shape = DamageShape::singleElement;
    b.facts.identified.how = IdentifiedBy::sidecar;
    b.facts.scene.namedLike.clear();
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "the published one has no mask";
}

TEST(Rules, OfZerosTheEpsilonIsAskedFirst)
{
    Bench b;
    b.zeroInput();
    b.facts.damage.shape = DamageShape::wholeElement;
    b.member("keller-jordan", 8, 0).member("deepspeed-gram", 0, 8);
    EXPECT_EQ(b.judged().rule, RuleId::zeroInAllBadOut);
    EXPECT_THAT(b.judged().question, testing::HasSubstr("which function ran, and which epsilon"));
    b.facts.ran = {"keller-jordan"};
    EXPECT_THAT(b.judged().question, testing::HasSubstr("did keller-jordan divide by the norm and this epsilon alone"));
    b.facts.epsilonMissing = true;
    EXPECT_THAT(b.judged().question, testing::HasSubstr("which epsilon did keller-jordan add"));
    b.facts.ran = {"deepspeed-gram"};
    EXPECT_EQ(b.judged().blame, Blame::numerics);
}

TEST(Rules, ASingleMemberThatReproducesTheDumpForbidsTheAccusation)
{
    Bench b;
    b.member("gns-gram", 8, 0).member("deepspeed-gram", 0, 8);
    const auto j = b.judged();
    EXPECT_EQ(j.blame, Blame::undecided);
    EXPECT_FALSE(j.question.empty());
}

TEST(Rules, AMemberThatBlowsUpDifferentlyForbidsItToo)
{
    Bench b;
    b.member("gns-gram", 8, 0).member("polar-express-unprotected", 5, 0);
    EXPECT_EQ(b.judged().blame, Blame::undecided);
}

TEST(Rules, EveryMemberReproducingIsNumerics)
{
    Bench b;
    b.member("deepspeed-gram", 0, 8);
    EXPECT_EQ(b.judged().blame, Blame::numerics);
    EXPECT_FALSE(b.judged().marginal);
    b.member("keller-jordan", 3, 5);
    EXPECT_EQ(b.judged().blame, Blame::numerics);
    EXPECT_TRUE(b.judged().marginal);
}

TEST(Rules, AQThatRunsAwayIsMarginalNumerics)
{
    Bench q;
    q.facts.damage.shape = DamageShape::wholeElement;
    q.member("gns-gram", 8, 0);
    q.facts.members[0].absmaxQ = 8500;
    EXPECT_EQ(q.judged().blame, Blame::numerics);
    EXPECT_TRUE(q.judged().marginal);
}

TEST(Rules, ZeroInNonZeroOutIsProof)
{
    Bench b;
    b.zeroInput();
    b.member("gns-gram", 8, 0).member("dion-ns5", 8, 0);
    const auto j = b.judged();
    EXPECT_EQ(j.blame, Blame::implementation);
    EXPECT_EQ(j.kind, "zero in, non-zero out");
}

TEST(Rules, AnEpsilonThatNobodySaidMayHaveBeenZero)
{
    Bench b;
    b.zeroInput();
    b.member("gns-gram", 8, 0);
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "0/0 leaves nothing finite";
    b.facts.damage.shape = DamageShape::wholeElement;
    EXPECT_EQ(b.judged().blame, Blame::undecided);
    EXPECT_NE(b.judged().question.find("which epsilon"), std::string::npos);
    b.facts.identified.how = IdentifiedBy::given;
    EXPECT_EQ(b.judged().rule, RuleId::zeroInAllBadOut) << "a name does not say that the epsilon was passed on";
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().blame, Blame::implementation);
}

TEST(Rules, ANormThatMayHaveVanishedIsAskedAbout)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.normMayVanish = true;
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "0/0 leaves nothing finite";
    b.facts.damage.shape = DamageShape::wholeElement;
    EXPECT_EQ(b.judged().rule, RuleId::normMayVanish);
    EXPECT_EQ(b.judged().blame, Blame::undecided);
}

TEST(Rules, InfWhereTheResultIsLargestMayBeACast)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    EXPECT_EQ(b.judged().blame, Blame::implementation);
    b.facts.damageAmongLargest = true;
    EXPECT_EQ(b.judged().blame, Blame::undecided);
    EXPECT_NE(b.judged().question.find("cast or scale"), std::string::npos);
    b.facts.identified.how = IdentifiedBy::given;
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "a name does not say that nothing else ran";
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().blame, Blame::implementation);
}

TEST(Rules, WhatOtherCodeLeavesIsAskedAbout)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.dumpedByWrapper = false;
    EXPECT_EQ(b.judged().rule, RuleId::codeBesides);
    EXPECT_EQ(b.judged().blame, Blame::undecided);
    b.facts.identified.how = IdentifiedBy::sidecar;
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "a name does not say that nothing else ran";
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().blame, Blame::implementation);
}

TEST(Rules, BitsOfACallOfAnotherSizeTellNothingOfABranch)
{
    Bench b;
    b.member("keller-jordan", 8, 0);
    b.facts.damage.shape = DamageShape::wholeElement;
    b.facts.identified.how = IdentifiedBy::fit;
    b.facts.fit = {};
    b.facts.nothingElse = true;
    b.facts.control = ControlCall {"a.pt", false, 1, {}, {"keller-jordan"}};
    EXPECT_EQ(b.judged().blame, Blame::implementation);
    b.facts.control->otherSize = true;
    EXPECT_EQ(b.judged().rule, RuleId::functionUnknown);
}

TEST(Rules, CallsOfANewProcessCountWhereNothingElseRan)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.dumpedByWrapper = false;
    b.facts.calledAgain = {CallsAgain {.capture = "a.pt", .failed = 0, .calls = 200}};
    EXPECT_EQ(b.judged().rule, RuleId::codeBesides) << "a moment that was bad is not there again";
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().rule, RuleId::calledAgainFinite);
    b.facts.nothingElse = false;
    b.facts.calledAgain.front().atTheScene = true;
    EXPECT_EQ(b.judged().rule, RuleId::calledAgainFinite) << "a helper compares what the function keeps";
}

TEST(Rules, CodeBesidesTheIterationMayLeaveAnyDamage)
{
    const auto asked = [](DamageShape shape, bool inputAlone, bool faintLines = false) {
        Bench b;
        b.member("gns-gram", 8, 0);
        b.facts.damage.shape = shape;
        b.facts.dumpedByWrapper = inputAlone;
        b.facts.damageInFaintLines = faintLines;
        return b.judged().rule == RuleId::codeBesides;
    };
    EXPECT_TRUE(asked(DamageShape::scattered, true)) << "a cast";
    for (const auto shape : {DamageShape::rows, DamageShape::columns}) {
        EXPECT_TRUE(asked(shape, true, true)) << name(shape) << ": 0/0 of their own norm";
    }
    for (const auto shape : {DamageShape::singleElement, DamageShape::wholeElement, DamageShape::rectangle,
             DamageShape::stridedRectangle, DamageShape::mirroredPair, DamageShape::lowerTriangle}) {
        EXPECT_TRUE(asked(shape, false)) << name(shape) << ": a mask, a block's scale, a block of another rank";
        EXPECT_FALSE(asked(shape, true)) << name(shape) << ": that takes a value besides the input";
    }
    Bench blocks;
    blocks.member("gns-gram", 8, 0);
    blocks.facts.damage.shape = DamageShape::rectangle;
    blocks.facts.dumpedByWrapper = true;
    EXPECT_EQ(blocks.judged().blame, Blame::implementation);
    blocks.facts.damageInOwnBlock = true;
    EXPECT_EQ(blocks.judged().rule, RuleId::codeBesides) << "a function that takes blocks one by one";
    for (const auto shape : {DamageShape::rows, DamageShape::columns}) {
        EXPECT_TRUE(asked(shape, false)) << name(shape);
    }
}

TEST(Rules, BitsOfTheRestDoNotTellWhatElseOnesOwnFunctionDoes)
{
    Bench b;
    b.member("keller-jordan", 8, 0);
    b.facts.damage.shape = DamageShape::rectangle;
    b.facts.dumpedByWrapper = b.facts.nothingElse = b.facts.exactBits = true;
    b.facts.scene.function = "mymuon:orthogonalize";
    EXPECT_EQ(b.judged().blame, Blame::implementation);
    b.facts.damageInOwnBlock = true;
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "it may clip block by block: 0/0 in a faint one";
    EXPECT_EQ(b.judged().rule, RuleId::functionUnknown);
    b.facts.ran = {"keller-jordan"};
    EXPECT_EQ(b.judged().rule, RuleId::codeBesides);
    EXPECT_THAT(b.judged().question, HasSubstr("does mymuon:orthogonalize add or multiply anything"));
    EXPECT_THAT(b.judged().question, testing::EndsWith("(--other-code says yes)")) << "the rest is said already";
    b.facts.scene.function.clear();
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "a dump by hand, of what is said to have run";
    b.facts.scene.function = "muon:zeropower_via_newtonschulz5";
    b.facts.ran.clear();
    b.facts.identified.how = IdentifiedBy::sidecar;
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "the helper found the published source";
}

TEST(Rules, AWrappedFunctionOfOnesOwnMayScaleRows)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.damage.shape = DamageShape::rows;
    EXPECT_EQ(b.judged().rule, RuleId::codeBesides);
    b.facts.exactBits = true;
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "the rest is the published one, bit for bit";
    b.facts.exactBits = false;
    b.facts.identified.how = IdentifiedBy::sidecar;
    b.facts.fit.compared = true;
    b.facts.identified.fit = 0.01;
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "the published one is named, and fits";
    b.facts.identified.fit = 0.06;
    EXPECT_EQ(b.judged().rule, RuleId::codeBesides) << "rows that are scaled are off from it";
}

TEST(Rules, ValuesDoNotTellTheCodeThatMadeThem)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.damage.shape = DamageShape::wholeElement;
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "a healthy call is gns-gram's bit for bit";
    b.facts.control->exact.clear();
    EXPECT_EQ(b.judged().rule, RuleId::functionUnknown) << "any polar factor has its values";
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().rule, RuleId::functionUnknown) << "nothing else ran besides a function of one's own";
    b.facts.scene.function = "muon:zeropower";
    b.facts.scene.namedLike = "keller-jordan";
    EXPECT_THAT(
        b.judged().question, testing::HasSubstr("what was changed in muon:zeropower, which has the name of keller"));
    b.facts.identified.how = IdentifiedBy::given;
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "whatever else is said to have run";
    b.facts.scene.namedLike.clear();
    EXPECT_EQ(b.judged().blame, Blame::implementation);
    Bench tile;
    tile.member("gns-gram", 8, 0);
    tile.facts.control.reset();
    tile.facts.damage.shape = DamageShape::rectangle;
    EXPECT_EQ(tile.judged().rule, RuleId::codeBesides);
    tile.facts.fit.compared = true;
    tile.facts.identified.fit = 0.01;
    EXPECT_EQ(tile.judged().blame, Blame::implementation) << "wrapped, and the rest of it fits";
    tile.facts.besideBadInput = true;
    EXPECT_EQ(tile.judged().rule, RuleId::codeBesides) << "a function of one's own may mix the matrices of a call";
}

TEST(Rules, MatricesThatAreAllLostMayHaveBeenTakenTogether)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.identified.how = IdentifiedBy::given;
    b.facts.nothingElse = true;
    b.facts.takenTogether = true;
    b.facts.identified.names = {"gns-gram"};
    b.facts.control->identified.all = {{"gns-gram", 0.01}};
    auto healthy = b.facts.control;
    b.facts.control.reset();
    EXPECT_EQ(b.judged().rule, RuleId::matricesTakenTogether);
    EXPECT_EQ(b.judged().blame, Blame::undecided);
    b.facts.control = healthy;
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "a healthy call of the shape is that of each matrix";
    b.facts.control->identified.all = {{"gns-gram", 0.1}};
    EXPECT_EQ(b.judged().rule, RuleId::matricesTakenTogether) << "it is not what the name says of each matrix";
}

TEST(Rules, AHealthyCallOfNoKnownProcessContradictsANameAndConfirmsNoCode)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.dumpedByWrapper = false;
    b.facts.nothingElse = true;
    b.facts.control->exact = {"gns-gram"};
    EXPECT_EQ(b.judged().blame, Blame::implementation);
    b.facts.control->otherProcess = true;
    EXPECT_NE(b.judged().blame, Blame::implementation);
    b.facts.identified.how = IdentifiedBy::given;
    b.facts.identified.names = {"gns-gram"};
    b.facts.control->identified.all = {{"keller-jordan", 0.002}, {"gns-gram", 0.3}};
    EXPECT_EQ(b.judged().rule, RuleId::nameContradicted);
    b.facts.damage.shape = DamageShape::rectangle;
    b.facts.fit.compared = true;
    b.facts.identified.fit = 0.01;
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "the rest of this very call is what the name says";
}

TEST(Rules, AGradientThatWasNotFiniteQuestionsTheDumpedInput)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.nothingElse = true;
    b.facts.dumpedByWrapper = false;
    b.facts.identified.how = IdentifiedBy::given;
    EXPECT_EQ(b.judged().blame, Blame::implementation);
    b.facts.logs = {{false, true, {"grad_norm is inf at step 5, before this call", "a.log:6"}}};
    EXPECT_EQ(b.judged().rule, RuleId::inputMayBeLate);
    b.facts.dumpedByWrapper = true;
    const auto wrapped = b.judged();
    EXPECT_EQ(wrapped.blame, Blame::implementation) << "the wrapper clones its input first";
    ASSERT_FALSE(wrapped.speaksAgainst.empty());
    EXPECT_EQ(wrapped.speaksAgainst.front().source, "a.log:6");
}

TEST(Rules, SumsInAnotherOrderMayDecideAtTheEdge)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.damage.shape = DamageShape::wholeElement;
    b.facts.calledAgain = {{"", 3, 20, true, ""}};
    EXPECT_EQ(b.judged().blame, Blame::nondeterministic);
    b.facts.members[0].finite = 7;
    EXPECT_NE(b.judged().blame, Blame::nondeterministic) << "no two runs need sum in one order";
}

TEST(Rules, AFunctionOfOnesOwnMayTreatAPlaceOtherwise)
{
    Bench b;
    b.finiteOutput();
    b.facts.control.reset();
    b.facts.fit.compared = b.facts.fit.localDamage = true;
    b.facts.fit.worstTileError = 1;
    b.facts.identified.names = {"gns-gram"};
    b.facts.identified.fit = 0.003;
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().rule, RuleId::offInPlaces) << "it pads rows, which its values do not say";
    EXPECT_THAT(b.judged().question, HasSubstr("which function ran?"));
    b.facts.identified.how = IdentifiedBy::given;
    EXPECT_EQ(b.judged().rule, RuleId::finiteCorruption);
}

TEST(Rules, AFactorOrOtherStepsAreArguments)
{
    Bench b;
    b.finiteOutput();
    b.facts.fit.compared = true;
    b.facts.identified.how = IdentifiedBy::given;
    b.facts.identified.names = {"gns-gram"};
    b.facts.identified.fit = 0.4;
    b.facts.control->identified.all = {{"gns-gram", 0.004}};
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().rule, RuleId::wrongBesideItsControl);
    for (const auto as : {OffAs::multiple, OffAs::otherSteps}) {
        b.facts.off = {as, {"gns-gram"}, 2.53, 3, 5, 0.004};
        EXPECT_EQ(b.judged().blame, Blame::undecided) << name(as);
    }
}

TEST(Rules, TheSameBitsAreNotTheSameCall)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.damage.shape = DamageShape::rectangle;
    b.facts.duplicate = DuplicateInput {"other.pt", true, 1, {}, {}, true};
    EXPECT_EQ(b.judged().blame, Blame::nondeterministic) << "wrapped, and equal wherever both are finite";
    b.facts.duplicate->sameRest = false;
    EXPECT_EQ(b.judged().rule, RuleId::duplicateMayHaveOtherState) << "a guard calls again in fp32";
    b.facts.duplicate->sameRest = true;
    b.facts.duplicate->sameProcess = false;
    EXPECT_EQ(b.judged().rule, RuleId::duplicateMayHaveOtherState) << "a function that keeps values keeps others there";
    b.facts.duplicate->sameProcess = true;
    b.facts.dumpedByWrapper = false;
    EXPECT_EQ(b.judged().rule, RuleId::duplicateMayHaveOtherState) << "a weight of the other rank";
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().blame, Blame::nondeterministic);
}

TEST(Rules, WhatFailsOnAnotherGpuTooIsNoFaultOfThisOne)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.damage.shape = DamageShape::rectangle;
    b.facts.hardwareError = EvidenceLine {"Xid 79", "dmesg"};
    EXPECT_EQ(b.judged().blame, Blame::machine);
    b.facts.calledAgain = {{"", 19, 20, false, ""}};
    EXPECT_EQ(b.judged().blame, Blame::machine) << "once it did not fail there";
    b.facts.calledAgain = {{"", 20, 20, false, ""}};
    EXPECT_EQ(b.judged().blame, Blame::implementation);
    EXPECT_EQ(b.judged().kind, "kernel or aliasing");
}

TEST(Rules, WhatWasNotJudgedIsNotCalledHealthy)
{
    Bench b;
    b.finiteOutput();
    b.facts.fit.compared = true;
    b.facts.identified.names = {"gns-gram"};
    b.facts.identified.fit = 0.004;
    EXPECT_EQ(b.judged().kind, "healthy");
    b.facts.matrices = 64;
    b.facts.matricesJudged = 4;
    EXPECT_EQ(b.judged().rule, RuleId::fitsInPart);
    EXPECT_THAT(b.judged().summary, HasSubstr("4 of 64 matrices of the batch were looked at"));
    b.facts.matricesJudged = 64;
    b.facts.fit.unjudged = {2, 60, 1.2, 0.8, 16, 32};
    EXPECT_EQ(b.judged().rule, RuleId::fitsInPart);
    EXPECT_THAT(b.judged().summary, HasSubstr("2 of 60 tiles of 16 × 16 are off by up to 120 %, around [16, 32]"));
    b.facts.fit.unjudged.count = 60;
    EXPECT_THAT(b.judged().summary, HasSubstr("the typical tile of 16 × 16 is 120 % off"));
    b.facts.fit.unjudged.spread = 0.1;
    EXPECT_THAT(b.judged().summary, HasSubstr("but its roundings account for 10 % only"));
    b.facts.fit.compared = false;
    EXPECT_EQ(b.judged().kind, "not judged");
}

TEST(Rules, ATileThatOnlyAnotherFormExcusesIsAskedAbout)
{
    Bench b;
    b.finiteOutput();
    b.facts.fit.compared = b.facts.fit.localDamage = b.facts.misplaced = true;
    b.facts.fit.worstTileError = 1;
    b.facts.identified.names = {"gns-gram"};
    b.facts.identified.fit = 0.004;
    EXPECT_EQ(b.judged().blame, Blame::implementation);
    b.facts.fit.unlessRan = {"gram-no-restart"};
    EXPECT_EQ(b.judged().rule, RuleId::offUnlessAnotherForm);
    EXPECT_EQ(b.judged().role, Role::birth);
    EXPECT_THAT(b.judged().question, HasSubstr("If it was not gram-no-restart"));
    b.facts.ran = {"gns-gram"};
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "the user says that it was not";
    b.facts.ran = {"gram-no-restart"};
    EXPECT_EQ(b.judged().rule, RuleId::fitsInPart) << "the user says that it was";
    EXPECT_THAT(b.judged().summary, HasSubstr("where roundings of gram-no-restart end that far apart"));
}

TEST(Rules, ZeroInputWhoseEpsilonVanishesIsNumerics)
{
    Bench b;
    b.zeroInput();
    b.member("dion-polar-express", 0, 8);
    const auto j = b.judged();
    EXPECT_EQ(j.blame, Blame::numerics);
    EXPECT_NE(j.kind.find("epsilon"), std::string::npos);
}

TEST(Rules, OutputOfNoKnownVariantStaysUndecided)
{
    Bench b;
    b.member("gns-gram", 8, 0);
    b.facts.fit.compared = true;
    b.facts.identified.matchesNone = true;
    b.facts.identified.all = {{"gns-gram", 0.93}};
    EXPECT_EQ(b.judged().blame, Blame::undecided);
    EXPECT_EQ(b.judged().kind, "matches no known variant");
}

TEST(Rules, TheCastQuestionNamesTheNumberThatOverflows)
{
    Bench b;
    b.facts.inputAbsmax = 80384;
    b.member("gns-gram", 8, 0).member("deepspeed-gram", 0, 8);
    const auto j = b.judged();
    EXPECT_EQ(j.blame, Blame::undecided);
    EXPECT_NE(j.question.find("80384 > 65504"), std::string::npos) << j.question;
}

TEST(Rules, WhatNoRoundingPutsThereIsWrongWhateverTheRestComesTo)
{
    Bench b;
    b.finiteOutput();
    b.facts.fit.localDamage = true;
    b.facts.identified.names = {"cans"};
    b.facts.identified.fit = 0.9;
    b.facts.identified.how = IdentifiedBy::given;
    EXPECT_EQ(b.judged().rule, RuleId::tooLittleToCompare);
    b.facts.fit.leftover = Leftover::elsewhere;
    b.facts.fit.worstRow = 32;
    b.facts.fit.leftoverCol = 64;
    b.facts.misplaced = true;
    EXPECT_EQ(b.judged().rule, RuleId::offInPlaces) << "the rest does not tell that this function ran";
    b.facts.nothingElse = true;
    const auto j = b.judged();
    EXPECT_EQ(j.rule, RuleId::finiteCorruption);
    EXPECT_THAT(j.summary, HasSubstr("around [32, 0] it is what stands at [0, 64], bit for bit"));
    b.facts.fit.leftover = Leftover::zeros;
    EXPECT_THAT(b.judged().summary, HasSubstr("around [32, 0] it is zero: finite, and wrong"));
}

TEST(Rules, TheInputInATileIsWrongHoweverFarTheRestIsOff)
{
    Bench b;
    b.finiteOutput();
    b.facts.fit.compared = true;
    b.facts.fit.localDamage = true;
    b.facts.fit.worstTileError = 0.3;
    b.facts.identified.names = {"gns-gram"};
    b.facts.identified.fit = 0.041;
    b.facts.identified.how = IdentifiedBy::given;
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().rule, RuleId::fitsInPart) << "too little beside how far the rest is off";
    b.facts.fit.leftover = Leftover::input;
    EXPECT_EQ(b.judged().rule, RuleId::finiteCorruption);
    EXPECT_THAT(
        b.judged().summary, HasSubstr("fits gns-gram to 4.1 %, but around [0, 0] it is the input, bit for bit"));
}

TEST(Rules, TheOutputOfAnotherMatrixOfTheCallIsStale)
{
    Bench b;
    b.finiteOutput();
    b.facts.outputOfElement = 0;
    EXPECT_EQ(b.judged().rule, RuleId::outputOfEarlierCall);
    EXPECT_THAT(b.judged().summary, HasSubstr("bit for bit that of element 0 of this call, whose input was another"));
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().rule, RuleId::staleOutput);
}

TEST(Rules, LocalFiniteDamageIsFiniteCorruption)
{
    Bench b;
    b.finiteOutput();
    b.facts.fit.compared = true;
    b.facts.fit.localDamage = true;
    b.facts.fit.worstTileError = 1.0;
    b.facts.identified.names = {"gns-gram"};
    b.facts.identified.fit = 0.004;
    b.facts.identified.how = IdentifiedBy::fit;
    EXPECT_EQ(b.judged().blame, Blame::undecided) << "a fit does not tell what else the user's code does";
    b.facts.misplaced = true;
    EXPECT_EQ(b.judged().kind, "finite corruption");
    b.facts.misplaced = false;
    b.facts.identified.how = IdentifiedBy::given;
    EXPECT_EQ(b.judged().rule, RuleId::offInPlaces);
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().kind, "finite corruption");
    EXPECT_EQ(b.judged().blame, Blame::implementation);
    b.facts.nothingElse = false;
    b.facts.termOrFactor = true;
    EXPECT_EQ(b.judged().blame, Blame::undecided);
    EXPECT_NE(b.judged().question.find("weight decay"), std::string::npos);
    b.facts.fit.worstTileError = 0.03;
    EXPECT_EQ(b.judged().blame, Blame::undecided);
}

TEST(Rules, ANameNeverOutweighsTheDump)
{
    test::MadeFacts b(DamageShape::rectangle);
    b.member("gns-gram");
    auto& facts = b.facts;
    facts.identified.how = IdentifiedBy::sidecar;
    facts.identified.names = {"gns-gram"};
    facts.identified.fit = 0.15;
    facts.fit.compared = facts.nothingElse = true;
    EXPECT_EQ(b.judged().blame, Blame::implementation);
    facts.identified.fit = 0.16;
    EXPECT_EQ(b.judged().rule, RuleId::nameContradicted);
    EXPECT_THAT(b.judged().summary, testing::HasSubstr("the finite part of the output is 16 % off"));
    facts.members[0].finite = 7;
    EXPECT_NE(b.judged().rule, RuleId::nameContradicted) << "what numbers that run away leave is off, too";
    facts.members[0].finite = 8;
    facts.control = ControlCall {"healthy.pt", false, 1, {}, {}};
    facts.control->identified.all = {{"dion-ns5", 0.001}, {"gns-gram", 0.02}};
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "a healthy call that fits overrules the doubt";
    facts.identified.fit = 0.01;
    facts.control->identified.all = {{"dion-ns5", 0.001}, {"gns-gram", 0.16}};
    EXPECT_EQ(b.judged().rule, RuleId::nameContradicted) << "and one that does not brings it";
    EXPECT_THAT(b.judged().summary, testing::HasSubstr("healthy.pt is not what it gives"));
}

TEST(Rules, ANameThatNothingShowsIsNotEnough)
{
    test::MadeFacts b;
    b.member("gns-gram");
    b.facts.identified.how = IdentifiedBy::sidecar;
    b.facts.identified.names = {"gns-gram"};
    EXPECT_EQ(b.judged().rule, RuleId::codeBesides);
    b.facts.control = ControlCall {"healthy.pt", false, 1, {}, {}};
    b.facts.control->identified.all = {{"gns-gram", 0.02}};
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "a healthy call shows it";
    b.facts.control->identified.all = {{"gns-gram", 0.03}};
    EXPECT_EQ(b.judged().blame, Blame::undecided);
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().blame, Blame::implementation);
}

TEST(Rules, TheKnownVariantsAreNotAllFunctions)
{
    test::MadeFacts b;
    b.member("gns-gram");
    b.member("keller-jordan");
    b.facts.identified.how = IdentifiedBy::unknown;
    EXPECT_EQ(b.judged().rule, RuleId::functionUnknown);
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().rule, RuleId::functionUnknown) << "that is another fact";
    b.facts.calledAgain = {{"", 0, 1, true, ""}};
    EXPECT_EQ(b.judged().blame, Blame::nondeterministic) << "no function of the same input ends in two ways";
    b.facts.calledAgain = {{"", 1, 1, true, ""}};
    EXPECT_EQ(b.judged().blame, Blame::undecided);
    b.facts.identified.how = IdentifiedBy::fit;
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "a healthy call tells what ran";
}

TEST(Rules, AnEpsilonThatTheSourceIgnoresMayHaveBeenTaken)
{
    test::MadeFacts b;
    b.zeroInput();
    b.member("keller-jordan");
    b.member("keller-jordan", 0, 8).recordedEpsilon = true;
    b.facts.identified.how = IdentifiedBy::given;
    b.facts.nothingElse = true;
    EXPECT_EQ(b.judged().rule, RuleId::dependsOnEpsilon);
    EXPECT_THAT(b.judged().question, testing::HasSubstr("which epsilon"));
    b.facts.members[1].reproducing = 0;
    b.facts.members[1].finite = 8;
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "both are acquitted";
}

TEST(Rules, ANamedMemberThatBlowsUpOnceIsNumerics)
{
    test::MadeFacts b;
    b.member("gns-gram", 7, 0);
    EXPECT_EQ(b.judged().rule, RuleId::dependsOnFunction);
    b.facts.identified.how = IdentifiedBy::given;
    EXPECT_EQ(b.judged().blame, Blame::numerics);
    EXPECT_TRUE(b.judged().marginal);
    EXPECT_TRUE(b.judged().question.empty());
    b.facts.damage.shape = DamageShape::rectangle;
    EXPECT_EQ(b.judged().rule, RuleId::edgeInOnePlace);
}

TEST(Rules, ReplaysWithoutMarginAccuseNeitherTheNumbersNorTheKernel)
{
    test::MadeFacts b;
    b.member("keller-jordan");
    b.facts.identified.how = IdentifiedBy::given;
    b.facts.nothingElse = true;
    b.facts.calledAgain = {{"birth.pt", 20, 20}};
    auto& member = b.facts.members[0];
    for (const double slack : {0.01, 0.5}) {
        member.slackPercent = slack;
        EXPECT_EQ(b.judged().rule, RuleId::withoutMargin) << slack;
        EXPECT_EQ(b.judged().blame, Blame::undecided);
        EXPECT_THAT(b.judged().question, testing::HasSubstr("plain torch operations"));
    }
    b.facts.calledAgain.push_back({"birth.pt", 0, 20, true, "kernels-off"});
    EXPECT_EQ(b.judged().rule, RuleId::withoutMargin) << "plain operations sum in another order";
    b.facts.calledAgain.back().failed = 20;
    EXPECT_EQ(b.judged().rule, RuleId::failsWithoutKernels);
    EXPECT_EQ(b.judged().blame, Blame::numerics);
    EXPECT_THAT(b.judged().summary, testing::HasSubstr("20 of 20 calls"));
    b.facts.calledAgain.pop_back();
    member.slackPercent = 5;
    member.headroomBinades = 3;
    EXPECT_EQ(b.judged().rule, RuleId::withoutMargin) << "the format is nearly full, and nothing overflowed";
    member.headroomBinades = 12;
    EXPECT_EQ(b.judged().blame, Blame::implementation) << "with margin the numbers are acquitted";
    member.slackPercent = -3;
    EXPECT_EQ(b.judged().rule, RuleId::withoutMargin) << "the last step is past the limit, and the schedule ends";
    member.absmaxQ = 8500;
    EXPECT_EQ(b.judged().rule, RuleId::atTheEdge);
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
    EXPECT_EQ(diagnose::voteOf(runWithNorms(climbing), "grad_norm", verdict).kind, diagnose::LogVote::Kind::climbing);
    const auto vote = diagnose::voteOf(runWithNorms(calm), "grad_norm", verdict);
    EXPECT_EQ(vote.kind, diagnose::LogVote::Kind::calm);
    EXPECT_EQ(vote.line.source, "console.log:12");
}

TEST(LogVote, WhatComesAfterTheBirthDoesNotVote)
{
    CaptureVerdict verdict;
    verdict.rank = 0;
    verdict.step = std::pair(std::int64_t {5}, std::int64_t {6});
    const auto vote = diagnose::voteOf(runWithNorms({1, 1, 1, 1, 1, 1, 1e6, 1e7, NAN}), "grad_norm", verdict);
    EXPECT_EQ(vote.kind, diagnose::LogVote::Kind::calm);
}

TEST(LogVote, TooFewPointsAreSilent)
{
    EXPECT_EQ(diagnose::voteOf(runWithNorms({1, 2}), "grad_norm", {}).kind, diagnose::LogVote::Kind::silent);
    EXPECT_EQ(diagnose::voteOf(runWithNorms({1, 1, 1, 1}), "loss_scale", {}).kind, diagnose::LogVote::Kind::silent);
}

} // namespace
} // namespace nanscope
