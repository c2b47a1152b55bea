// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/probe/probe.h"

namespace nanscope {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr auto finite = Sight::finite;
constexpr auto bad = Sight::nonFinite;
constexpr auto unknown = Sight::unknown;

constexpr Layout layouts[] = {
    Layout::gathered, Layout::single, Layout::headSplit, Layout::matrixSharded, Layout::batchSharded};

/// Of ten rows each, the ones named are bad.
NsOutput badAt(std::size_t begin, std::size_t end)
{
    NsOutput output {bad, std::vector<bool>(10, false)};
    for (auto row = begin; row < end; ++row) {
        output.badRows[row] = true;
    }
    return output;
}

TEST(Guard, GatheredStacksAreTheSameEverywhereSoALocalGuardAgrees)
{
    const std::vector<NsOutput> outputs {{bad}, {finite}, {finite}};
    EXPECT_THAT(stacksOf(Layout::gathered, outputs), Each(bad));
    EXPECT_THAT(decide(GuardScope::local, Layout::gathered, outputs), Each(Decision::skip));
}

TEST(Guard, OwnCopiesLeaveALocalGuardAlone)
{
    const std::vector<NsOutput> outputs {{finite}, {bad}};
    for (const auto layout : {Layout::single, Layout::headSplit, Layout::batchSharded}) {
        EXPECT_THAT(decide(GuardScope::local, layout, outputs), ElementsAre(Decision::apply, Decision::skip))
            << name(layout);
    }
}

TEST(Guard, WithoutAGroupTheGroupGuardIsALocalOne)
{
    const std::vector<NsOutput> outputs {{finite}, {bad}};
    for (const auto layout : {Layout::headSplit, Layout::batchSharded}) {
        EXPECT_FALSE(hasGroup(layout));
        EXPECT_THAT(decide(GuardScope::group, layout, outputs), ElementsAre(Decision::apply, Decision::skip))
            << name(layout);
    }
    EXPECT_THAT(decide(GuardScope::group, Layout::single, outputs), Each(Decision::skip));
}

TEST(Guard, TheFullGroupAlwaysAgrees)
{
    const std::vector<NsOutput> outputs {{finite}, badAt(0, 1), {unknown}};
    for (const auto layout : layouts) {
        EXPECT_THAT(decide(GuardScope::full, layout, outputs), Each(Decision::skip)) << name(layout);
    }
}

TEST(Guard, RowsGoBackToTheRanksThatHoldThem)
{
    const std::vector<NsOutput> inTheSecondHalf {{finite}, badAt(7, 8)};
    EXPECT_THAT(stacksOf(Layout::matrixSharded, inTheSecondHalf), ElementsAre(finite, bad));
    const std::vector<NsOutput> across {badAt(4, 6), {finite}};
    EXPECT_THAT(stacksOf(Layout::matrixSharded, across), ElementsAre(bad, bad));
    EXPECT_THAT(decide(GuardScope::local, Layout::matrixSharded, inTheSecondHalf),
        ElementsAre(Decision::apply, Decision::skip));
    EXPECT_THAT(decide(GuardScope::group, Layout::matrixSharded, inTheSecondHalf), Each(Decision::skip));
}

TEST(Guard, UnknownRowsOrRowsThatCannotBeDividedAreUnknown)
{
    EXPECT_THAT(stacksOf(Layout::matrixSharded, std::vector<NsOutput> {{bad}, {finite}}), Each(unknown));
    EXPECT_THAT(
        stacksOf(Layout::matrixSharded, std::vector<NsOutput> {badAt(0, 10), {finite}, {finite}}), Each(unknown));
}

TEST(Guard, WhatIsNotKnownOfOneRankIsKnownOfNoneThatAskIt)
{
    const std::vector<NsOutput> outputs {{finite}, {unknown}};
    EXPECT_THAT(decide(GuardScope::full, Layout::headSplit, outputs), Each(Decision::unknown));
    EXPECT_THAT(decide(GuardScope::local, Layout::headSplit, outputs), ElementsAre(Decision::apply, Decision::unknown));
    EXPECT_THAT(stacksOf(Layout::gathered, outputs), Each(unknown));
}

TEST(Guard, NothingBadIsNoReasonToSkip)
{
    for (const auto layout : layouts) {
        for (const auto scope : {GuardScope::local, GuardScope::group, GuardScope::full}) {
            EXPECT_THAT(decide(scope, layout, std::vector<NsOutput> {{finite}, {finite}}), Each(Decision::apply));
        }
    }
}

TEST(Guard, AgreementSeesASplitWhateverElseIsUnknown)
{
    using enum Decision;
    EXPECT_EQ(agreementOf(std::vector {skip, skip}), Agreement::allSkip);
    EXPECT_EQ(agreementOf(std::vector {apply, apply}), Agreement::allApply);
    EXPECT_EQ(agreementOf(std::vector {skip, Decision::unknown, apply}), Agreement::split);
    EXPECT_EQ(agreementOf(std::vector {skip, Decision::unknown}), Agreement::unknown);
    EXPECT_EQ(agreementOf(std::vector {apply, Decision::unknown}), Agreement::unknown);
}

TEST(Guard, ASkipComesTooLateForTheMomentum)
{
    const auto skipped = changedBy(Decision::skip);
    ASSERT_TRUE(skipped);
    EXPECT_TRUE(skipped->momentum);
    EXPECT_FALSE(skipped->variance);
    EXPECT_FALSE(skipped->parameter);
    const auto applied = changedBy(Decision::apply);
    ASSERT_TRUE(applied);
    EXPECT_TRUE(applied->momentum && applied->variance && applied->parameter);
    EXPECT_FALSE(changedBy(Decision::unknown));
}

TEST(Guard, OnlyShardedTensorsCanTear)
{
    EXPECT_TRUE(replicated(Layout::gathered) && replicated(Layout::single) && replicated(Layout::headSplit));
    EXPECT_FALSE(replicated(Layout::matrixSharded) || replicated(Layout::batchSharded));
}

TEST(Guard, NamesAreReadBack)
{
    for (const auto layout : layouts) {
        EXPECT_EQ(parseLayout(name(layout)), layout);
    }
    for (const auto scope : {GuardScope::local, GuardScope::group, GuardScope::full}) {
        EXPECT_EQ(parseGuardScope(name(scope)), scope);
    }
    EXPECT_FALSE(parseLayout("ddp"));
    EXPECT_FALSE(parseGuardScope(""));
}

} // namespace
} // namespace nanscope
