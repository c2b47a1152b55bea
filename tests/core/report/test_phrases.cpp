// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gmock/gmock.h>

#include "core/base/text.h"
#include "core/model/verdict.h"
#include "core/model/words.h"
#include "core/report/document/console.h"
#include "handmade.h"

using namespace nanscope;
using testing::ElementsAre;

namespace {

Event eventOn(std::int64_t line, const std::string& text, EventKind kind = EventKind::nanLoss)
{
    Event event;
    event.kind = kind;
    event.text = text;
    event.source = "c.log";
    event.line = line;
    return event;
}

Series valuesOf(const std::string& name, std::vector<Point> points)
{
    Series series;
    series.name = name;
    series.source = "c.log";
    series.points = std::move(points);
    return series;
}

} // namespace

TEST(Phrases, NumbersHaveFourDigitsAndNamesWhereThereAreNone)
{
    EXPECT_EQ(numberText(0), "0");
    EXPECT_EQ(numberText(3.14159), "3.142");
    EXPECT_EQ(numberText(1e-8), "1e-08");
    EXPECT_EQ(numberText(80384), "8.038e+04");
    EXPECT_EQ(numberText(std::nan("")), "NaN");
    EXPECT_EQ(numberText(-HUGE_VAL), "-Inf");
}

TEST(Phrases, ClassesAreListedInOrderWithTheirCounts)
{
    Scan scan;
    EXPECT_EQ(classesText(scan), "finite");
    scan.negInf = 1;
    EXPECT_EQ(classesText(scan), "1 -Inf");
    scan.nan = 15360;
    scan.posInf = 2;
    EXPECT_EQ(classesText(scan), "15,360 NaN, 2 Inf, 1 -Inf");
}

TEST(Phrases, BlameCarriesItsKindAndItsDoubt)
{
    CaptureVerdict verdict;
    EXPECT_EQ(blameText(verdict), "undecided");
    verdict.blame = Blame::numerics;
    verdict.marginal = true;
    EXPECT_EQ(blameText(verdict), "numerics (marginal)");
    verdict.kind = "at the edge of the format";
    EXPECT_EQ(blameText(verdict), "numerics (at the edge of the format, marginal)");
}

TEST(Phrases, OneStepIsOneStep)
{
    CaptureVerdict verdict;
    verdict.step = std::pair(std::int64_t {41}, std::int64_t {41});
    verdict.stepSource = StepSource::capture;
    EXPECT_EQ(stepText(verdict), "step 41 (capture)");
}

TEST(Phrases, VariantTellsHowItIsKnown)
{
    Identification variant;
    variant.names = {"gns-gram"};
    variant.how = IdentifiedBy::sidecar;
    EXPECT_EQ(variantText(variant), "gns-gram (sidecar)");
    variant.fit = 0;
    variant.runnerUp = 0.5;
    EXPECT_EQ(variantText(variant), "gns-gram (sidecar; off by 0 %, next the next family at 50 %)")
        << "no ratio to zero";
    variant.how = IdentifiedBy::fit;
    variant.fit = 0.25;
    variant.runnerUp.reset();
    EXPECT_EQ(variantText(variant), "gns-gram (off by 25 %)");
}

TEST(Phrases, ParagraphsBreakAtSpacesAndHangUnderTheirLabel)
{
    EXPECT_EQ(paragraph("next     ", "one two three", 9, 18), "next     one two\n         three\n");
    EXPECT_EQ(paragraph("a ", "", 2, 80), "a \n");
    EXPECT_EQ(paragraph("a ", "averyverylongword b", 2, 6), "a averyverylongword\n  b\n") << "words are never cut";
    EXPECT_EQ(paragraph("", "╳╳╳ ╳╳╳", 0, 7), "╳╳╳ ╳╳╳\n") << "columns, not bytes";
}

TEST(Phrases, SlackSkipsStepsWithoutAMeasuredBound)
{
    Cell cell;
    cell.gauges = {{1, std::nullopt, 1.05, {}, {}, 0, {}}, {2, 0.5, std::nullopt, {}, {}, 0, {}},
        {3, 0.9, 1.0, {}, {}, 0, {}}, {4, 0.5, 0.0, {}, {}, 0, {}}};
    EXPECT_NEAR(*slackPercent(cell), 100 / 9.0, 1e-12);
    cell.gauges[2].spectralBound = 1.0;
    EXPECT_EQ(slackPercent(cell), 0);
}

TEST(ConsoleAround, ValuesOfOneLineStandOnOneLineInEverySpelling)
{
    RunData run;
    run.series = {valuesOf("loss", {{7, 1.25, PointState::finite, 3}, {8, 0, PointState::reported, 4}}),
        valuesOf("grad_norm", {{7, INFINITY, PointState::posInf, 3}, {8, -INFINITY, PointState::negInf, 4}})};
    run.events = {eventOn(5, "trouble")};
    EXPECT_THAT(report::consoleAround(run, "", 8, 6),
        ElementsAre("c.log:3  step 7: loss=1.25 grad_norm=inf", "c.log:4  step 8: loss=missing grad_norm=-inf",
            "c.log:5  trouble"));
}

TEST(ConsoleAround, StopsAtBothEndsAndKeepsToOneFile)
{
    RunData run;
    for (int line = 1; line <= 9; ++line) {
        run.events.push_back(eventOn(line, "line " + std::to_string(line), EventKind::other));
    }
    run.events[4].kind = EventKind::captureDumped;
    run.events[4].capture = "x.pt";
    auto elsewhere = eventOn(5, "elsewhere");
    elsewhere.source = "d.log";
    run.events.push_back(elsewhere);
    EXPECT_THAT(report::consoleAround(run, "x.pt", 1, 2),
        ElementsAre("c.log:4  line 4", "c.log:5  line 5", "c.log:6  line 6", "c.log:7  line 7"));
    EXPECT_EQ(report::consoleAround(run, "x.pt", 100, 100).size(), 9U);
    EXPECT_THAT(report::consoleAround(run, "x.pt", 0, 0), ElementsAre("c.log:5  line 5"));
}

TEST(ConsoleAround, WithoutALineThatNamesTheDumpTheFirstTroubleIsShown)
{
    RunData run;
    run.events = {eventOn(2, "checkpoint", EventKind::other), eventOn(7, "loss is NaN"), eventOn(9, "killed")};
    EXPECT_THAT(report::consoleAround(run, "x.pt", 0, 0), ElementsAre("c.log:7  loss is NaN"));
    run.events.resize(1);
    EXPECT_TRUE(report::consoleAround(run, "x.pt", 5, 5).empty()) << "an ordinary line is no trouble";
}

TEST(ConsoleAround, NamingEventMatchesTheDumpsOwnName)
{
    RunData run;
    run.events = {eventOn(2, "x.pt", EventKind::nanLoss), eventOn(3, "dumped", EventKind::captureDumped)};
    run.events[0].capture = "x.pt";
    run.events[1].capture = "x.pt";
    ASSERT_NE(report::namingEvent(run, "x.pt"), nullptr);
    EXPECT_EQ(report::namingEvent(run, "x.pt")->line, 3);
    EXPECT_EQ(report::namingEvent(run, "y.pt"), nullptr);
}
