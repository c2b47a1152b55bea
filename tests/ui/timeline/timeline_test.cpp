// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/ui/timeline/timelinesamples.h"
#include "ui/shared/qcp.h"
#include "ui/shared/theme.h"
#include "ui/timeline/timelineplot.h"

namespace nanscope {

using test::inf;
using test::nan;
using test::points;
using test::trace;

namespace {

Polyline lineOf(std::span<const Bucket> buckets, Interval steps, int columns)
{
    return polylineOf(columnsOf(buckets, steps, columns));
}

std::vector<Bucket> million()
{
    std::vector<TracePoint> data;
    for (int i = 0; i < 1'000'000; ++i) {
        data.push_back(test::point(i, std::sin(i * 0.01)));
    }
    data[543'210].value = 9;
    data[777'777] = test::point(777'777, nan);
    data[777'778] = test::point(777'778, inf);
    return bucketsOf(data);
}

bool hasColour(const QImage& image, int x, const QColor& colour)
{
    for (int y = 0; y < 60; ++y) {
        if (image.pixel(x, y) == colour.rgb()) {
            return true;
        }
    }
    return false;
}

} // namespace

TEST(TimelineTrace, RangeIsOfFiniteValuesOnly)
{
    const auto data = bucketsOf(points({2, inf, 1, nan, -inf, 3}));
    EXPECT_EQ(finiteRange(data, {0, 5}), (Interval {1, 3}));
    EXPECT_EQ(finiteRange(data, {0, 2}), (Interval {1, 2}));
    EXPECT_EQ(finiteRange(data, {3, 4}), std::nullopt);
}

TEST(TimelineTrace, ASpikeOfOneSampleAmongAMillionIsDrawn)
{
    const Polyline drawn = lineOf(million(), {0, 999'999}, 500);
    EXPECT_LE(drawn.values.size(), 3010U);
    EXPECT_EQ(std::ranges::count(drawn.values, 9.0), 1);
    EXPECT_EQ(drawn.steps[std::ranges::find(drawn.values, 9.0) - drawn.values.begin()], 543'210);
    EXPECT_TRUE(std::ranges::none_of(drawn.values, [](double value) { return std::isinf(value); }));
    EXPECT_TRUE(std::ranges::is_sorted(drawn.steps));
}

TEST(TimelineTrace, OneNanAmongAMillionHasAMark)
{
    const auto marks = nonFiniteMarks(million(), {0, 999'999}, 300);
    ASSERT_EQ(marks.size(), 2U);
    EXPECT_EQ(marks[0].position, 777'777);
    EXPECT_EQ(marks[0].state, PointState::nan);
    EXPECT_EQ(marks[1].position, 777'778);
    EXPECT_EQ(marks[1].state, PointState::posInf);
}

TEST(TimelineTrace, NanAtEveryStepIsOneStretch)
{
    std::vector<TracePoint> data;
    for (int i = 0; i < 1000; ++i) {
        data.push_back(test::point(i, i >= 400 && i < 900 && i != 700 ? nan : 1));
    }
    data[950].value = nan;
    data[950].state = PointState::nan;
    TimelineTrace first;
    first.buckets = bucketsOf(data);
    EXPECT_EQ(nonFiniteStretches(std::vector {first}, {0, 999}, PointState::nan),
        (std::vector<Interval> {{400, 699}, {701, 899}}))
        << "and none of a single sample";
    EXPECT_TRUE(nonFiniteStretches(std::vector {first}, {0, 999}, PointState::posInf).empty());
    TimelineTrace second;
    second.buckets = bucketsOf(points({2, nan, nan}));
    EXPECT_EQ(nonFiniteStretches(std::vector {first, second}, {0, 500}, PointState::nan),
        (std::vector<Interval> {{1, 2}, {400, 500}}));
    for (int i = 690; i < 710; ++i) {
        data[static_cast<std::size_t>(i)] = test::point(i, nan);
    }
    second.buckets = bucketsOf(data);
    EXPECT_EQ(nonFiniteStretches(std::vector {first, second}, {0, 999}, PointState::nan),
        (std::vector<Interval> {{400, 899}}));
}

TEST(TimelineTrace, ReducedPointsKeepTheirExtremesAndMarks)
{
    std::vector<TracePoint> data;
    for (int i = 0; i < 10'000; ++i) {
        data.push_back(test::point(i, std::cos(i * 0.1)));
    }
    data[4170].value = -40;
    data[4171] = test::point(4171, nan);
    std::vector<Bucket> reduced;
    appendReduced(reduced, data, 100);
    ASSERT_EQ(reduced.size(), 100U);
    EXPECT_EQ(reduced[41].min, -40);
    EXPECT_EQ(reduced[41].minAt, 4170);
    EXPECT_EQ(reduced[41].first, data[4100].value);
    EXPECT_EQ(reduced[41].last, data[4199].value);
    EXPECT_EQ(nonFiniteMarks(reduced, {0, 9999}, 300).at(0).position, 4171);
}

TEST(TimelineTrace, ABucketNobodyLookedIntoIsDrawnOverAllItsSteps)
{
    Bucket chunk = bucketOf(test::point(0, 1));
    merge(chunk, bucketOf(test::point(1000, 5)));
    chunk.exact = false;
    chunk.nonFinite[0] = 3;
    const Polyline drawn = lineOf(std::span(&chunk, 1), {400, 600}, 100);
    EXPECT_LT(drawn.steps.front(), 403);
    EXPECT_GT(drawn.steps.back(), 597);
    EXPECT_GE(std::ranges::count(drawn.values, 1.0), 100);
    EXPECT_GE(std::ranges::count(drawn.values, 5.0), 100);
    const auto marks = nonFiniteMarks(std::span(&chunk, 1), {400, 600}, 100);
    ASSERT_EQ(marks.size(), 1U) << "never missing, though nobody knows yet where it is";
    EXPECT_EQ(marks[0].position, 500) << "the middle of what is shown of it";
}

TEST(TimelineTrace, NanBetweenFinitePointsIsAGap)
{
    const Polyline drawn = lineOf(bucketsOf(points({1, nan, 2})), {0, 2}, 300);
    ASSERT_EQ(drawn.values.size(), 3U);
    EXPECT_TRUE(std::isnan(drawn.values[1]));
}

TEST(TimelineTrace, LinesRunOutOfTheWindow)
{
    const Polyline drawn = lineOf(bucketsOf(points({1, 2, 3, 4, 5})), {1.5, 2.5}, 300);
    EXPECT_EQ(drawn.steps, (std::vector<double> {1, 2, 3}));
}

TEST(TimelineTrace, NearestBucket)
{
    const auto data = bucketsOf(points({1, 2, 3}));
    EXPECT_EQ(nearestBucket(data, 1.4)->firstStep, 1);
    EXPECT_EQ(nearestBucket(data, 1.6)->firstStep, 2);
    EXPECT_EQ(nearestBucket(data, 99)->firstStep, 2);
    EXPECT_EQ(nearestBucket({}, 1), nullptr);
}

TEST(TimelineTrace, BandHoldsMinMaxAndMedian)
{
    const std::vector<TimelineTrace> traces {trace(0, {1, 5, 3}), trace(1, {2, nan, 9}), trace(2, {7, 6, 4})};
    const Band band = bandOf(traces, {0, 2}, 300);
    EXPECT_EQ(band.steps, (std::vector<double> {0, 1, 2}));
    EXPECT_EQ(band.low, (std::vector<double> {1, 5, 3}));
    EXPECT_EQ(band.high, (std::vector<double> {7, 6, 9}));
    EXPECT_EQ(band.median, (std::vector<double> {2, 5.5, 4}));
}

TEST(TimelineTrace, SmoothingStopsAtAGap)
{
    const auto data = bucketsOf(points({0, 2, 4, nan, 100, 102}));
    const Polyline line = smoothed(columnsOf(data, {0, 5}, 300), 5);
    EXPECT_EQ(line.values[0], 2);
    EXPECT_TRUE(std::isnan(line.values[3]));
    EXPECT_EQ(line.values[4], 101);
}

TEST(TimelineTrace, CountsSayWhatIsDrawn)
{
    const SampleCounts counts = countSamples(million(), {0, 999'999}, 500);
    EXPECT_EQ(counts.all, 1'000'000);
    EXPECT_EQ(counts.drawn, 2001) << "four of each of 500 columns, and the last one";
    EXPECT_EQ(counts.nonFinite, 2);
    EXPECT_EQ(samplesNote(counts), QStringLiteral("showing 2001 of 1.0 M samples (min/max kept)"));
    EXPECT_EQ(samplesNote(countSamples(bucketsOf(points({1, 2, 3})), {0, 2}, 500)), QString());
}

TEST(TimelinePlot, Step417HasANanMark)
{
    std::vector<TracePoint> data;
    for (int i = 0; i < 1000; ++i) {
        data.push_back(test::point(i, i == 417 ? nan : 1.0 / (i + 1)));
    }
    TimelinePlot plot;
    plot.resize(480, 200);
    plot.setTraces({{QStringLiteral("rank 0"), bucketsOf(data)}});
    ASSERT_EQ(plot.marks().size(), 1U);
    EXPECT_EQ(plot.marks()[0].position, 417);
    const QImage image = plot.grab().toImage();
    const int x = static_cast<int>(plot.pixelOfStep(417));
    EXPECT_TRUE(hasColour(image, x - 1, theme().nan) || hasColour(image, x, theme().nan)
        || hasColour(image, x + 1, theme().nan));
    EXPECT_FALSE(hasColour(image, x - 20, theme().nan));
}

TEST(TimelinePlot, ARowOfTheLaneSaysWhoseValueIsNotFinite)
{
    constexpr int row = 18; // pixels
    const auto isBad = [](const QImage& image, double x, int which) {
        for (int y = row * which; y < row * (which + 1); ++y) {
            for (int dx = -1; dx <= 1; ++dx) {
                if (image.pixel(qRound(x) + dx, y) == theme().nan.rgb()) {
                    return true;
                }
            }
        }
        return false;
    };
    TimelinePlot plot;
    plot.resize(600, 240);
    plot.setTraces({trace(0, {1, 1, 1, nan, nan, nan, 1}), trace(1, {1, nan, nan, nan, 1, 1, 1})});
    QImage image = plot.grab().toImage();
    for (const auto& [step, first, second] : {std::tuple {1.0, false, true}, {2.5, false, true}, {3.0, true, true},
             {4.5, true, false}, {6.0, false, false}}) {
        EXPECT_EQ(isBad(image, plot.pixelOfStep(step), 1), first) << "rank 0, step " << step;
        EXPECT_EQ(isBad(image, plot.pixelOfStep(step), 2), second) << "rank 1, step " << step;
    }
    plot.setTraces({trace(0, {1, 1, nan}), trace(1, {1, 1, 1}), trace(2, {1, 1, 1}), trace(3, {1, nan, 1})});
    for (const NonFiniteMark& mark : plot.marks()) {
        EXPECT_EQ(mark.row, 0U) << "four rows would leave the curves no room";
    }
    plot.setTraces({trace(0, {1, 1}), trace(1, {1, 1})});
    EXPECT_EQ(plot.canvas()->axisRect(0)->minimumSize().height(), 2 * row) << "nothing to tell apart";
}

TEST(TimelinePlot, AxisIgnoresInfinityAndTheLaneShowsIt)
{
    TimelinePlot plot;
    plot.resize(600, 200);
    plot.setTraces({trace(0, {1.0, 1.2, inf, 0.9, nan, -inf})});
    EXPECT_GT(plot.valueRange().low, 0.8);
    EXPECT_LT(plot.valueRange().high, 1.3);
    ASSERT_EQ(plot.marks().size(), 3U);
    EXPECT_EQ(plot.marks()[0].position, 2);
    EXPECT_EQ(plot.marks()[0].state, PointState::posInf);
}

TEST(TimelinePlot, NothingFiniteAndNothingAtAllAreDrawn)
{
    TimelinePlot plot;
    plot.resize(600, 200);
    for (const ScaleChoice scale : {ScaleChoice::automatic, ScaleChoice::logarithmic}) {
        plot.setLook({scale, RankChoice::automatic, true});
        plot.setTraces({});
        plot.grab();
        plot.setTraces({trace(0, {nan, inf})});
        plot.grab();
        EXPECT_LT(plot.valueRange().low, plot.valueRange().high);
        plot.setTraces({trace(0, {1e300, -1e300})});
        plot.grab();
        EXPECT_LT(plot.valueRange().high, 1e250) << "what the plot library can take";
        plot.setTraces({trace(0, {1e-310, 1e308})});
        plot.grab();
        EXPECT_LT(plot.valueRange().low, plot.valueRange().high);
    }
}

TEST(TimelinePlot, WideRangesAreLogarithmicUnlessToldOtherwise)
{
    TimelinePlot plot;
    plot.setTraces({trace(0, {0.01, 1, 2e6})});
    EXPECT_TRUE(plot.logarithmic());
    plot.setLook({ScaleChoice::linear});
    EXPECT_FALSE(plot.logarithmic());
    plot.setLook({});
    plot.setTraces({trace(0, {-1, 2e6})});
    EXPECT_FALSE(plot.logarithmic());
}

TEST(TimelinePlot, AZoomChangesNeitherTheKindOfAxisNorWhereItBegan)
{
    TimelinePlot plot;
    plot.resize(400, 200);
    std::vector<TracePoint> values;
    for (int i = 0; i < 100; ++i) {
        values.push_back(test::point(i, i == 0 ? -1 : i < 60 ? std::pow(3.0, i) : nan));
    }
    TimelineTrace curve = trace(0, {});
    curve.buckets = bucketsOf(values);
    plot.setTraces({curve});
    const auto began = [&plot] {
        const auto* inner = plot.findChild<QCustomPlot*>();
        for (int i = 0; i < inner->itemCount(); ++i) {
            const auto* line = qobject_cast<QCPItemStraightLine*>(inner->item(i));
            if (line && line->visible()) {
                return line->point1->coords().x();
            }
        }
        return -1.0;
    };
    EXPECT_FALSE(plot.logarithmic());
    EXPECT_EQ(began(), 60);
    plot.view()->zoomBy(0.1, 30, TimelineView::Gesture::wheel);
    ASSERT_FALSE(plot.view()->showsAll());
    EXPECT_FALSE(plot.logarithmic()) << "though all that is seen is positive, over a thousandfold";
    plot.view()->showAll();
    plot.view()->zoomBy(0.1, 80, TimelineView::Gesture::wheel);
    EXPECT_EQ(began(), 60);
    plot.setTraces({trace(0, {0.01, 1, 2e6})});
    plot.view()->showAll();
    EXPECT_TRUE(plot.logarithmic());
}

TEST(TimelinePlot, LogAxisCountsWhatItCannotShow)
{
    TimelinePlot plot;
    plot.setLook({ScaleChoice::logarithmic});
    plot.setTraces({trace(0, {10, 0, -3, 20}), trace(1, {1, 2, -1, nan})});
    EXPECT_EQ(plot.counts().nonPositive, 3);
    EXPECT_TRUE(plot.counts().nonPositiveExact);
    EXPECT_GT(plot.valueRange().low, 0.5);
    EXPECT_EQ(plot.lines().at(0).steps, (std::vector<double> {0, 1, 3})) << "a gap where they are";
    EXPECT_TRUE(std::isnan(plot.lines().at(0).values[1]));
}

TEST(TimelinePlot, SmoothingKeepsTheSpikeBehindIt)
{
    std::vector<TracePoint> data;
    for (int i = 0; i < 5000; ++i) {
        data.push_back(test::point(i, i == 2500 ? 50.0 : 1.0));
    }
    TimelinePlot plot;
    plot.resize(480, 200);
    plot.setLook({ScaleChoice::linear, RankChoice::automatic, true});
    plot.setTraces({{QStringLiteral("rank 0"), bucketsOf(data)}});
    EXPECT_EQ(std::ranges::max(plot.lines().at(0).values), 50);
    EXPECT_GT(plot.valueRange().high, 50);
}

TEST(TimelinePlot, ManyRanksAreABandAndLinesSayHowManyAreLeftOut)
{
    std::vector<TimelineTrace> traces;
    for (int rank = 0; rank < 40; ++rank) {
        traces.push_back(trace(rank, {1.0 * rank, 2.0 * rank}));
    }
    TimelinePlot plot;
    plot.setTraces(traces);
    EXPECT_TRUE(plot.drawsBand());
    EXPECT_EQ(plot.hiddenLines(), 0U);
    EXPECT_EQ(plot.band().high, (std::vector<double> {39, 78}));
    plot.grab();
    plot.setLook({ScaleChoice::automatic, RankChoice::lines});
    EXPECT_EQ(plot.hiddenLines(), 24U);
    EXPECT_EQ(plot.lines().size(), 16U);
}

TEST(TimelinePlot, ASpikeIsPaintedInItsColumn)
{
    TimelinePlot plot;
    plot.resize(480, 200);
    plot.setTraces({{QStringLiteral("rank 0"), million()}});
    const QImage image = plot.grab().toImage();
    const int x = qRound(plot.pixelOfStep(543'210));
    int painted = 0;
    for (int y = 60; y < 110; ++y) {
        painted += image.pixelColor(x, y) != theme().surface ? 1 : 0;
    }
    EXPECT_GT(painted, 30) << "a line up to the spike";
}

} // namespace nanscope
