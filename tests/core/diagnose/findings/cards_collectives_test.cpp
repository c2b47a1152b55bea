// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that parted in a collective operation, and dumps that are named and not there.
#include <fmt/format.h>

#include "tests/core/diagnose/findings/cardmaker.h"

namespace nanscope {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

Event waiting(int rank, int sequence, const std::string& operation, std::int64_t line, const std::string& group = {})
{
    auto event = eventOf(EventKind::collective, {},
        "[" + (group.empty() ? "" : group + " ") + "Rank " + std::to_string(rank)
            + "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=" + std::to_string(sequence)
            + ", OpType=" + operation + ", NumelIn=1",
        line);
    event.rank = rank;
    return event;
}

Event leaving(int rank, std::int64_t line)
{
    auto event = eventOf(EventKind::traceback, {}, "ValueError: loss is not finite at step 13", line);
    event.rank = rank;
    return event;
}

TEST(Hang, SaysWhoWaitsWhere)
{
    const auto finding =
        cardOf(runWith({}, {waiting(0, 811, "ALLTOALL", 10), waiting(1, 812, "ALLREDUCE", 11)}), "hang");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.confidence, "medium");
    EXPECT_THAT(finding.reason, HasSubstr("if these are of one process group"));
    EXPECT_THAT(finding.reason, HasSubstr("rank 0 waits in collective 811 (ALLTOALL), rank 1 in 812 (ALLREDUCE)"));
    EXPECT_THAT(finding.evidence, SizeIs(2));
    EXPECT_FALSE(finding.rank) << "of two, neither is the odd one";
}

TEST(Hang, KnowsTheGroupWhereTheLinesNameIt)
{
    const std::string group = "PG ID 0 PG GUID 0(default_pg)";
    const auto finding =
        cardOf(runWith({}, {waiting(0, 8, "ALLTOALL", 10, group), waiting(1, 9, "ALLREDUCE", 11, group)}), "hang");
    EXPECT_EQ(finding.confidence, "high");
    EXPECT_THAT(finding.reason, Not(HasSubstr("if these")));
    EXPECT_EQ(
        cardOf(runWith(
                   {}, {waiting(0, 8, "ALLTOALL", 10, group), waiting(1, 9, "ALLREDUCE", 11, "PG ID 1 PG GUID 1(tp)")}),
            "hang")
            .confidence,
        "medium")
        << "two groups count for themselves";
}

TEST(Hang, SixtyFourRanksAreSummedUp)
{
    std::vector<Event> events;
    for (int rank = 0; rank < 64; ++rank) {
        events.push_back(waiting(rank, rank == 17 ? 812 : 811, rank == 17 ? "ALLREDUCE" : "BROADCAST", 10 + rank));
    }
    const auto finding = cardOf(runWith({}, events), "hang");
    EXPECT_THAT(finding.reason, HasSubstr("63 ranks wait in collective 811 (BROADCAST), rank 17 in 812 (ALLREDUCE)"));
    EXPECT_THAT(finding.reason, HasSubstr("rank 17 stood apart"));
    EXPECT_EQ(finding.rank, 17);
    EXPECT_THAT(finding.evidence, SizeIs(2));
}

Event working(int rank, int begun, int ended, std::int64_t line)
{
    auto event = eventOf(EventKind::collective, {},
        fmt::format("[PG 0 Rank {}] Received a dump signal due to a collective timeout from rank 0. Last enqueued NCCL "
                    "work: {}, last completed NCCL work: {}.",
            rank, begun, ended),
        line);
    event.rank = rank;
    return event;
}

TEST(Hang, ARankThatEndedTheOneBeforeDidNotCome)
{
    std::vector<Event> events {working(2, 810, 810, 30)};
    for (const int rank : {0, 1, 3}) {
        events.push_back(waiting(rank, 811, "ALLREDUCE", 10 + rank, "PG 0"));
        events.push_back(working(rank, 815, 810, 20 + rank));
    }
    const auto finding = cardOf(runWith({}, events), "hang");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(finding.reason,
        HasSubstr("3 ranks wait in collective 811 (ALLREDUCE) of PG 0, rank 2 ended 810 of PG 0 and came to no other"));
    EXPECT_EQ(finding.rank, 2);
    events.front() = working(2, 815, 810, 30);
    EXPECT_THAT(cardOf(runWith({}, events), "hang").reason, HasSubstr("4 ranks wait in collective 811 (ALLREDUCE)"))
        << "its line only counts, and counts alike";
    EXPECT_EQ(stateOf(runWith({}, {working(0, 8, 8, 10), working(1, 8, 8, 11)}), "hang"), FindingState::clear)
        << "nobody waits";
}

TEST(Hang, ARankWithoutALineIsNamedWhereOthersHaveOne)
{
    std::vector<Event> events;
    for (const int rank : {0, 1, 2, 3, 4, 6, 7}) {
        events.push_back(waiting(rank, 811, "ALLREDUCE", 10 + rank));
    }
    EXPECT_THAT(cardOf(runWith({}, events), "hang").reason,
        HasSubstr("7 ranks wait in collective 811 (ALLREDUCE), and no line of rank 5"));
    events.resize(3);
    events.back() = waiting(4, 811, "ALLREDUCE", 14);
    EXPECT_THAT(cardOf(runWith({}, events), "hang").reason, Not(HasSubstr("no line of rank")))
        << "a group of their own";
}

TEST(Hang, TheExceptionIsTheCause)
{
    const auto finding =
        cardOf(runWith({}, {leaving(3, 9), waiting(0, 8, "ALLREDUCE", 10), waiting(1, 8, "ALLREDUCE", 11)}), "hang");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(
        finding.reason, HasSubstr("rank 3 left first, with an exception; the watchdogs of 2 other ranks follow"));
    EXPECT_EQ(finding.rank, 3);
    EXPECT_EQ(finding.evidence.front().line, 9);
}

TEST(Hang, AnExceptionBehindTheWatchdogsIsNone)
{
    const auto events = [](const Event& exception) {
        return runWith({}, {waiting(0, 8, "ALLREDUCE", 10), waiting(1, 8, "ALLREDUCE", 11), exception});
    };
    EXPECT_EQ(stateOf(events(leaving(3, 30)), "hang"), FindingState::notCheckable);
    EXPECT_EQ(stateOf(events(leaving(1, 9)), "hang"), FindingState::notCheckable) << "that rank waits itself";
    auto elsewhere = leaving(3, 30);
    elsewhere.source = "rank_3.log";
    EXPECT_EQ(stateOf(events(elsewhere), "hang"), FindingState::fired) << "another log has no order with this one";
}

TEST(Hang, ClearAndNotCheckable)
{
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {2, 1})}), "hang"), FindingState::clear);
    EXPECT_EQ(stateOf({}, "hang"), FindingState::notCheckable);
}

Event dumped(int rank, const std::string& file, std::int64_t line, const std::string& source = "train.log")
{
    auto event = eventOf(EventKind::captureDumped, {}, "[dion NaN capture] dumped to /x/" + file, line);
    event.rank = rank;
    event.capture = file;
    event.source = source;
    return event;
}

TEST(MissingDumps, AreCountedAndNamed)
{
    const auto finding =
        cardOf(runWith({}, {dumped(1, "b1.pt", 12), dumped(0, "a1.pt", 10), dumped(0, "a2.pt", 11)}), "missing-dumps");
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_EQ(finding.reason, "3 dumps on 2 ranks that the logs name are not here; fetch these first: a1.pt, b1.pt");
    EXPECT_FALSE(finding.rank) << "a log takes the lines of several ranks as they come";
    EXPECT_THAT(finding.evidence, SizeIs(2)) << "the first of each rank";
}

std::string named(int rank, int time)
{
    return fmt::format("dion_nan_capture_rank{}_shape1x160x96_pid{}_17952343963{}.pt", rank, 2000 + rank, time);
}

TEST(MissingDumps, TheTimesInTheirNamesTellWhoWasFirst)
{
    const auto finding =
        cardOf(runWith({}, {dumped(1, named(1, 15), 10), dumped(0, named(0, 10), 11), dumped(0, named(0, 15), 12)}),
            "missing-dumps");
    EXPECT_THAT(finding.reason, HasSubstr("rank 0 was first by the times in their names")) << "under a tee";
    EXPECT_THAT(finding.reason, HasSubstr("fetch these first: " + named(0, 10) + ", " + named(1, 15)));
    EXPECT_EQ(finding.rank, 0);
    const auto together =
        cardOf(runWith({}, {dumped(1, named(1, 10), 10), dumped(0, named(0, 10), 11)}), "missing-dumps");
    EXPECT_THAT(together.reason, Not(HasSubstr("was first"))) << "in one millisecond";
    EXPECT_FALSE(together.rank);
    EXPECT_EQ(cardOf(runWith({}, {dumped(3, "a.pt", 10)}), "missing-dumps").rank, 3);
}

TEST(MissingDumps, OneLineUnderATeeCountsOnce)
{
    const auto finding =
        cardOf(runWith({}, {dumped(0, "a1.pt", 10), dumped(0, "a1.pt", 1, "stderr.log")}), "missing-dumps");
    EXPECT_THAT(finding.reason, HasSubstr("1 dump on 1 rank that the logs name is not here"));
}

TEST(MissingDumps, LogsOfTheirOwnHaveNoOrder)
{
    const auto finding = cardOf(
        runWith({}, {dumped(1, "b1.pt", 1, "rank_1.log"), dumped(0, "a1.pt", 10, "rank_0.log")}), "missing-dumps");
    EXPECT_THAT(finding.reason, Not(HasSubstr("first;"))) << finding.reason;
    EXPECT_THAT(finding.reason, HasSubstr("a1.pt, b1.pt"));
}

TEST(MissingDumps, ThoseThatAreThereAreNotMissing)
{
    auto run = runWith({}, {dumped(0, "a1.pt", 10), dumped(0, "a2.pt", 11)});
    run.captures = {captureOf("dumps/a1.pt", 0, hundred(1))};
    EXPECT_THAT(
        cardOf(run, "missing-dumps").reason, HasSubstr("1 of 2 dumps that the logs name is not here, on 1 rank"));
    run.rejected = {{"dumps/a2.pt", "cut off"}};
    EXPECT_EQ(stateOf(run, "missing-dumps"), FindingState::clear) << "it is there, if not to be read";
    run.events.back().capture = "a2.pt on node 7";
    EXPECT_EQ(stateOf(run, "missing-dumps"), FindingState::clear) << "the line goes on behind the name";
    EXPECT_EQ(stateOf(runWith({seriesOf("loss", 1, {2, 1})}), "missing-dumps"), FindingState::clear);
    EXPECT_EQ(stateOf({}, "missing-dumps"), FindingState::notCheckable);
}

TEST(MissingDumps, OfManyRanksTheRestIsCounted)
{
    std::vector<Event> events;
    for (int rank = 0; rank < 64; ++rank) {
        events.push_back(dumped(rank, "r" + std::to_string(rank) + ".pt", 10 + rank));
    }
    EXPECT_THAT(cardOf(runWith({}, events), "missing-dumps").reason,
        HasSubstr("r0.pt, r1.pt, r2.pt, r3.pt and the first of 60 more ranks"));
}

} // namespace
} // namespace nanscope
