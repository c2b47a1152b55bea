// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <limits>

#include <QCoreApplication>
#include <QMouseEvent>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "ui/panes/timelinepane.h"
#include "ui/plots/timelineplot.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

std::vector<TracePoint> points(std::initializer_list<double> values)
{
    std::vector<TracePoint> result;
    for (const double value : values) {
        result.push_back(test::point(static_cast<std::int64_t>(result.size()), value));
    }
    return result;
}

Series makeSeries(const char* source, std::optional<int> rank, std::initializer_list<double> values)
{
    Series series;
    series.name = "loss";
    series.rank = rank;
    series.source = source;
    for (const TracePoint& point : points(values)) {
        series.points.push_back({point.step, point.value, point.state, 0});
    }
    return series;
}

} // namespace

TEST(Trace, RangeIsOfFiniteValuesOnly)
{
    const auto data = points({2, inf, 1, nan, -inf, 3});
    EXPECT_EQ(finiteRange(data, {0, 5}), (Interval {1, 3}));
    EXPECT_EQ(finiteRange(data, {0, 2}), (Interval {1, 2}));
    EXPECT_EQ(finiteRange(data, {3, 4}), std::nullopt);
}

TEST(Trace, DecimationKeepsExtremesGapsAndNothingInfinite)
{
    std::vector<TracePoint> data;
    for (int i = 0; i < 100000; ++i) {
        data.push_back(test::point(i, std::sin(i * 0.01)));
    }
    data[54321].value = 9;
    data[54322] = test::point(54322, inf);
    const DecimatedTrace drawn = decimate(data, {0, 99999}, 500);
    EXPECT_LE(drawn.values.size(), 2010U);
    EXPECT_EQ(std::ranges::count(drawn.values, 9.0), 1);
    EXPECT_TRUE(std::ranges::none_of(drawn.values, [](double value) { return std::isinf(value); }));
    EXPECT_TRUE(std::ranges::is_sorted(drawn.steps));
}

TEST(Trace, NanBetweenFinitePointsIsAGap)
{
    const DecimatedTrace drawn = decimate(points({1, nan, 2}), {0, 2}, 300);
    ASSERT_EQ(drawn.values.size(), 3U);
    EXPECT_TRUE(std::isnan(drawn.values[1]));
}

TEST(Trace, LinesRunOutOfTheWindow)
{
    const DecimatedTrace drawn = decimate(points({1, 2, 3, 4, 5}), {1.5, 2.5}, 300);
    EXPECT_EQ(drawn.steps, (std::vector<double> {1, 2, 3}));
}

TEST(Trace, OneNanAmongAMillionHasAMark)
{
    std::vector<TracePoint> data;
    for (int i = 0; i < 1000000; ++i) {
        data.push_back(test::point(i, 1));
    }
    data[777777] = test::point(777777, nan);
    data[777778] = test::point(777778, inf);
    const auto marks = nonFiniteMarks(data, {0, 999999}, 300);
    ASSERT_EQ(marks.size(), 2U);
    EXPECT_EQ(marks[0].position, 777777);
    EXPECT_EQ(marks[0].state, PointState::nan);
    EXPECT_EQ(marks[1].state, PointState::posInf);
}

TEST(Trace, NearestPoint)
{
    const auto data = points({1, 2, 3});
    EXPECT_EQ(nearestPoint(data, 1.4)->step, 1);
    EXPECT_EQ(nearestPoint(data, 1.6)->step, 2);
    EXPECT_EQ(nearestPoint(data, 99)->step, 2);
    EXPECT_EQ(nearestPoint({}, 1), nullptr);
}

TEST(TimelinePlot, AxisIgnoresInfinityAndTheLaneShowsIt)
{
    TimelinePlot plot;
    plot.resize(600, 200);
    plot.setTraces({{QStringLiteral("rank 0"), 0, points({1.0, 1.2, inf, 0.9, nan, -inf})}});
    EXPECT_GT(plot.valueRange().low, 0.8);
    EXPECT_LT(plot.valueRange().high, 1.3);
    ASSERT_EQ(plot.marks().size(), 3U);
    EXPECT_EQ(plot.marks()[0].position, 2);
    EXPECT_EQ(plot.marks()[0].state, PointState::posInf);
}

TEST(TimelinePlot, NanIsPaintedInItsColumn)
{
    TimelinePlot plot;
    plot.resize(600, 200);
    plot.setTraces({{QStringLiteral("rank 0"), 0, points({1, 2, nan, 2, 1})}});
    const QImage image = plot.grab().toImage();
    const auto hasNanColour = [&](int x) {
        for (int y = 0; y < 60; ++y) {
            if (image.pixel(x, y) == theme().nan.rgb()) {
                return true;
            }
        }
        return false;
    };
    EXPECT_TRUE(hasNanColour(qRound(plot.pixelOfStep(2))));
    EXPECT_FALSE(hasNanColour(qRound(plot.pixelOfStep(1))));
}

TEST(TimelinePlot, NothingFiniteAndNothingAtAllAreDrawn)
{
    TimelinePlot plot;
    plot.resize(600, 200);
    plot.setTraces({});
    plot.grab();
    plot.setTraces({{QStringLiteral("rank 0"), 0, points({nan, inf})}});
    plot.grab();
    EXPECT_LT(plot.valueRange().low, plot.valueRange().high);
    plot.setTraces({{QStringLiteral("rank 0"), 0, points({1e300, -1e300})}});
    plot.grab();
    EXPECT_TRUE(std::isfinite(plot.valueRange().high));
}

TEST(TimelinePlot, WideRangesAreLogarithmic)
{
    TimelinePlot plot;
    plot.setTraces({{QStringLiteral("rank 0"), 0, points({0.01, 1, 2e6})}});
    EXPECT_TRUE(plot.logarithmic());
    plot.setTraces({{QStringLiteral("rank 0"), 0, points({-1, 2e6})}});
    EXPECT_FALSE(plot.logarithmic());
}

TEST(TimelinePlot, MouseTellsTheExactValue)
{
    TimelinePlot plot;
    plot.resize(600, 200);
    plot.setTraces(
        {{QStringLiteral("rank 0"), 0, points({1, 0.1234567891})}, {QStringLiteral("rank 1"), 1, points({1, nan})}});
    plot.grab();
    QString text;
    QObject::connect(&plot, &TimelinePlot::readoutChanged, &plot, [&](const QString& readout) { text = readout; });
    const QPointF at(plot.pixelOfStep(1), 120);
    QMouseEvent move(QEvent::MouseMove, at, plot.mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    QCoreApplication::sendEvent(plot.findChild<QWidget*>(), &move);
    EXPECT_EQ(text, QStringLiteral("step 1 · rank 0: 0.1234567891 · rank 1: NaN"));
}

TEST(TimelinePane, TakesTheSourceWithMostPointsPerRank)
{
    RunData run;
    run.series = {makeSeries("short.log", 0, {1, 2}), makeSeries("console.log", 0, {1, 2, 3}),
        makeSeries("console.log", 1, {4, nan}), makeSeries("merged.csv", std::nullopt, {1, 2, 3, 4, 5})};
    const auto traces = tracesOf(run, "loss");
    ASSERT_EQ(traces.size(), 2U);
    EXPECT_EQ(traces[0].points.size(), 3U);
    EXPECT_EQ(traces[1].label, QStringLiteral("rank 1"));
    EXPECT_TRUE(tracesOf(run, "grad_norm").empty());
}

TEST(TimelinePane, JudgedCapturesStandBetweenTheirSteps)
{
    const auto run = test::makeRun();
    const auto diagnosis = test::makeDiagnosis();
    const auto events = eventsOf(*run, diagnosis.get());
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[0].kind, TimelineEvent::Kind::birth);
    EXPECT_DOUBLE_EQ(events[0].position, 5.5);
}

TEST(TimelinePane, PlotsShareTheirStepsAndKeepThemWhenJudgedAgain)
{
    auto run = test::makeRun();
    run->series = {makeSeries("console.log", 0, {1, 2, 3, 4, 5, 6, 7, 8, 9})};
    const auto diagnosis = test::makeDiagnosis();
    TimelinePane pane;
    pane.resize(800, 200);
    pane.setRun(run.get(), diagnosis.get());
    EXPECT_EQ(pane.lossPlot()->stepRange(), pane.gradNormPlot()->stepRange());
    pane.lossPlot()->setStepRange({2, 4});
    pane.setRun(run.get(), diagnosis.get());
    EXPECT_EQ(pane.lossPlot()->stepRange(), (Interval {2, 4}));
}

} // namespace nanscope
