// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <QFile>
#include <QFileDialog>
#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

#include "core/session/session.h"
#include "tests/ui/timeline/timelinesamples.h"
#include "ui/timeline/timelinepane.h"
#include "ui/timeline/timelinestore.h"

namespace nanscope {

using test::inf;
using test::nan;

namespace {

namespace fs = std::filesystem;

constexpr int long_ = 200'000;
constexpr int waitMs = 30'000;

double valueAt(std::int64_t step)
{
    switch (step) {
    case 41'700:
        return nan;
    case 41'701:
        return -inf;
    case 123'456:
        return 77;
    default:
        return std::sin(static_cast<double>(step) * 1e-3);
    }
}

Series longSeries(const char* name, int rank, int count)
{
    Series series;
    series.name = name;
    series.rank = rank;
    series.source = "rank" + std::to_string(rank) + ".log";
    for (int i = 0; i < count; ++i) {
        series.points.push_back({i, valueAt(i), stateOf(valueAt(i)), 2 * i + 1});
    }
    return series;
}

/// A pane that is seen, so that its charts get their width as those of a window do.
void showAt(TimelinePane& pane, QSize size)
{
    pane.resize(size);
    pane.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&pane));
}

class StoreTest : public testing::Test
{
protected:
    StoreTest()
        : path(fs::path(folder.path().toStdString()) / "run.nanscope")
    {
        auto session = session::Session::open(path, session::OpenMode::create);
        for (const int rank : {0, 1}) {
            const Series loss = longSeries("loss", rank, rank == 0 ? long_ : 5000);
            std::vector<Series> all {loss, longSeries("lr", rank, 50)};
            if (rank == 0) {
                all.push_back(longSeries("grad_norm", rank, long_));
            }
            EXPECT_TRUE(session->addLog(loss.source, "jsonl", {}, {all, {}}));
        }
        run = *session->summary();
        for (const Series& series : run.series) {
            ids.push_back(series.id);
        }
        const auto isLong = [](const Series& series) { return series.name == "loss" && series.pointCount > 100'000; };
        part = static_cast<std::size_t>(std::ranges::find_if(run.series, isLong) - run.series.begin());
    }

    QTemporaryDir folder;
    fs::path path;
    RunData run;
    std::vector<std::int64_t> ids;
    std::size_t part = 0;
};

struct Totals
{
    std::int64_t count = 0;
    std::int64_t nonFinite = 0;
    double min = inf;
    double max = -inf;
};

Totals totalsOf(const std::vector<Bucket>& buckets)
{
    Totals totals;
    for (const Bucket& bucket : buckets) {
        totals.count += bucket.count;
        totals.nonFinite += nonFiniteCount(bucket);
        totals.min = std::min(totals.min, bucket.finite > 0 ? bucket.min : inf);
        totals.max = std::max(totals.max, bucket.finite > 0 ? bucket.max : -inf);
    }
    return totals;
}

} // namespace

TEST_F(StoreTest, ALineStandsBetweenTheStepsOfItsLog)
{
    SessionStore store(path, ids);
    // The line of step s is 2s + 1.
    const auto around = store.stepsAround({&part, 1}, std::vector<std::int64_t> {0, 1, 100'000, 100'000, 900'000});
    ASSERT_TRUE(around);
    ASSERT_EQ(around->size(), 5U);
    EXPECT_EQ((*around)[0].before, std::nullopt);
    EXPECT_EQ((*around)[0].after, 0);
    EXPECT_EQ((*around)[1].before, 0) << "it is the line of that step";
    EXPECT_EQ((*around)[1].after, 1);
    for (const int i : {2, 3}) {
        EXPECT_EQ((*around)[i].before, 49'999);
        EXPECT_EQ((*around)[i].after, 50'000);
    }
    EXPECT_EQ((*around)[4].before, long_ - 1);
    EXPECT_EQ((*around)[4].after, std::nullopt);
}

TEST_F(StoreTest, EveryViewHoldsTheWholeLine)
{
    SessionStore store(path, ids);
    for (const Interval focus : {Interval {0, 199'999}, Interval {100'000, 100'300}, Interval {-50, 20},
             Interval {180'000, 250'000}, Interval {500'000, 500'100}}) {
        const auto line = store.line({&part, 1}, focus, 100);
        ASSERT_TRUE(line);
        const Totals totals = totalsOf(*line);
        EXPECT_EQ(totals.count, long_) << focus.low;
        EXPECT_EQ(totals.nonFinite, 2) << focus.low;
        EXPECT_EQ(totals.max, 77) << focus.low;
        EXPECT_TRUE(std::ranges::is_sorted(*line, {}, &Bucket::firstStep));
        EXPECT_LT(line->size(), 2000U) << focus.low;
    }
}

TEST_F(StoreTest, ZoomedInEveryPointIsThereExactly)
{
    SessionStore store(path, ids);
    const auto line = store.line({&part, 1}, {41'650, 41'750}, 480);
    ASSERT_TRUE(line);
    const auto seen = within(*line, {41'650, 41'750});
    ASSERT_EQ(seen.size(), 101U);
    for (const Bucket& bucket : seen) {
        const TracePoint point = pointOf(bucket);
        EXPECT_EQ(point.line, 2 * point.step + 1);
        EXPECT_TRUE(point.value == valueAt(point.step) || std::isnan(valueAt(point.step)));
    }
    EXPECT_EQ(nonFiniteMarks(*line, {41'650, 41'750}, 100).at(0).position, 41'700);
}

TEST_F(StoreTest, NonFiniteStepsAreExactAlsoFromAfar)
{
    SessionStore store(path, ids);
    const auto line = store.line({&part, 1}, {0, 199'999}, 480);
    ASSERT_TRUE(line);
    const auto marks = nonFiniteMarks(*line, {0, 199'999}, 120);
    ASSERT_EQ(marks.size(), 2U);
    EXPECT_EQ(marks[0].position, 41'700);
}

TEST_F(StoreTest, SummariesAloneMissNothing)
{
    SessionStore store(path, ids);
    const auto line = store.line({&part, 1}, {0, 199'999}, 16);
    ASSERT_TRUE(line);
    EXPECT_TRUE(std::ranges::any_of(*line, [](const Bucket& bucket) { return !bucket.exact; }));
    const Polyline drawn = polylineOf(columnsOf(*line, {0, 199'999}, 480));
    EXPECT_EQ(std::ranges::count(drawn.values, 77.0) > 0, true);
    EXPECT_EQ(nonFiniteMarks(*line, {0, 199'999}, 120).size(), 2U);
}

TEST_F(StoreTest, PointsNextToAStep)
{
    SessionStore store(path, ids);
    EXPECT_EQ((*store.point({&part, 1}, 123'456.2, 0))->value, 77);
    EXPECT_EQ((*store.point({&part, 1}, 4095, 1))->step, 4096) << "across chunks";
    EXPECT_EQ((*store.point({&part, 1}, 4096, -1))->step, 4095);
    EXPECT_EQ(*store.point({&part, 1}, 199'999, 1), std::nullopt);
    const auto points = store.points({&part, 1}, {10, 20}, 5);
    ASSERT_EQ(points->size(), 5U);
    EXPECT_EQ(points->front().step, 10);
}

TEST_F(StoreTest, MemoryAndSessionTellTheSame)
{
    const auto session = session::Session::open(path, session::OpenMode::readOnly);
    const RunData whole = *session->load();
    MemoryStore memory(whole);
    SessionStore stored(path, ids);
    const Interval focus {41'000, 42'000};
    const auto a = *memory.line({&part, 1}, focus, 480);
    const auto b = *stored.line({&part, 1}, focus, 480);
    EXPECT_EQ(totalsOf(a).count, totalsOf(b).count);
    EXPECT_EQ(finiteRange(a, focus), finiteRange(b, focus));
    const auto seenA = within(a, focus);
    const auto seenB = within(b, focus);
    EXPECT_TRUE(std::ranges::equal(seenA, seenB, {}, &Bucket::firstStep, &Bucket::firstStep));
}

TEST_F(StoreTest, ASessionThatIsNotThereIsASentence)
{
    SessionStore store(path.parent_path() / "gone.nanscope", ids);
    const auto line = store.line({&part, 1}, {0, 1}, 480);
    ASSERT_FALSE(line);
    EXPECT_NE(sentence(line.error()).find("gone.nanscope"), std::string::npos);
}

TEST_F(StoreTest, ThePaneReadsWhatItShowsOnAnotherThread)
{
    TimelinePane pane;
    pane.resize(960, 220);
    pane.setRun(&run, nullptr, path);
    EXPECT_FALSE(pane.settled());
    ASSERT_TRUE(QTest::qWaitFor([&] { return pane.settled(); }, waitMs));
    TimelinePlot* plot = pane.lossPlot();
    EXPECT_EQ(plot->counts().all, long_ + 5000);
    EXPECT_EQ(plot->marks().size(), 2U);
    EXPECT_TRUE(pane.chart("loss")->note().contains(QStringLiteral("of 205 k samples (min/max kept)")));

    pane.view()->zoomTo({41'690, 41'710}, TimelineView::Gesture::fresh);
    EXPECT_EQ(plot->marks().size(), 2U) << "never missing while the points are on their way";
    ASSERT_TRUE(QTest::qWaitFor([&] { return pane.settled(); }, waitMs));
    ASSERT_EQ(plot->marks().size(), 2U);
    EXPECT_EQ(plot->marks()[0].position, 41'700);
    EXPECT_EQ(plot->counts().all, plot->counts().drawn);

    pane.view()->undo();
    EXPECT_TRUE(pane.view()->showsAll());
}

TEST_F(StoreTest, TheCursorFindsExactValuesAndNextSamplesFromAfar)
{
    TimelinePane pane;
    pane.resize(960, 220);
    pane.setRun(&run, nullptr, path);
    ASSERT_TRUE(QTest::qWaitFor([&] { return pane.settled(); }, waitMs));
    pane.view()->setCursor(123'456);
    ASSERT_TRUE(QTest::qWaitFor([&] { return pane.settled(); }, waitMs));
    EXPECT_EQ(pane.lossPlot()->readout(), QStringLiteral("step 123456 · rank 0: 77"));
    test::press(*pane.lossPlot(), Qt::Key_Right);
    ASSERT_TRUE(QTest::qWaitFor([&] { return pane.settled(); }, waitMs));
    EXPECT_EQ(pane.view()->cursor(), 123'457);
    EXPECT_TRUE(pane.lossPlot()->readout().startsWith(QStringLiteral("step 123457 · ")));
}

TEST_F(StoreTest, WhatIsInSightIsCountedExactly)
{
    const auto session = session::Session::open(path, session::OpenMode::readOnly);
    const RunData whole = *session->load();
    MemoryStore memory(whole);
    SessionStore stored(path, ids);
    for (const Interval focus : {Interval {1234.5, 14'024.5}, Interval {100'001, 100'998}, Interval {-3, 77'777}}) {
        const auto expected =
            static_cast<std::int64_t>(std::floor(focus.high) - std::max(0.0, std::ceil(focus.low)) + 1);
        for (TimelineStore* store : std::initializer_list<TimelineStore*> {&memory, &stored}) {
            const SampleCounts counts = countSamples(*store->line({&part, 1}, focus, 300), focus, 300);
            EXPECT_EQ(counts.all, expected) << focus.low;
            EXPECT_TRUE(counts.exact);
        }
    }
    const Interval elsewhere {50'000.5, 60'000};
    const SampleCounts counts = countSamples(*stored.line({&part, 1}, {100'000, 100'300}, 300), elsewhere, 300);
    EXPECT_FALSE(counts.exact) << "chunks reach out of the steps that were not read for";
    EXPECT_TRUE(samplesNote(counts).contains(QStringLiteral(" of about "))) << samplesNote(counts).toStdString();
}

TEST_F(StoreTest, AChartThatBecomesWiderAsksForWhatFitsIt)
{
    TimelinePane pane;
    showAt(pane, {960, 300});
    pane.setRun(&run, nullptr, path);
    const auto isFine = [&](int least) {
        const auto charts = {pane.lossPlot(), pane.gradNormPlot()};
        return pane.settled() && std::ranges::all_of(charts, [least](const TimelinePlot* plot) {
            return plot->columns() >= least && plot->counts().drawn > 3 * plot->columns();
        });
    };
    EXPECT_TRUE(QTest::qWaitFor([&] { return isFine(200); }, waitMs))
        << "a chart that came to the other: " << pane.gradNormPlot()->counts().drawn << " on "
        << pane.gradNormPlot()->columns();
    pane.resize(3000, 300);
    EXPECT_TRUE(QTest::qWaitFor([&] { return isFine(1000); }, waitMs))
        << pane.lossPlot()->counts().drawn << " on " << pane.lossPlot()->columns();
}

TEST_F(StoreTest, AChartThatIsShownAgainHasTheExactValueAtTheCursor)
{
    TimelinePane pane;
    showAt(pane, {960, 300});
    pane.setRun(&run, nullptr, path);
    ASSERT_TRUE(QTest::qWaitFor([&] { return pane.settled(); }, waitMs));
    pane.view()->zoomTo({50'000, 70'000}, TimelineView::Gesture::fresh);
    pane.view()->setCursor(58'035);
    const auto isExact = [&] {
        return pane.settled() && pane.gradNormPlot()->readout().startsWith(QStringLiteral("step 58035 · "));
    };
    ASSERT_TRUE(QTest::qWaitFor(isExact, waitMs));
    pane.showSeries({"loss"});
    ASSERT_TRUE(QTest::qWaitFor([&] { return pane.settled(); }, waitMs));
    pane.showSeries({"loss", "grad_norm"});
    EXPECT_TRUE(QTest::qWaitFor(isExact, waitMs)) << pane.gradNormPlot()->readout().toStdString();
}

TEST_F(StoreTest, EveryValueInSightIsSaved)
{
    const QString csv = QString::fromStdString((path.parent_path() / "values.csv").string());
    TimelinePane pane;
    showAt(pane, {960, 300});
    pane.setRun(&run, nullptr, path);
    ASSERT_TRUE(QTest::qWaitFor([&] { return pane.settled() && pane.lossPlot()->counts().all > 0; }, waitMs));
    Q_EMIT pane.chart("loss")->rowsWanted(RowsUse::file);
    auto* dialog = pane.findChild<QFileDialog*>();
    ASSERT_NE(dialog, nullptr);
    Q_EMIT dialog->fileSelected(csv);
    pane.setRun(nullptr, nullptr);
    ASSERT_TRUE(QTest::qWaitFor([&] { return QFile::exists(csv); }, waitMs));
    QFile file(csv);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    EXPECT_EQ(text.count('\n'), 1 + long_ + 5000);
    EXPECT_TRUE(text.contains("\n41700,rank 0,nan,nan,rank0.log:83401\n"));
    EXPECT_TRUE(text.contains("\n199999,rank 0,"));
    dialog->close();
}

TEST_F(StoreTest, AGrowingSessionKeepsTheStepsLookedAt)
{
    TimelinePane pane;
    pane.resize(960, 220);
    pane.setRun(&run, nullptr, path);
    ASSERT_TRUE(QTest::qWaitFor([&] { return pane.settled(); }, waitMs));
    pane.view()->zoomTo({100, 200}, TimelineView::Gesture::fresh);
    pane.view()->setMarker(TimelineView::Marker::a, 150);
    Series more = longSeries("loss", 1, 10);
    for (Point& point : more.points) {
        point.step += 5000;
    }
    session::LogMark mark;
    mark.offset = 1;
    ASSERT_TRUE(
        session::Session::open(path, session::OpenMode::readWrite)->addLog("rank1.log", "jsonl", mark, {{more}, {}}));
    const RunData grown = *session::Session::open(path, session::OpenMode::readOnly)->summary();
    pane.setRun(&grown, nullptr, path);
    EXPECT_FALSE(pane.lossPlot()->lines().at(0).values.empty()) << "the old curve stays until the new one is read";
    ASSERT_TRUE(QTest::qWaitFor([&] { return pane.settled(); }, waitMs));
    EXPECT_EQ(pane.view()->steps(), (Interval {100, 200}));
    EXPECT_EQ(pane.view()->marker(TimelineView::Marker::a), 150);
    EXPECT_TRUE(pane.view()->canUndo());
    EXPECT_EQ(pane.lossPlot()->traces().at(1).buckets.back().lastStep, 5009);
}

TEST_F(StoreTest, AProblemIsSaidAndThePaneLives)
{
    TimelinePane pane;
    pane.resize(960, 220);
    pane.setRun(&run, nullptr, path.parent_path() / "gone.nanscope");
    ASSERT_TRUE(QTest::qWaitFor([&] { return pane.settled(); }, waitMs));
    EXPECT_TRUE(pane.chart("loss")->note().contains(QStringLiteral("gone.nanscope")));
    pane.setRun(nullptr, nullptr);
    EXPECT_TRUE(pane.visibleCharts().empty());
}

} // namespace nanscope
