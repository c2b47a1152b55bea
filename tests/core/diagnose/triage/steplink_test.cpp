// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/diagnose/triage/steplink.h"
#include "core/diagnose/triage/triage.h"

namespace nanscope {
namespace {

using Between = std::pair<std::int64_t, std::int64_t>;

/// Logs of several files: step lines, and lines that name the dump.
class Logs
{
public:
    explicit Logs(const std::string& dump = "x.pt")
    {
        Capture capture;
        capture.file = dump;
        capture.timestampMs = 1000;
        run.captures.push_back(capture);
    }

    Logs& step(std::int64_t line, std::int64_t number, std::optional<int> rank = 0, const std::string& file = "c.log")
    {
        auto& series = run.series.emplace_back();
        series.name = "loss";
        series.rank = rank;
        series.source = file;
        series.points = {{number, 1, PointState::finite, line}};
        return *this;
    }

    Logs& dump(std::int64_t line, std::optional<int> rank = 0, const std::string& file = "c.log")
    {
        Event event;
        event.kind = EventKind::captureDumped;
        event.rank = rank;
        event.capture = run.captures[0].file;
        event.source = file;
        event.line = line;
        run.events.push_back(event);
        return *this;
    }

    diagnose::StepLink link() const { return diagnose::StepLinks(run).of(run.captures[0]); }

    RunData run;
};

TEST(StepLink, AnUnnamedDumpHasOnlyItsTime)
{
    Logs logs;
    logs.step(1, 5).step(9, 6);
    EXPECT_FALSE(logs.link().between);
    EXPECT_EQ(logs.link().source, StepSource::mtime);
    logs.run.captures[0].timestampMs.reset();
    EXPECT_EQ(logs.link().source, StepSource::unknown);
}

TEST(StepLink, OnlyStepLinesOfTheSameFileAndRankCount)
{
    Logs logs;
    logs.step(1, 5).dump(3).step(5, 9, 1).step(4, 7, 0, "other.log").step(6, 6);
    EXPECT_EQ(logs.link().between, Between(5, 6));
    EXPECT_EQ(logs.link().file, "c.log");
    EXPECT_EQ(logs.link().line, 3);
}

TEST(StepLink, ALogWithoutRanksSpeaksForEveryRank)
{
    Logs logs;
    logs.step(1, 5, std::nullopt).dump(3, 2).step(5, 6, std::nullopt);
    EXPECT_EQ(logs.link().between, Between(5, 6));
}

TEST(StepLink, TheNearestStepLineOnEachSideIsTaken)
{
    Logs logs;
    logs.step(1, 3).step(2, 4).step(8, 7).step(6, 6).dump(4);
    EXPECT_EQ(logs.link().between, Between(4, 6));
}

TEST(StepLink, CountedRowsAreNoSteps)
{
    Logs logs;
    logs.step(1, 5).dump(3).step(5, 6);
    logs.run.series[1].stepInferred = true;
    const auto link = logs.link();
    EXPECT_FALSE(link.closed);
    EXPECT_EQ(link.between, Between(5, 6)) << "the next number, as no later line is known";
}

TEST(StepLink, ADumpBeforeTheFirstStepLineBelongsBeforeIt)
{
    Logs logs;
    logs.dump(1).step(5, 3);
    EXPECT_EQ(logs.link().between, Between(2, 3));
    EXPECT_FALSE(logs.link().closed);
}

TEST(StepLink, ALineBetweenTwoStepsBeatsOneAtTheEndOfALog)
{
    Logs logs;
    logs.step(1, 5).dump(3).step(1, 8, 0, "b.log").dump(2, 0, "b.log").step(3, 9, 0, "b.log");
    const auto link = logs.link();
    EXPECT_EQ(link.between, Between(8, 9));
    EXPECT_EQ(link.file, "b.log");
    EXPECT_TRUE(link.closed);
}

TEST(StepLink, TheLogOfOneRankBeatsOneThatSeveralWriteTo)
{
    // As torchrun's tee leaves it: what two streams print, in the order it arrived in.
    Logs logs;
    logs.step(1, 11).step(2, 11, 1).dump(3).step(4, 12).step(5, 13);
    EXPECT_EQ(logs.link().between, Between(11, 12)) << "nothing else tells";
    logs.step(7, 13, 0, "rank0.log").dump(8, 0, "rank0.log");
    EXPECT_EQ(logs.link().between, Between(13, 14));
    EXPECT_EQ(logs.link().file, "rank0.log");
}

TEST(StepLink, ASidecarThatTheLogContradictsIsSaid)
{
    Logs logs;
    logs.step(1, 5).dump(3).step(5, 6);
    logs.run.captures[0].step = 6;
    EXPECT_EQ(logs.link().between, Between(6, 6));
    EXPECT_FALSE(logs.link().otherwise) << "before the line of step 6 is during step 6";
    logs.run.captures[0].step = 41;
    const auto link = logs.link();
    EXPECT_EQ(link.between, Between(41, 41));
    EXPECT_EQ(link.otherwise, Between(5, 6));
    EXPECT_EQ(link.line, 3);
}

TEST(StepLink, OfTwoCountsThatContradictNeitherIsTaken)
{
    Logs logs;
    logs.step(1, 5).dump(3).step(5, 6);
    logs.run.captures[0].step = 41;
    const auto verdict = diagnose::triage(logs.run)[0];
    EXPECT_FALSE(verdict.step);
    ASSERT_EQ(verdict.facts.besides.size(), 1U);
    EXPECT_EQ(verdict.facts.besides[0].text,
        "the step: the capture says 41, and the log names the dump between the log lines of steps 5 and 6");
    EXPECT_EQ(verdict.facts.besides[0].source, "c.log:3");
}

TEST(StepLink, LinesThatNameOtherDumpsSayNothing)
{
    Logs logs;
    logs.step(1, 5).dump(3).step(5, 6);
    logs.run.events[0].capture = "y.pt";
    EXPECT_FALSE(logs.link().between);
    logs.run.events[0].capture = "x.pt";
    logs.run.events[0].kind = EventKind::traceback;
    EXPECT_FALSE(logs.link().between);
}

TEST(StepText, SaysWhatIsKnown)
{
    EXPECT_EQ(diagnose::stepText(std::optional<Between> {}), "at an unknown step");
    EXPECT_EQ(diagnose::stepText(Between(41, 41)), "at step 41");
    EXPECT_EQ(diagnose::stepText(Between(5, 6)), "between the log lines of steps 5 and 6");
}

} // namespace
} // namespace nanscope
