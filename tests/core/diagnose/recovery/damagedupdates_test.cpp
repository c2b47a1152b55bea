// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// A finite loss proves weights that took part in it, and says nothing of the others.

#include <gmock/gmock.h>

#include "core/diagnose/recovery/rollback.h"
#include "core/model/verdict.h"
#include "tests/core/diagnose/runmaker.h"

namespace nanscope {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

CaptureVerdict damagedAt(std::optional<std::int64_t> step, Role role = Role::birth, Blame blame = Blame::implementation)
{
    CaptureVerdict verdict;
    verdict.role = role;
    verdict.capture = "dump.pt";
    verdict.blame = role == Role::birth ? blame : Blame::upstream;
    if (step) {
        verdict.step = std::pair(*step, *step);
        verdict.stepSource = StepSource::capture;
    }
    return verdict;
}

/// Finite losses of steps 0 to 15, then NaN; a checkpoint every second step.
RunData idleHead()
{
    RunData run;
    run.series = {seriesOf("loss", 0, joined(constant(16, 0.3), constant(4, nan)))};
    for (std::int64_t step = 2; step <= 16; step += 2) {
        run.checkpoints.push_back(found(step));
    }
    return run;
}

const CheckpointAdvice& at(const Rollback& rollback, std::int64_t step)
{
    return *std::ranges::find(rollback.checkpoints, step, &CheckpointAdvice::step);
}

CheckpointContents contents(std::int64_t badWeights)
{
    CheckpointContents held;
    held.tensors = 3;
    held.weights = 3;
    held.badWeights = badWeights;
    held.first = badWeights > 0 ? "heads.1.weight holds 3072 NaN, the first at [0,0]" : "";
    return held;
}

TEST(DamagedUpdate, AFiniteLossAfterItProvesNoCheckpoint)
{
    for (const auto role : {Role::birth, Role::upstream, Role::downstream}) {
        const auto rollback = *diagnose::adviseRollback(idleHead(), {damagedAt(4, role)});
        EXPECT_EQ(rollback.recommended, 2);
        EXPECT_EQ(at(rollback, 2).status, CheckpointStatus::safe);
        EXPECT_EQ(at(rollback, 4).status, CheckpointStatus::unverified) << "it may be from after the update of step 4";
        EXPECT_EQ(at(rollback, 14).status, CheckpointStatus::unverified);
        EXPECT_EQ(at(rollback, 14).reason,
            "weights made from it gave a finite loss, but the update of step 4 was damaged and is not shown to have "
            "been skipped: verify it (--verify-checkpoints)");
        EXPECT_THAT(rollback.reason, HasSubstr("newer ones, up to step 14, may hold the update of step 4"));
        EXPECT_THAT(rollback.tonight,
            HasSubstr("resume from step 2 (14 steps again; fewer if --verify-checkpoints finds a newer one finite, up "
                      "to step 14)"));
    }
    EXPECT_EQ(diagnose::adviseRollback(idleHead(), {damagedAt(4, Role::padding)})->recommended, 14);
}

TEST(DamagedUpdate, ReadingACheckpointSettlesWhatTheLossLeftOpen)
{
    auto run = idleHead();
    run.checkpoints[6].contents = contents(1);
    run.checkpoints[5].contents = contents(0);
    const auto rollback = *diagnose::adviseRollback(run, {damagedAt(4)});
    EXPECT_EQ(at(rollback, 14).status, CheckpointStatus::poisoned);
    EXPECT_EQ(at(rollback, 12).status, CheckpointStatus::safe);
    EXPECT_TRUE(at(rollback, 12).proof.empty()) << "what was doubted is no proof";
    EXPECT_EQ(rollback.recommended, 12);
    EXPECT_THAT(rollback.tonight, HasSubstr("resume from step 12 (4 steps again)"));
}

TEST(DamagedUpdate, OneThatWasSkippedIsInNoCheckpoint)
{
    const auto recommendedWith = [](const RunData& run) {
        return diagnose::adviseRollback(run, {damagedAt(4)})->recommended;
    };
    auto named = idleHead();
    named.events = {eventOf(EventKind::skippedStep, 4, "non-finite gradient, skipping update", 104)};
    EXPECT_EQ(recommendedWith(named), 14);
    named.events.front().step = 3;
    EXPECT_EQ(recommendedWith(named), 2) << "another update was";
    auto unnamed = idleHead();
    unnamed.events = {eventOf(EventKind::skippedStep, {}, "non-finite gradient, skipping update", 104)};
    EXPECT_EQ(recommendedWith(unnamed), 14) << "between the lines of steps 3 and 4";
    unnamed.events.front().line = 103;
    EXPECT_EQ(recommendedWith(unnamed), 2) << "between those of steps 2 and 3";
    auto counted = idleHead();
    counted.series.push_back(seriesOf("skipped_iterations", 0, {0, 0, 0, 0, 1, 0}));
    EXPECT_EQ(recommendedWith(counted), 14);
    counted.series.back() = seriesOf("skipped_steps", 0, {0, 0, 0, 1, 1, 1});
    EXPECT_EQ(recommendedWith(counted), 2) << "one since the start, in step 3";
}

TEST(DamagedUpdate, OfTenUpdatesBetweenTwoLinesOneSkipSaysNothing)
{
    RunData run;
    run.series = {seriesOf("loss", 0, joined(constant(20, 0.3), constant(4, nan)))};
    for (auto& point : run.series.front().points) {
        point.step *= 10;
    }
    run.checkpoints = {found(100), found(30)};
    run.events = {eventOf(EventKind::skippedStep, {}, "non-finite gradient, skipping update", 105)};
    auto birth = damagedAt(40);
    birth.step = std::pair<std::int64_t, std::int64_t>(40, 50);
    const auto rollback = *diagnose::adviseRollback(run, {birth});
    EXPECT_EQ(rollback.recommended, 30);
    EXPECT_THAT(at(rollback, 100).reason, HasSubstr("an update between the log lines of steps 40 and 50 was damaged"));
    run.events.front().copies = 10;
    EXPECT_EQ(diagnose::adviseRollback(run, {birth})->recommended, 100) << "all of them were";
}

TEST(DamagedUpdate, DionsGuardSpeaksOfTheDumpBeforeIt)
{
    auto run = idleHead();
    auto dump = eventOf(EventKind::captureDumped, {}, "dumped", 105);
    dump.capture = "dump.pt";
    const auto warning =
        "RuntimeWarning: [NorMuon nan_guard_fallback] non-finite Newton-Schulz output; skipping update "
        "(shape=(1, 48, 64))";
    run.events = {dump, eventOf(EventKind::skippedStep, {}, warning, 105)};
    run.events.back().line = 106;
    auto birth = damagedAt({});
    birth.facts.rows = 48;
    birth.facts.cols = 64;
    EXPECT_EQ(diagnose::adviseRollback(run, {birth})->recommended, 14);
    birth.facts.rows = 64;
    EXPECT_EQ(at(*diagnose::adviseRollback(run, {birth}), 14).status, CheckpointStatus::unverified) << "another stack";
}

TEST(DamagedUpdate, WithoutItsStepNoCheckpointIsProven)
{
    const auto rollback = *diagnose::adviseRollback(idleHead(), {damagedAt({})});
    EXPECT_EQ(at(rollback, 2).status, CheckpointStatus::unverified);
    EXPECT_EQ(at(rollback, 2).reason,
        "weights made from it gave a finite loss, but the update of dump.pt (at which step is not known) was damaged "
        "and is not shown to have been skipped: verify it (--verify-checkpoints)");
    EXPECT_EQ(rollback.recommended, 14);
    EXPECT_THAT(rollback.tonight, HasSubstr("resume from step 14 (2 steps again; verify it first: --verify"));
}

TEST(DamagedUpdate, WhatIsDownstreamCameAfterItsCause)
{
    auto later = damagedAt({}, Role::downstream);
    later.capture = "later.pt";
    later.causedBy = "dump.pt";
    EXPECT_EQ(diagnose::adviseRollback(idleHead(), {damagedAt(4), later})->recommended, 2);
}

TEST(DamagedUpdate, WrongValuesThatAreFiniteAreFoundByNoReading)
{
    auto run = idleHead();
    run.checkpoints[6].contents = contents(0);
    auto birth = damagedAt(4);
    birth.facts.outputFinite = true;
    const auto rollback = *diagnose::adviseRollback(run, {birth});
    EXPECT_EQ(at(rollback, 14).status, CheckpointStatus::suspect);
    EXPECT_THAT(at(rollback, 14).reason, EndsWith("with wrong values that are finite"));
    EXPECT_EQ(rollback.recommended, 2);
    birth.blame = Blame::undecided;
    EXPECT_EQ(diagnose::adviseRollback(run, {birth})->recommended, 14) << "it may be the user's own code";
}

TEST(DamagedUpdate, AnAttemptThatBeganBeforeItHasDoneItAgain)
{
    auto first = seriesOf("loss", 0, constant(10, 0.3), "slurm-1.out");
    auto dump = eventOf(EventKind::captureDumped, {}, "dumped", 105);
    dump.capture = "dump.pt";
    dump.source = "slurm-1.out";
    const auto recommendedWith = [&](std::int64_t begin) {
        RunData run;
        run.series = {first, seriesOf("loss", begin, joined(constant(12, 0.3), {nan, nan}), "slurm-2.out")};
        run.settings = {{"log.step_base", "0", {}, "slurm-2.out", 1}};
        run.events = {dump};
        run.checkpoints = {found(14), found(4)};
        return diagnose::adviseRollback(run, {damagedAt(5)})->recommended;
    };
    EXPECT_EQ(recommendedWith(4), 14);
    EXPECT_EQ(recommendedWith(8), 4) << "it began with weights that hold the damage";
}

TEST(DamagedUpdate, WithoutACheckpointItsStepIsTheOneToStayBefore)
{
    auto run = idleHead();
    run.checkpoints.clear();
    EXPECT_THAT(diagnose::adviseRollback(run, {damagedAt(4)})->tonight,
        HasSubstr("resume from a checkpoint of step 3 or earlier (none was found in this run): the update of step 4 "
                  "was damaged and is not shown to have been skipped; a newer one, up to step 14, only if"));
}

TEST(DamagedUpdate, NoCheckpointIsOlderThanTheFirstStep)
{
    RunData run;
    run.series = {seriesOf("loss", 0, {0.5, nan, nan, nan})};
    run.settings = {{"log.step_base", "1", {}, "train.log", 1}};
    EXPECT_THAT(diagnose::adviseRollback(run, {})->tonight, EndsWith("start anew, nothing came before the first step"));
}

TEST(DamagedUpdate, WhereNothingIsLoggedNothingIsSaidOfALog)
{
    const auto tonight = diagnose::adviseRollback({}, {damagedAt(0)})->tonight;
    EXPECT_THAT(tonight, HasSubstr("no loss is logged, and a capture of step 0 is damaged already"));
    EXPECT_THAT(tonight, Not(HasSubstr("what was logged")));
}

TEST(DamagedUpdate, NobodyGoesOnFromWhereItMayBe)
{
    RunData run;
    run.series = {seriesOf("loss", 0, constant(16, 0.3))};
    const auto born = damagedAt(4);
    EXPECT_THAT(diagnose::goOnTonight(run, {born}),
        HasSubstr("go on from where the run is, if the newest checkpoint is finite (run nanscope inspect on it): the "
                  "losses that are logged end finite, but the update of step 4 was damaged and is not shown"));
    auto later = damagedAt(5, Role::downstream);
    later.capture = "later.pt";
    const auto text = diagnose::goOnTonight(run, {born, later});
    EXPECT_THAT(text, Not(HasSubstr("go on from where the run is")));
    EXPECT_THAT(text, HasSubstr("first check that the newest checkpoint is finite"));
    EXPECT_THAT(
        text, EndsWith("but later.pt came in damaged, and the update of step 5 is not shown to have been skipped"));
    run.events = {eventOf(EventKind::skippedStep, 4, "non-finite gradient, skipping update", 104)};
    EXPECT_THAT(diagnose::goOnTonight(run, {born}), EndsWith("the losses that are logged end finite"));
}

} // namespace
} // namespace nanscope
