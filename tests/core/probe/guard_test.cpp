// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/probe/guard.h"

namespace nanscope {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr auto finite = probe::Sight::finite;
constexpr auto bad = probe::Sight::nonFinite;
constexpr auto unknown = probe::Sight::unknown;

constexpr probe::Layout layouts[] = {probe::Layout::gathered, probe::Layout::single, probe::Layout::headSplit,
    probe::Layout::matrixSharded, probe::Layout::batchSharded};

/// Of ten rows each, the ones named are bad.
probe::NsOutput badAt(std::size_t begin, std::size_t end)
{
    probe::NsOutput output {bad, std::vector<bool>(10, false)};
    for (auto row = begin; row < end; ++row) {
        output.badRows[row] = true;
    }
    return output;
}

TEST(Guard, GatheredStacksAreTheSameEverywhereSoALocalGuardAgrees)
{
    const std::vector<probe::NsOutput> outputs {{bad}, {finite}, {finite}};
    EXPECT_THAT(probe::stacksOf(probe::Layout::gathered, outputs), Each(bad));
    EXPECT_THAT(probe::decide(probe::GuardScope::local, probe::Layout::gathered, outputs), Each(probe::Decision::skip));
}

TEST(Guard, OwnCopiesLeaveALocalGuardAlone)
{
    const std::vector<probe::NsOutput> outputs {{finite}, {bad}};
    for (const auto layout : {probe::Layout::single, probe::Layout::headSplit, probe::Layout::batchSharded}) {
        EXPECT_THAT(probe::decide(probe::GuardScope::local, layout, outputs),
            ElementsAre(probe::Decision::apply, probe::Decision::skip))
            << probe::name(layout);
    }
}

TEST(Guard, WithoutAGroupTheGroupGuardIsALocalOne)
{
    const std::vector<probe::NsOutput> outputs {{finite}, {bad}};
    for (const auto layout : {probe::Layout::headSplit, probe::Layout::batchSharded}) {
        EXPECT_FALSE(probe::hasGroup(layout));
        EXPECT_THAT(probe::decide(probe::GuardScope::group, layout, outputs),
            ElementsAre(probe::Decision::apply, probe::Decision::skip))
            << probe::name(layout);
    }
    EXPECT_THAT(probe::decide(probe::GuardScope::group, probe::Layout::single, outputs), Each(probe::Decision::skip));
}

TEST(Guard, TheFullGroupAlwaysAgrees)
{
    const std::vector<probe::NsOutput> outputs {{finite}, badAt(0, 1), {unknown}};
    for (const auto layout : layouts) {
        EXPECT_THAT(probe::decide(probe::GuardScope::full, layout, outputs), Each(probe::Decision::skip))
            << probe::name(layout);
    }
}

TEST(Guard, RowsGoBackToTheRanksThatHoldThem)
{
    const std::vector<probe::NsOutput> inTheSecondHalf {{finite}, badAt(7, 8)};
    EXPECT_THAT(probe::stacksOf(probe::Layout::matrixSharded, inTheSecondHalf), ElementsAre(finite, bad));
    const std::vector<probe::NsOutput> across {badAt(4, 6), {finite}};
    EXPECT_THAT(probe::stacksOf(probe::Layout::matrixSharded, across), ElementsAre(bad, bad));
    EXPECT_THAT(probe::decide(probe::GuardScope::local, probe::Layout::matrixSharded, inTheSecondHalf),
        ElementsAre(probe::Decision::apply, probe::Decision::skip));
    EXPECT_THAT(probe::decide(probe::GuardScope::group, probe::Layout::matrixSharded, inTheSecondHalf),
        Each(probe::Decision::skip));
}

TEST(Guard, UnknownRowsOrRowsThatCannotBeDividedAreUnknown)
{
    EXPECT_THAT(
        probe::stacksOf(probe::Layout::matrixSharded, std::vector<probe::NsOutput> {{bad}, {finite}}), Each(unknown));
    EXPECT_THAT(
        probe::stacksOf(probe::Layout::matrixSharded, std::vector<probe::NsOutput> {badAt(0, 10), {finite}, {finite}}),
        Each(unknown));
}

TEST(Guard, WhatIsNotKnownOfOneRankIsKnownOfNoneThatAskIt)
{
    const std::vector<probe::NsOutput> outputs {{finite}, {unknown}};
    EXPECT_THAT(
        probe::decide(probe::GuardScope::full, probe::Layout::headSplit, outputs), Each(probe::Decision::unknown));
    EXPECT_THAT(probe::decide(probe::GuardScope::local, probe::Layout::headSplit, outputs),
        ElementsAre(probe::Decision::apply, probe::Decision::unknown));
    EXPECT_THAT(probe::stacksOf(probe::Layout::gathered, outputs), Each(unknown));
}

TEST(Guard, NothingBadIsNoReasonToSkip)
{
    for (const auto layout : layouts) {
        for (const auto scope : {probe::GuardScope::local, probe::GuardScope::group, probe::GuardScope::full}) {
            EXPECT_THAT(probe::decide(scope, layout, std::vector<probe::NsOutput> {{finite}, {finite}}),
                Each(probe::Decision::apply));
        }
    }
}

TEST(Guard, AgreementSeesASplitWhateverElseIsUnknown)
{
    using enum probe::Decision;
    EXPECT_EQ(probe::agreementOf(std::vector {skip, skip}), probe::Agreement::allSkip);
    EXPECT_EQ(probe::agreementOf(std::vector {apply, apply}), probe::Agreement::allApply);
    EXPECT_EQ(probe::agreementOf(std::vector {skip, probe::Decision::unknown, apply}), probe::Agreement::split);
    EXPECT_EQ(probe::agreementOf(std::vector {skip, probe::Decision::unknown}), probe::Agreement::unknown);
    EXPECT_EQ(probe::agreementOf(std::vector {apply, probe::Decision::unknown}), probe::Agreement::unknown);
}

TEST(Guard, OnlyShardedTensorsCanTear)
{
    EXPECT_TRUE(probe::replicated(probe::Layout::gathered) && probe::replicated(probe::Layout::single)
        && probe::replicated(probe::Layout::headSplit));
    EXPECT_FALSE(probe::replicated(probe::Layout::matrixSharded) || probe::replicated(probe::Layout::batchSharded));
}

TEST(Guard, NamesAreReadBack)
{
    for (const auto layout : layouts) {
        EXPECT_EQ(probe::parseLayout(probe::name(layout)), layout);
    }
    for (const auto scope : {probe::GuardScope::local, probe::GuardScope::group, probe::GuardScope::full}) {
        EXPECT_EQ(probe::parseGuardScope(probe::name(scope)), scope);
    }
    EXPECT_FALSE(probe::parseLayout("ddp"));
    EXPECT_FALSE(probe::parseGuardScope(""));
}

} // namespace
} // namespace nanscope
