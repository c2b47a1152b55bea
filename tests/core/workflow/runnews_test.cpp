// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gmock/gmock.h>

#include "core/workflow/runnews.h"

namespace nanscope {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// `values` at steps 1, 2, ...; NaN where one is negative.
Series seriesOf(const std::string& name, std::optional<int> rank, const std::vector<double>& values)
{
    Series series;
    series.name = name;
    series.rank = rank;
    series.source = rank ? "rank_" + std::to_string(*rank) + ".log" : "train.log";
    for (const double value : values) {
        const auto at = std::ssize(series.points) + 1;
        const bool bad = value < 0;
        series.points.push_back({at, bad ? std::numeric_limits<double>::quiet_NaN() : value,
            bad ? PointState::nan : PointState::finite, at});
        series.nan += bad ? 1 : 0;
    }
    series.pointCount = std::ssize(series.points);
    return series;
}

Capture captureOf(const std::string& identity)
{
    Capture capture;
    capture.identity = identity;
    capture.file = identity + ".pt";
    return capture;
}

workflow::RunNews::Found look(workflow::RunNews& news, const RunData& run)
{
    return news.look(run, [](const Series& series) -> Result<std::vector<Point>> { return series.points; });
}

TEST(RunNews, TellsEachCaptureOnceWhateverItIsCalledByNow)
{
    workflow::RunNews news;
    RunData run;
    run.captures = {captureOf("a")};
    EXPECT_THAT(look(news, run).dumps, SizeIs(1));
    run.captures[0].file = "folder/a.pt";
    run.captures.push_back(captureOf("b"));
    const auto found = look(news, run);
    ASSERT_THAT(found.dumps, SizeIs(1));
    EXPECT_EQ(found.dumps[0]->identity, "b");
    EXPECT_TRUE(look(news, run).empty());
}

TEST(RunNews, TakesADumpThatWasWrittenAgainForTheSameOne)
{
    workflow::RunNews news;
    RunData run;
    run.captures = {captureOf("a")};
    run.captures[0].path = "/run/dump.pt";
    run.captures[0].input.batches = {Scan {4, 0, 0, 0, 0, 0, 1.5}};
    EXPECT_THAT(look(news, run).dumps, SizeIs(1));
    auto whole = run.captures[0];
    whole.identity = "b";
    run.captures[0].overwritten = true;
    run.captures[0].path = "/run/replaced/dump.pt";
    run.captures.push_back(whole);
    const auto found = look(news, run);
    EXPECT_THAT(found.dumps, IsEmpty());
    ASSERT_THAT(found.rewritten, SizeIs(1));
    EXPECT_EQ(found.rewritten[0].before, "a");
    EXPECT_EQ(found.rewritten[0].now->identity, "b");
    EXPECT_TRUE(found.asksForJudgement());
    EXPECT_TRUE(look(news, run).empty());
    whole.identity = "c";
    whole.input.batches[0].absmax = 2;
    run.captures[1] = whole;
    EXPECT_THAT(look(news, run).dumps, SizeIs(1)) << "another call, under the name of the one before";
}

TEST(RunNews, SeesASidecarThatCameLater)
{
    workflow::RunNews news;
    RunData run;
    run.captures = {captureOf("a")};
    look(news, run);
    run.captures[0].step = 5;
    const auto found = look(news, run);
    EXPECT_TRUE(found.saidMore);
    EXPECT_THAT(found.dumps, IsEmpty());
    EXPECT_FALSE(look(news, run).saidMore);
    run.captures[0].scene.state = OwnState::random;
    EXPECT_TRUE(look(news, run).saidMore) << "any fact of its scene";
    EXPECT_FALSE(look(news, run).saidMore);
}

TEST(RunNews, TellsTheFirstBadValueOfAllRanksAsOneThing)
{
    workflow::RunNews news;
    RunData run;
    run.series = {seriesOf("loss", 0, {1, 1}), seriesOf("loss", 1, {1, 1}), seriesOf("loss", 2, {1, 1})};
    EXPECT_TRUE(look(news, run).empty());
    run.series = {seriesOf("loss", 0, {1, 1}), seriesOf("loss", 1, {1, 1, -1}), seriesOf("loss", 2, {1, 1, -1})};
    auto found = look(news, run);
    ASSERT_THAT(found.nonFinite, SizeIs(1));
    EXPECT_THAT(found.nonFinite[0].otherRanks, ElementsAre(2));
    EXPECT_EQ(textOf(found.nonFinite[0]), "loss is NaN at step 3 on rank 1 and 1 other rank (rank_1.log:3)");
    run.series[0] = seriesOf("loss", 0, {1, 1, 1, -1});
    run.series[1] = seriesOf("loss", 1, {1, 1, -1, -1});
    found = look(news, run);
    ASSERT_THAT(found.nonFinite, SizeIs(1));
    EXPECT_EQ(found.nonFinite[0].rank, 0);
    EXPECT_EQ(found.nonFinite[0].step, 4);
}

TEST(RunNews, PassesOverValuesThatComeBackAndTimes)
{
    workflow::RunNews news;
    RunData run;
    run.series = {seriesOf("eval_accuracy", {}, {1, -1, 1}), seriesOf("step_time_s", {}, {1, -1})};
    EXPECT_TRUE(look(news, run).empty());
    run.series[0] = seriesOf("eval_accuracy", {}, {1, -1, 1, -1});
    EXPECT_THAT(look(news, run).nonFinite, SizeIs(1));
}

TEST(RunNews, AsksForPointsOnlyWhereMoreIsBad)
{
    workflow::RunNews news;
    RunData run;
    run.series = {seriesOf("eval_accuracy", {}, {1, -1, 1})};
    const auto points = run.series[0].points;
    run.series[0].points.clear();
    int asked = 0;
    const auto lookOnce = [&] {
        return news.look(run, [&](const Series&) -> Result<std::vector<Point>> {
            ++asked;
            return points;
        });
    };
    lookOnce();
    lookOnce();
    EXPECT_EQ(asked, 1);
}

TEST(RunNews, TellsAgainOfALogThatWasBegunAnew)
{
    workflow::RunNews news;
    RunData run;
    run.series = {seriesOf("loss", {}, {1, -1})};
    EXPECT_THAT(look(news, run).nonFinite, SizeIs(1));
    ReplacedLog before;
    before.source = "(replaced) train.log";
    before.path = "train.log";
    run.replaced = {before};
    EXPECT_THAT(look(news, run).nonFinite, SizeIs(1));
    EXPECT_THAT(look(news, run).nonFinite, IsEmpty());
}

/// The same series in another log.
Series movedTo(const std::string& source, Series series)
{
    series.source = source;
    return series;
}

TEST(RunNews, TellsOnceWhatSeveralLogsOfARunSay)
{
    workflow::RunNews news;
    RunData run;
    const auto loss = seriesOf("loss", {}, {2.5, 2.4, -1});
    auto rounded = movedTo("console.log", loss);
    rounded.points[1].value = 2.4012;
    run.series = {loss, rounded};
    EXPECT_THAT(look(news, run).nonFinite, SizeIs(1));
    run.series.push_back(movedTo("copy/train.log", loss));
    EXPECT_THAT(look(news, run).nonFinite, IsEmpty()) << "a log that came later";
    auto other = movedTo("another.log", loss);
    other.points[0].value = 9;
    run.series.push_back(other);
    EXPECT_THAT(look(news, run).nonFinite, SizeIs(1)) << "the same step of another run";
    run.series.push_back(movedTo("job/attempt_2/0/stdout.log", loss));
    EXPECT_THAT(look(news, run).nonFinite, SizeIs(1)) << "it came again in the next attempt";
}

TEST(RunNews, TellsNothingAgainOfALogThatWasRotated)
{
    workflow::RunNews news;
    RunData run;
    run.series = {seriesOf("loss", {}, {1, 1, -1, -1})};
    EXPECT_THAT(look(news, run).nonFinite, SizeIs(1));
    const auto away = movedTo("train.log.1", run.series[0]);
    auto next = seriesOf("loss", {}, {-1, -1, -1});
    for (Point& point : next.points) {
        point.step += 4;
    }
    run.series = {away, next};
    EXPECT_THAT(look(news, run).nonFinite, IsEmpty());
    run.series = {movedTo("train.log.2", away), movedTo("train.log.1", next), seriesOf("loss", {}, {1, -1})};
    const auto found = look(news, run);
    ASSERT_THAT(found.nonFinite, SizeIs(1)) << "a run that began anew, and went bad by itself";
    EXPECT_EQ(found.nonFinite[0].step, 2);
}

TEST(RunNews, TellsOfAnotherRunThatIsBadFromItsBeginning)
{
    const auto going = [](const std::string& source) {
        auto series = movedTo(source, seriesOf("loss", {}, {-1, -1}));
        for (Point& point : series.points) {
            point.step += 199;
        }
        return series;
    };
    for (const auto* other : {"B/train.log", "train.log", "A/eval.log", "A/train2.log", "A/train.log.old/train.log"}) {
        workflow::RunNews news;
        RunData run;
        run.series = {movedTo("A/train.log", seriesOf("loss", {}, {1, 1, -1}))};
        EXPECT_THAT(look(news, run).nonFinite, SizeIs(1));
        run.series.push_back(going(other));
        EXPECT_THAT(look(news, run).nonFinite, SizeIs(1)) << other;
    }
    for (const auto* next : {"A/train.log", "A/train.log.2", "A/train.log.2.gz", "A/train.log-20261126",
             "A/train.log.2026-11-26_13-05", "A/train.log.gz"}) {
        workflow::RunNews news;
        RunData run;
        run.series = {movedTo("A/train.log.1", seriesOf("loss", {}, {1, 1, -1}))};
        EXPECT_THAT(look(news, run).nonFinite, SizeIs(1));
        run.series.push_back(going(next));
        EXPECT_THAT(look(news, run).nonFinite, IsEmpty()) << next;
    }
}

TEST(RunNews, LetsALogWithoutARankSpeakForNoRank)
{
    workflow::RunNews news;
    RunData run;
    run.series = {seriesOf("loss", 0, {1, 1, -1})};
    EXPECT_THAT(look(news, run).nonFinite, SizeIs(1));
    run.series.push_back(movedTo("console.log", seriesOf("loss", {}, {1, 1, -1})));
    EXPECT_THAT(look(news, run).nonFinite, IsEmpty()) << "what rank 0 printed";
    run.series.push_back(seriesOf("loss", 2, {1, 1, -1}));
    const auto found = look(news, run);
    ASSERT_THAT(found.nonFinite, SizeIs(1));
    EXPECT_EQ(found.nonFinite[0].rank, 2);
}

TEST(RunNews, TellsOnceWhatATeeRepeatsInWords)
{
    workflow::RunNews news;
    RunData run;
    Event event;
    event.kind = EventKind::nanLoss;
    event.text = "NaN detected in the loss";
    event.step = 7;
    event.source = "stderr.log";
    event.line = 9;
    run.events = {event};
    EXPECT_THAT(look(news, run).nonFinite, SizeIs(1));
    event.source = "console.log";
    event.line = 90;
    run.events.push_back(event);
    EXPECT_THAT(look(news, run).nonFinite, IsEmpty());
    event.source = "other.log";
    event.step = 8;
    run.events.push_back(event);
    EXPECT_THAT(look(news, run).nonFinite, SizeIs(1)) << "of another step";
}

TEST(RunNews, TakesATrainersWordWhereItsMetricsAreSilent)
{
    workflow::RunNews news;
    RunData run;
    Event event;
    event.kind = EventKind::nanLoss;
    event.text = "NaN detected in the loss";
    event.step = 7;
    event.source = "train.log";
    event.line = 9;
    run.events = {event, event};
    const auto found = look(news, run);
    ASSERT_THAT(found.nonFinite, SizeIs(1));
    EXPECT_EQ(textOf(found.nonFinite[0]), "not finite, says the log at step 7 (train.log:9): NaN detected in the loss");
    run.series = {seriesOf("loss", 0, {1, -1})};
    event.source = run.series[0].source;
    run.events.push_back(event);
    EXPECT_THAT(look(news, run).nonFinite, SizeIs(1)) << "the series alone";
}

} // namespace

} // namespace nanscope
