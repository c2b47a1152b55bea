// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/recovery/teecopies.h"

#include "tests/core/diagnose/findings/cardmaker.h"

namespace nanscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Event warning(const std::string& source, std::int64_t line, const std::string& words = "one")
{
    auto event = eventOf(
        EventKind::skippedStep, {}, "a.py:3: RuntimeWarning: [nan_guard_fallback] skipping update " + words, line);
    event.source = source;
    return event;
}

RunData withLogs(const std::vector<Event>& events, const std::string& metrics = "console.log")
{
    return runWith({seriesOf("loss", 1, {3, 2, 1}, metrics)}, events);
}

TEST(TeeCopies, AnErrorStreamWhoseLinesTheConsoleHasRepeatsIt)
{
    const auto run = withLogs({warning("console.log", 101), warning("stderr.log", 1)});
    EXPECT_THAT(diagnose::repeatingLogs(run), ElementsAre("stderr.log"));
    EXPECT_EQ(diagnose::eventsOnce(run).size(), 1U);
    EXPECT_THAT(cardOf(run, "log-warning-once").reason, HasSubstr("1 line of Python's warnings"));
    EXPECT_THAT(cardOf(run, "P14").reason, HasSubstr("at least 1 skipped step"));
}

TEST(TeeCopies, WhatEveryRankSaysOfOneStepIsOneStep)
{
    std::vector<Event> events;
    for (int rank = 0; rank < 64; ++rank) {
        events.push_back(warning("console.log", 101 + rank));
        events.back().rank = rank;
    }
    auto run = withLogs(events);
    run.series.front().points[1].line = 200;
    run.series.front().points[2].line = 201;
    EXPECT_THAT(cardOf(run, "log-warning-once").reason,
        HasSubstr("64 lines of Python's warnings tell of bad steps: "
                  "there was at least 1"));
    EXPECT_THAT(cardOf(run, "P14").reason, HasSubstr("at least 1 skipped step"));
}

TEST(TeeCopies, OneLineOfItsOwnAndItIsAnotherStream)
{
    EXPECT_THAT(diagnose::repeatingLogs(
                    withLogs({warning("console.log", 101), warning("stderr.log", 1), warning("stderr.log", 2, "two")})),
        IsEmpty());
    EXPECT_THAT(diagnose::repeatingLogs(withLogs({warning("console.log", 101), warning("console.log", 102, "two"),
                    warning("stderr.log", 1, "two"), warning("stderr.log", 2)})),
        IsEmpty())
        << "in another order";
    EXPECT_THAT(diagnose::repeatingLogs(
                    withLogs({warning("console.log", 101), warning("stderr.log", 1), warning("stderr.log", 2)})),
        IsEmpty())
        << "twice, and the console has it once";
}

TEST(TeeCopies, AnotherRankAnotherAttemptAnotherFolderSpeakForThemselves)
{
    auto ofRank = warning("stderr.log", 1);
    ofRank.rank = 5;
    EXPECT_THAT(diagnose::repeatingLogs(withLogs({warning("console.log", 101), ofRank})), IsEmpty());
    EXPECT_THAT(
        diagnose::repeatingLogs(withLogs({warning("slurm-9.out", 101), warning("slurm-10.out", 1)}, "slurm-9.out")),
        IsEmpty());
    EXPECT_THAT(
        diagnose::repeatingLogs(withLogs({warning("a/console.log", 101), warning("b/stderr.log", 1)}, "a/console.log")),
        IsEmpty());
    EXPECT_THAT(diagnose::repeatingLogs(withLogs({warning("console.log", 101), warning("logs/0/stderr.log", 1)})),
        ElementsAre("logs/0/stderr.log"))
        << "torchrun's streams lie below the console";
}

TEST(TeeCopies, ALogWithMetricsIsNoStreamOfAnother)
{
    auto run = withLogs({warning("console.log", 101), warning("other.log", 1)});
    run.series.push_back(seriesOf("loss", 1, {5, 4}, "other.log"));
    EXPECT_THAT(diagnose::repeatingLogs(run), IsEmpty());
    run.series.back() = seriesOf("loss", 1, {3, 2, 1}, "other.log");
    EXPECT_THAT(diagnose::repeatingLogs(run), ElementsAre("console.log")) << "all of it is the other's, once";
    EXPECT_EQ(diagnose::eventsOnce(run).size(), 1U);
    run.series.back() = seriesOf("loss", 1, {3, 2}, "other.log");
    EXPECT_THAT(diagnose::repeatingLogs(run), ElementsAre("other.log"));
}

} // namespace
} // namespace nanscope
