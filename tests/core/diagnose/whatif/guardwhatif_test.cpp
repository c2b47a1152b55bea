// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <gmock/gmock.h>

#include "core/diagnose/whatif/guardwhatif.h"
#include "core/diagnose/whatif/whatifwords.h"
#include "core/tensorfile/tensorfile.h"
#include "tests/core/diagnose/says.h"
#include "tests/core/diagnose/whatif/guardrun.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

diagnose::GuardOutcome outcome(const diagnose::GuardStep& step, probe::Layout layout, probe::GuardScope scope)
{
    const auto found = std::find_if(step.outcomes.begin(), step.outcomes.end(),
        [&](const diagnose::GuardOutcome& o) { return o.layout == layout && o.scope == scope; });
    EXPECT_NE(found, step.outcomes.end()) << probe::name(layout) << " " << probe::name(scope);
    return found == step.outcomes.end() ? diagnose::GuardOutcome {} : *found;
}

/// Rank 0's call goes bad behind step 5; what follows is contamination, and both ranks dump it.
GuardRun oneBirth()
{
    GuardRun summary;
    summary.step(5).dump({.file = "birth.pt"});
    summary.loss(0, 6, nan).loss(1, 6, nan);
    summary.dump({.file = "after0.pt", .badInput = true}).dump({.file = "after1.pt", .rank = 1, .badInput = true});
    summary.dump({.file = "other1.pt", .rank = 1, .shape = {1, 96, 160}, .badInput = true});
    return summary.loss(0, 7, nan).loss(1, 7, nan);
}

TEST(GuardWhatIf, TheCauseComesFirstAndWhatFollowsIsContamination)
{
    const auto whatIf = diagnose::guardWhatIf(oneBirth().run());
    ASSERT_THAT(whatIf.steps, SizeIs(3));
    EXPECT_EQ(whatIf.steps[0].role, Role::birth);
    EXPECT_EQ(whatIf.steps[0].group, "160x96 bf16");
    EXPECT_EQ(whatIf.steps[0].step, std::pair(std::int64_t {5}, std::int64_t {6}));
    EXPECT_FALSE(whatIf.steps[0].momentumBad);
    EXPECT_EQ(whatIf.steps[1].role, Role::downstream);
    EXPECT_EQ(whatIf.steps[1].causedBy, "birth.pt");
    EXPECT_TRUE(whatIf.steps[1].momentumBad);
    EXPECT_THAT(
        whatIf.notes, says("2 later updates of a shape group are contamination by an earlier one: had that one"));
    EXPECT_THAT(whatIf.notes, says("switched on only then skips for ever"));
}

TEST(GuardWhatIf, AHealthyCallBesideABadOneIsNotAmongTheBad)
{
    auto run = oneBirth().run();
    auto control = run.captures.front();
    control.file = "control.pt";
    control.id = 99;
    control.output->batches = {control.input.batches.front()};
    run.captures.push_back(control);
    auto named = *std::ranges::find(run.events, "birth.pt", &Event::capture);
    named.capture = "control.pt";
    run.events.push_back(named);
    const auto step = diagnose::guardWhatIf(run).steps[0];
    EXPECT_THAT(step.captures, ElementsAre("birth.pt"));
    EXPECT_THAT(step.ranks[0].captures, ElementsAre("birth.pt"));
    EXPECT_EQ(step.ranks[0].output, probe::Sight::nonFinite);
}

TEST(GuardWhatIf, OfTwoCausesBothWouldHaveToBeLeftOut)
{
    GuardRun summary;
    summary.step(5).dump({.file = "birth0.pt", .shape = {1, 96, 160}}).dump({.file = "birth1.pt", .rank = 1});
    summary.loss(0, 6, nan).loss(1, 6, nan).dump({.file = "after0.pt", .badInput = true});
    const auto whatIf = diagnose::guardWhatIf(summary.run());
    ASSERT_THAT(whatIf.steps, SizeIs(3));
    EXPECT_EQ(whatIf.steps[0].group, "96x160 bf16") << "what went wrong first";
    EXPECT_THAT(whatIf.notes, says("contamination by earlier ones: had all of those been left out on all ranks"));
    EXPECT_THAT(diagnose::guardHeadline(whatIf), HasSubstr("2 updates went bad by themselves, 1 by contamination"));
}

TEST(GuardWhatIf, ARankThatDumpsLaterWasFiniteBefore)
{
    const auto step = diagnose::guardWhatIf(oneBirth().run()).steps[0];
    ASSERT_THAT(step.ranks, SizeIs(2));
    EXPECT_EQ(step.ranks[0].output, probe::Sight::nonFinite);
    EXPECT_THAT(step.ranks[0].captures, ElementsAre("birth.pt"));
    EXPECT_EQ(step.ranks[1].output, probe::Sight::finite);
    EXPECT_THAT(step.ranks[1].why, HasSubstr("the last after step 6: its capture was on"));
}

TEST(GuardWhatIf, LocalGuardsAgreeOnlyWhereResultsAreGathered)
{
    const auto step = diagnose::guardWhatIf(oneBirth().run()).steps[0];
    const auto gathered = outcome(step, probe::Layout::gathered, probe::GuardScope::local);
    EXPECT_THAT(gathered.decisions, Each(probe::Decision::skip));
    EXPECT_EQ(gathered.consequence, diagnose::Consequence::none);
    const auto heads = outcome(step, probe::Layout::headSplit, probe::GuardScope::local);
    EXPECT_THAT(heads.decisions, ElementsAre(probe::Decision::skip, probe::Decision::apply));
    EXPECT_EQ(heads.consequence, diagnose::Consequence::drift);
    EXPECT_EQ(
        outcome(step, probe::Layout::batchSharded, probe::GuardScope::local).consequence, diagnose::Consequence::torn);
}

TEST(GuardWhatIf, TheShapeGroupsOwnGroupIsNoneOnTwoOfThePaths)
{
    const auto step = diagnose::guardWhatIf(oneBirth().run()).steps[0];
    EXPECT_EQ(
        outcome(step, probe::Layout::headSplit, probe::GuardScope::group).consequence, diagnose::Consequence::drift);
    EXPECT_EQ(
        outcome(step, probe::Layout::batchSharded, probe::GuardScope::group).consequence, diagnose::Consequence::torn);
    EXPECT_EQ(
        outcome(step, probe::Layout::matrixSharded, probe::GuardScope::group).consequence, diagnose::Consequence::none);
}

TEST(GuardWhatIf, TheFullGuardSkipsEverywhere)
{
    const auto step = diagnose::guardWhatIf(oneBirth().run(), {.scope = probe::GuardScope::full}).steps[0];
    EXPECT_THAT(step.outcomes, SizeIs(4)) << "one for every layout that is possible";
    for (const auto& one : step.outcomes) {
        EXPECT_THAT(one.decisions, Each(probe::Decision::skip)) << probe::name(one.layout);
        EXPECT_EQ(one.consequence, diagnose::Consequence::none);
    }
}

TEST(GuardWhatIf, GroupsThatStayedFiniteWereApplied)
{
    const auto whatIf = diagnose::guardWhatIf(oneBirth().dump({.file = "late0.pt", .badInput = true}).step(8).run());
    EXPECT_THAT(whatIf.steps[0].otherGroups, ElementsAre("96x160 bf16"));
    EXPECT_THAT(whatIf.notes, says("shape groups that no capture shows are not known"));
}

TEST(GuardWhatIf, NothingIsSaidOfOtherGroupsWhereARankIsNotKnown)
{
    GuardRun summary;
    summary.step(5).dump({.file = "birth.pt"}).step(6);
    summary.dump({.file = "other.pt", .shape = {1, 96, 160}, .badInput = true}).step(7);
    EXPECT_THAT(diagnose::guardWhatIf(summary.run()).steps[0].otherGroups, IsEmpty());
}

TEST(GuardWhatIf, SilenceOfACutOffRankIsNoEvidence)
{
    GuardRun summary;
    summary.step(5).dump({.file = "birth.pt", .rank = 1, .raised = true});
    const auto whatIf = diagnose::guardWhatIf(summary.run());
    ASSERT_THAT(whatIf.steps, SizeIs(1));
    const auto& step = whatIf.steps[0];
    EXPECT_EQ(step.ranks[0].output, probe::Sight::unknown);
    EXPECT_THAT(step.ranks[0].why, HasSubstr("cut the others off"));
    const auto heads = outcome(step, probe::Layout::headSplit, probe::GuardScope::local);
    EXPECT_THAT(heads.decisions, ElementsAre(probe::Decision::unknown, probe::Decision::skip));
    EXPECT_EQ(heads.consequence, diagnose::Consequence::unknown) << "neither drift nor agreement is claimed";
    EXPECT_THAT(
        outcome(step, probe::Layout::headSplit, probe::GuardScope::full).decisions, Each(probe::Decision::skip));
    EXPECT_THAT(whatIf.notes, says("half-stepped"));
}

TEST(GuardWhatIf, ARankThatNeverDumpedMayNotHaveBeenWatched)
{
    GuardRun summary;
    summary.step(5).dump({.file = "birth.pt"}).step(6);
    const auto silent = diagnose::guardWhatIf(summary.run()).steps[0].ranks[1];
    EXPECT_EQ(silent.output, probe::Sight::unknown);
    EXPECT_THAT(silent.why, HasSubstr("nothing shows that its capture was on"));
}

TEST(GuardWhatIf, ARankThatLastDumpedEarlierMayHaveEnded)
{
    GuardRun summary;
    summary.step(5).dump({.file = "one.pt", .rank = 1}).step(6).step(7).dump({.file = "zero.pt"}).step(8);
    const auto whatIf = diagnose::guardWhatIf(summary.run());
    ASSERT_THAT(whatIf.steps, SizeIs(2));
    EXPECT_EQ(whatIf.steps[1].step->first, 7);
    EXPECT_EQ(whatIf.steps[1].ranks[1].output, probe::Sight::unknown);
    EXPECT_EQ(whatIf.steps[0].ranks[0].output, probe::Sight::finite);
}

TEST(GuardWhatIf, OneRankAloneMayHaveOthers)
{
    GuardRun summary;
    summary.step(5, 1).dump({.file = "birth.pt"}).step(6, 1);
    const auto step = diagnose::guardWhatIf(summary.run()).steps[0];
    ASSERT_THAT(step.ranks, SizeIs(2));
    EXPECT_FALSE(step.ranks[1].rank);
    EXPECT_EQ(
        outcome(step, probe::Layout::headSplit, probe::GuardScope::local).consequence, diagnose::Consequence::unknown);
    EXPECT_THAT(
        outcome(step, probe::Layout::gathered, probe::GuardScope::local).decisions, Each(probe::Decision::skip));
}

TEST(GuardWhatIf, MomentumThatIsBadFromTheStartIsSkippedForEver)
{
    GuardRun summary;
    summary.step(5).dump({.file = "a.pt", .badInput = true}).step(6);
    auto run = summary.run();
    // Some of it is finite: the gradient brought it.
    const auto whatIf = diagnose::guardWhatIf(run);
    ASSERT_THAT(whatIf.steps, SizeIs(1));
    EXPECT_EQ(whatIf.steps[0].role, Role::upstream);
    EXPECT_TRUE(whatIf.steps[0].momentumBad);
    EXPECT_THAT(whatIf.notes, says("skips this group from here on and cannot recover it"));
}

TEST(GuardWhatIf, DamageOnZerosMayBePaddingThatTheGuardNeverSees)
{
    GuardRun summary;
    summary.step(5).dump({.file = "pad.pt", .zeroInput = true}).step(6);
    summary.dump({.file = "late0.pt"}).dump({.file = "late1.pt", .rank = 1}).step(7);
    const auto whatIf = diagnose::guardWhatIf(summary.run());
    const auto pad = std::find_if(whatIf.steps.begin(), whatIf.steps.end(),
        [](const diagnose::GuardStep& step) { return step.role == Role::padding; });
    ASSERT_NE(pad, whatIf.steps.end());
    EXPECT_TRUE(pad->ranks[0].onlyZeros);
    EXPECT_EQ(outcome(*pad, probe::Layout::gathered, probe::GuardScope::full).agreement, probe::Agreement::unknown);
    EXPECT_EQ(outcome(*pad, probe::Layout::headSplit, probe::GuardScope::full).agreement, probe::Agreement::allSkip)
        << "there is no padding without an exchange";
}

TEST(GuardWhatIf, WhatTheUserKnowsOfTheLayoutLeavesOne)
{
    const auto whatIf = diagnose::guardWhatIf(oneBirth().run(), {.layout = probe::Layout::single});
    ASSERT_THAT(whatIf.layouts, SizeIs(1));
    EXPECT_TRUE(whatIf.layouts[0].possible);
    EXPECT_THAT(whatIf.steps[0].outcomes, SizeIs(3));
    EXPECT_EQ(outcome(whatIf.steps[0], probe::Layout::single, probe::GuardScope::local).consequence,
        diagnose::Consequence::drift);
    EXPECT_EQ(outcome(whatIf.steps[0], probe::Layout::single, probe::GuardScope::group).consequence,
        diagnose::Consequence::none);
}

TEST(GuardWhatIf, AStackRulesOutASingleMatrixAndTheReverse)
{
    const auto possible = [](const diagnose::GuardWhatIf& whatIf) {
        std::vector<probe::Layout> layouts;
        for (const auto& layout : whatIf.layouts) {
            if (layout.possible) {
                layouts.push_back(layout.layout);
            }
        }
        return layouts;
    };
    EXPECT_THAT(possible(diagnose::guardWhatIf(oneBirth().run())), Not(Contains(probe::Layout::single)));
    GuardRun alone;
    alone.step(5).dump({.file = "birth.pt", .shape = {160, 96}}).step(6);
    EXPECT_THAT(possible(diagnose::guardWhatIf(alone.run())), ElementsAre(probe::Layout::single));
    GuardRun odd;
    odd.step(5, 7).dump({.file = "birth.pt"}).step(6, 7);
    EXPECT_THAT(possible(diagnose::guardWhatIf(odd.run())), Not(Contains(probe::Layout::matrixSharded)))
        << "160 rows are no seven equal parts";
}

TEST(GuardWhatIf, TheStackOfTheGuardIsNotTheShapeOfTheCapture)
{
    const auto step = diagnose::guardWhatIf(oneBirth().run()).steps[0];
    EXPECT_EQ(outcome(step, probe::Layout::gathered, probe::GuardScope::full).stack, "(2, 160, 96)");
    EXPECT_EQ(outcome(step, probe::Layout::headSplit, probe::GuardScope::full).stack, "(1, 160, 96)");
    EXPECT_EQ(outcome(step, probe::Layout::matrixSharded, probe::GuardScope::full).stack, "(2, 80, 96)");
    EXPECT_EQ(diagnose::gatheredCount(1, 8), std::pair(std::int64_t {2}, std::int64_t {8}));
    EXPECT_EQ(diagnose::gatheredCount(3, 4), std::pair(std::int64_t {9}, std::int64_t {12}));
    const auto more = diagnose::guardWhatIf(oneBirth().run(), {.ranks = 4}).steps[0];
    EXPECT_EQ(outcome(more, probe::Layout::gathered, probe::GuardScope::full).stack, "(2 to 4, 160, 96)");
    EXPECT_THAT(more.ranks, SizeIs(4));
}

TEST(GuardWhatIf, LossesThatGoBadTogetherSpeakForSharedResults)
{
    const auto hints = diagnose::guardWhatIf(oneBirth().run()).layoutHints;
    ASSERT_THAT(hints, SizeIs(1));
    EXPECT_THAT(hints[0].text, HasSubstr("speaks for shared results"));
    EXPECT_EQ(hints[0].source, "console.log:6");
}

TEST(GuardWhatIf, ALossThatGoesBadLaterSpeaksForCopies)
{
    GuardRun summary;
    summary.step(5).dump({.file = "birth.pt"});
    summary.loss(0, 6, nan).loss(1, 6, 1.25);
    summary.dump({.file = "after1.pt", .rank = 1, .badInput = true});
    summary.loss(0, 7, nan).loss(1, 7, nan);
    const auto hints = diagnose::guardWhatIf(summary.run()).layoutHints;
    ASSERT_THAT(hints, SizeIs(1));
    EXPECT_THAT(hints[0].text, HasSubstr("speaks for a copy of its own"));
}

TEST(GuardWhatIf, ARankWhoseOutputIsNotKnownHintsAtNothing)
{
    GuardRun summary;
    summary.step(5).dump({.file = "birth.pt"}).loss(0, 6, nan).loss(1, 6, nan);
    EXPECT_THAT(diagnose::guardWhatIf(summary.run()).layoutHints, IsEmpty()) << "its own output may have been bad, too";
}

TEST(GuardWhatIf, ARaiseKeepsTheOtherGroupsOfItsStepUnknown)
{
    GuardRun summary;
    summary.step(5).dump({.file = "birth.pt", .raised = true}).step(6);
    summary.dump({.file = "a.pt", .shape = {1, 96, 160}}).dump({.file = "b.pt", .rank = 1, .shape = {1, 96, 160}});
    EXPECT_THAT(diagnose::guardWhatIf(summary.step(7).run()).steps[0].otherGroups, IsEmpty());
}

TEST(GuardWhatIf, AnAveragedLossSaysNothingOfTheLayout)
{
    GuardRun summary;
    summary.loss(0, 5, 1).loss(1, 5, 1).dump({.file = "birth.pt"});
    summary.loss(0, 6, nan).loss(1, 6, nan);
    summary.dump({.file = "after1.pt", .rank = 1, .badInput = true}).loss(0, 7, nan).loss(1, 7, nan);
    EXPECT_THAT(diagnose::guardWhatIf(summary.run()).layoutHints, IsEmpty());
}

TEST(GuardWhatIf, LinesOfAGuardAreALowerBound)
{
    auto summary = oneBirth();
    const std::string words =
        "[NorMuon nan_guard_fallback] non-finite Newton-Schulz output detected; skipping update for "
        "this step on all ranks (shape=(2, 160, 96)). See microsoft/dion#76.";
    summary.event(EventKind::skippedStep, 0, words, 2);
    const auto whatIf = diagnose::guardWhatIf(summary.run());
    EXPECT_EQ(whatIf.guardLines, 2);
    EXPECT_THAT(whatIf.notes, says("at least 2 updates: Python prints a warning of the same words once"));
    EXPECT_THAT(whatIf.notes, says("(2, 160, 96) is the whole stack; the captures of 1x160x96 are one rank's part"));
    EXPECT_EQ(diagnose::guardWhatIf(oneBirth().run()).guardLines, 0);
}

TEST(GuardWhatIf, TwoProcessesOfOneRankAreTwoGroups)
{
    GuardRun summary;
    summary.step(5).dump({.file = "birth.pt"}).dump({.file = "twin.pt", .pid = 900}).step(6);
    EXPECT_THAT(diagnose::guardWhatIf(summary.run()).notes, says("2 processes call themselves rank 0"));
    EXPECT_THAT(diagnose::guardWhatIf(oneBirth().run()).notes, Not(says("call themselves")));
}

TEST(GuardWhatIf, WithoutAStepEveryCaptureStandsForItself)
{
    GuardRun summary;
    summary.dump({.file = "a.pt"}).dump({.file = "b.pt", .rank = 1});
    const auto whatIf = diagnose::guardWhatIf(summary.run());
    ASSERT_THAT(whatIf.steps, SizeIs(2));
    EXPECT_FALSE(whatIf.steps[0].step);
    EXPECT_THAT(whatIf.notes, says("belong to no known step"));
}

TEST(GuardWhatIf, FiniteCapturesAreNoStepsAndStillEvidence)
{
    GuardRun summary;
    summary.step(5).dump({.file = "birth.pt"}).dump({.file = "control1.pt", .rank = 1, .badOutput = false}).step(6);
    const auto whatIf = diagnose::guardWhatIf(summary.run());
    ASSERT_THAT(whatIf.steps, SizeIs(1));
    EXPECT_EQ(whatIf.steps[0].ranks[1].output, probe::Sight::finite);
    GuardRun healthy;
    healthy.step(5).dump({.file = "control.pt", .badOutput = false}).step(6);
    EXPECT_THAT(diagnose::guardWhatIf(healthy.run()).steps, IsEmpty());
}

TEST(GuardWhatIf, RowsOfTheDumpTellWhichRankHoldsTheDamage)
{
    const TemporaryFolder folder;
    std::vector<float> output(16 * 4, 0.5F);
    output[12 * 4 + 1] = std::numeric_limits<float>::quiet_NaN();
    const auto tensor = [](const char* name, const std::vector<float>& values) {
        tensorfile::TensorToWrite made {
            name, DType::float32, {1, 16, 4}, std::vector<std::byte>(values.size() * sizeof(float))};
        std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
        return made;
    };
    ASSERT_TRUE(tensorfile::writePt(folder / "birth.pt",
        {{"input", tensor("input", std::vector<float>(16 * 4, 1))}, {"output", tensor("output", output)}}));
    GuardRun summary;
    summary.step(5).dump({.file = "birth.pt", .shape = {1, 16, 4}}).step(6);
    summary.dump({.file = "after1.pt", .rank = 1, .shape = {1, 16, 4}, .badInput = true}).step(7);
    auto run = summary.run();
    run.captures[0].path = (folder / "birth.pt").string();
    const auto step = diagnose::guardWhatIf(run).steps[0];
    const auto torn = outcome(step, probe::Layout::matrixSharded, probe::GuardScope::local);
    EXPECT_THAT(torn.decisions, ElementsAre(probe::Decision::apply, probe::Decision::skip))
        << "row 12 of 16 is rank 1's";
    EXPECT_EQ(torn.consequence, diagnose::Consequence::torn);
    run.captures[0].path = (folder / "gone.pt").string();
    EXPECT_EQ(outcome(diagnose::guardWhatIf(run).steps[0], probe::Layout::matrixSharded, probe::GuardScope::local)
                  .consequence,
        diagnose::Consequence::unknown)
        << "without the file the rows are not known";
}

} // namespace
} // namespace nanscope
