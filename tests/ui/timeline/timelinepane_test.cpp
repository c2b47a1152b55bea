// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QSet>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>

#include "tests/ui/timeline/timelinesamples.h"
#include "ui/shared/picture.h"
#include "ui/shared/theme.h"
#include "ui/timeline/linesdialog.h"
#include "ui/timeline/timelinepane.h"
#include "ui/timeline/timelinetable.h"

namespace nanscope {

using test::inf;
using test::makeSeries;
using test::nan;

namespace {

QAction* actionOf(QMenu& menu, const QString& begin)
{
    const auto actions = menu.actions();
    const auto found = std::ranges::find_if(actions, [&](QAction* action) { return action->text().startsWith(begin); });
    return found == actions.end() ? nullptr : *found;
}

void choose(TimelineChart& chart, const QString& entry)
{
    QMenu menu;
    chart.fillMenu(menu);
    ASSERT_NE(actionOf(menu, entry), nullptr) << entry.toStdString();
    actionOf(menu, entry)->trigger();
}

class PaneTest : public testing::Test
{
protected:
    PaneTest()
        : run(test::makeRun())
        , diagnosis(test::makeDiagnosis())
    {
        run->series = {makeSeries("loss", "console.log", 0, {9, 8, nan, 6, inf, 4, 3, 2, 1}),
            makeSeries("loss", "console.log", 1, {9, 8, 7, 6, 5, 4, 3, 2, 1}),
            makeSeries("lr", "console.log", 0, {1e-3, 1e-3, 0, 1e-4}),
            makeSeries("my_gauge", "console.log", 0, {5, 6})};
        pane.resize(960, 220);
        pane.setRun(run.get(), diagnosis.get());
    }

    std::shared_ptr<RunData> run;
    std::shared_ptr<Diagnosis> diagnosis;
    TimelinePane pane;
};

} // namespace

TEST(TimelineSeries, TakesTheSourceWithMostPointsPerRank)
{
    RunData run;
    run.series = {makeSeries("loss", "short.log", 0, {1, 2}), makeSeries("loss", "console.log", 0, {1, 2, 3}),
        makeSeries("loss", "console.log", 1, {4, nan}),
        makeSeries("loss", "merged.csv", std::nullopt, {1, 2, 3, 4, 5})};
    const auto lines = linesOf(run, "loss");
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].parts, (std::vector<std::size_t> {1}));
    EXPECT_EQ(lines[1].label, QStringLiteral("rank 1"));
    EXPECT_TRUE(linesOf(run, "grad_norm").empty());
}

TEST(TimelineSeries, OfLogsOfSeveralRunsTheOneThatFailedIsShown)
{
    RunData run;
    run.series = {makeSeries("loss", "a.log", std::nullopt, {1, 2, 3, 4}),
        makeSeries("grad_norm", "a.log", std::nullopt, {1, 2, 3, 4}),
        makeSeries("loss", "b.log", std::nullopt, {1, 2, nan}),
        makeSeries("grad_norm", "b.log", std::nullopt, {1, 2, 3})};
    for (const char* name : {"loss", "grad_norm"}) {
        const auto lines = linesOf(run, name);
        ASSERT_EQ(lines.size(), 1U);
        EXPECT_EQ(lines[0].label, QStringLiteral("b.log")) << name;
    }
}

TEST(TimelineSeries, ARestartThatGoesBackIsALineOfItsOwn)
{
    RunData run;
    run.series = {makeSeries("loss", "a.log", 0, {1, 2, 3}), makeSeries("loss", "a.log", 0, {5, 6, 7, 8}),
        makeSeries("loss", "a.log", 0, {9})};
    for (std::size_t i = 0; i < run.series.size(); ++i) {
        run.series[i].segment = static_cast<int>(i);
    }
    run.series[2].points[0].step = 3;
    const auto lines = linesOf(run, "loss");
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].parts, (std::vector<std::size_t> {0, 2}));
    EXPECT_EQ(lines[1].label, QStringLiteral("rank 0, restart 1"));
    EXPECT_EQ(lines[0].style, lines[1].style);
}

TEST(TimelineSeries, EveryLogCanBeDrawnAndIsNamed)
{
    RunData run;
    run.series = {makeSeries("loss", "a.log", 0, {1, 2}), makeSeries("loss", "b.log", 0, {1, 2, 3}),
        makeSeries("loss", "c.log", std::nullopt, {4})};
    const auto lines = linesOf(run, "loss", {LineChoice::Which::all});
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].label, QStringLiteral("c.log"));
    EXPECT_EQ(lines[1].label, QStringLiteral("rank 0 · a.log"));
    EXPECT_EQ(lines[2].label, QStringLiteral("rank 0 · b.log"));
    EXPECT_NE(lines[1].style, lines[2].style);
}

TEST(TimelineSeries, AChosenLogOfAnotherRunChangesNothing)
{
    RunData run;
    run.root = "/runs/1";
    run.series = {makeSeries("loss", "a.log", 0, {1, 2}), makeSeries("loss", "b.log", 0, {1, 2, 3})};
    LineChoice choice {LineChoice::Which::one, "/runs/1", {0, "a.log"}};
    EXPECT_EQ(linesOf(run, "loss", choice)[0].source, QStringLiteral("a.log"));
    EXPECT_EQ(linesOf(run, "loss", choice)[0].otherLogs, 1U);
    choice.run = "/runs/2";
    EXPECT_EQ(linesOf(run, "loss", choice)[0].source, QStringLiteral("b.log"));
    choice = {LineChoice::Which::one, "/runs/1", {0, "gone.log"}};
    EXPECT_EQ(linesOf(run, "loss", choice)[0].source, QStringLiteral("b.log"));
}

TEST_F(PaneTest, JudgedCapturesStandBetweenTheirStepsAndKnowTheirLine)
{
    Event dump;
    dump.kind = EventKind::captureDumped;
    dump.capture = "birth.pt";
    dump.source = "console.log";
    dump.line = 30;
    run->events = {dump};
    const auto events = eventsOf(*run, diagnosis.get());
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[0].kind, TimelineEvent::Kind::birth);
    EXPECT_DOUBLE_EQ(events[0].position, 5.5);
    EXPECT_EQ(events[0].capture, QStringLiteral("birth.pt"));
    EXPECT_EQ(events[0].line, 30);
}

TEST_F(PaneTest, ALineOfAGuardWithoutAStepIsMarkedWhereItStands)
{
    Event skip;
    skip.kind = EventKind::skippedStep;
    skip.text = "skipped update, non-finite gradient";
    skip.source = "console.log";
    skip.line = 16; // of step 6
    Event behind = skip;
    behind.line = 40;
    Event elsewhere = skip;
    elsewhere.source = "err.log";
    elsewhere.line = 3;
    run->events = {skip, behind, elsewhere};
    run->series[0].points.erase(run->series[0].points.begin() + 6);
    run->series[1].points.erase(run->series[1].points.begin() + 6);
    pane.setRun(nullptr, nullptr);
    pane.setRun(run.get(), nullptr);
    const auto& events = pane.lossPlot()->events();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_DOUBLE_EQ(events[0].position, 6);
    EXPECT_TRUE(events[0].text.contains(QStringLiteral("between the log lines of steps 5 and 7")))
        << events[0].text.toStdString();
    EXPECT_EQ(events[0].line, 16);
    EXPECT_DOUBLE_EQ(events[1].position, 8);
    EXPECT_TRUE(events[1].text.contains(QStringLiteral("behind the log line of step 8")));
    EXPECT_TRUE(pane.chart("loss")->note().contains(QStringLiteral("1 skipped update without a step, at err.log:3")))
        << pane.chart("loss")->note().toStdString();
    pane.setRun(run.get(), diagnosis.get());
    EXPECT_EQ(pane.lossPlot()->events().size(), 5U) << "judging takes no mark away";
}

TEST_F(PaneTest, PlotsShareTheirStepsAndKeepThemWhenJudgedAgain)
{
    pane.showSeries({"loss", "lr"});
    EXPECT_EQ(pane.lossPlot()->stepRange(), pane.chart("lr")->plot()->stepRange());
    pane.view()->zoomTo({2, 4}, TimelineView::Gesture::fresh);
    pane.setRun(run.get(), diagnosis.get());
    EXPECT_EQ(pane.chart("lr")->plot()->stepRange(), (Interval {2, 4}));
    EXPECT_EQ(pane.lossPlot()->traces().size(), 2U);
}

TEST_F(PaneTest, WhereTheStepsWereLookedAtComesBackAndHomeShowsAll)
{
    EXPECT_TRUE(pane.savePlace().isEmpty());
    pane.view()->zoomTo({2, 6}, TimelineView::Gesture::fresh);
    pane.view()->setCursor(4);
    const QByteArray place = pane.savePlace();
    pane.setRun(nullptr, nullptr);
    pane.setNextPlace(place);
    pane.setRun(run.get(), diagnosis.get());
    EXPECT_EQ(pane.view()->steps(), (Interval {2, 6}));
    EXPECT_EQ(pane.view()->cursor(), 4);
    EXPECT_FALSE(pane.view()->canUndo());
    pane.view()->showAll();
    EXPECT_TRUE(pane.view()->showsAll());

    pane.setRun(nullptr, nullptr);
    pane.setNextPlace(R"({"low": 900, "high": 950, "cursor": 920})");
    pane.setRun(run.get(), diagnosis.get());
    EXPECT_TRUE(pane.view()->showsAll()) << "the run has no such steps";
    EXPECT_EQ(pane.view()->cursor(), std::nullopt);
}

TEST_F(PaneTest, AnySeriesOfTheRunCanBeChosen)
{
    EXPECT_EQ(pane.visibleCharts().size(), 1U) << "of loss and grad_norm the log has one";
    QMenu& menu = *pane.seriesMenu();
    Q_EMIT menu.aboutToShow();
    ASSERT_NE(actionOf(menu, QStringLiteral("my_gauge")), nullptr);
    EXPECT_EQ(menu.actions().size(), 3);
    pane.view()->zoomTo({1, 5}, TimelineView::Gesture::fresh);
    pane.view()->setCursor(1);
    actionOf(menu, QStringLiteral("my_gauge"))->trigger();
    ASSERT_EQ(pane.visibleCharts().size(), 2U);
    TimelinePlot* added = pane.chart("my_gauge")->plot();
    EXPECT_EQ(added->stepRange(), (Interval {1, 5}));
    EXPECT_EQ(added->readout(), QStringLiteral("step 1 · rank 0: 6"));
    Q_EMIT menu.aboutToShow();
    actionOf(menu, QStringLiteral("Loss"))->trigger();
    EXPECT_EQ(pane.visibleCharts().size(), 1U);
    EXPECT_TRUE(pane.chart("loss")->isHidden());
}

TEST_F(PaneTest, TheUserChoosesWhichLogIsDrawn)
{
    run->series = {makeSeries("loss", "a.log", 0, {9, 8, nan}), makeSeries("loss", "b & c.log", 0, {5, 4, 3, 2})};
    pane.setRun(nullptr, nullptr);
    pane.setRun(run.get(), nullptr);
    TimelineChart* chart = pane.chart("loss");
    EXPECT_TRUE(chart->note().contains(QStringLiteral("1 of 2 logs shown"))) << chart->note().toStdString();
    EXPECT_EQ(chart->lines()[0].source, QStringLiteral("a.log"));
    QMenu& menu = *pane.linesMenu();
    Q_EMIT menu.aboutToShow();
    EXPECT_TRUE(menu.actions()[0]->isChecked());
    ASSERT_NE(actionOf(menu, QStringLiteral("rank 0 · b && c.log")), nullptr);
    actionOf(menu, QStringLiteral("rank 0 · b && c.log"))->trigger();
    ASSERT_EQ(chart->lines().size(), 1U);
    EXPECT_EQ(chart->lines()[0].source, QStringLiteral("b & c.log"));
    EXPECT_EQ(chart->plot()->traces()[0].buckets.size(), 4U) << "its points, not those of the log before";
    EXPECT_TRUE(chart->note().contains(QStringLiteral("1 of 2 logs shown")));

    TimelinePane next;
    next.restoreState(pane.saveState());
    next.setRun(run.get(), nullptr);
    EXPECT_EQ(next.chart("loss")->lines()[0].source, QStringLiteral("b & c.log"));
    Q_EMIT next.linesMenu()->aboutToShow();
    EXPECT_TRUE(actionOf(*next.linesMenu(), QStringLiteral("rank 0 · b"))->isChecked());
    actionOf(*next.linesMenu(), QStringLiteral("All"))->trigger();
    EXPECT_EQ(next.chart("loss")->lines().size(), 2U);
    EXPECT_FALSE(next.chart("loss")->note().contains(QStringLiteral("logs shown")));
}

TEST_F(PaneTest, OfManyLogsOneIsFoundByItsName)
{
    run->series.clear();
    constexpr int logs = 700;
    for (int i = 0; i < logs; ++i) {
        const std::string log = "log" + std::to_string(i) + ".txt";
        run->series.push_back(makeSeries("loss", log.c_str(), 0, {9, 8, 7}));
    }
    pane.setRun(nullptr, nullptr);
    pane.setRun(run.get(), nullptr);
    QMenu& menu = *pane.linesMenu();
    Q_EMIT menu.aboutToShow();
    EXPECT_LT(menu.actions().size(), 60);
    QAction* all = actionOf(menu, QStringLiteral("Choose among all 700, of which 660 are not listed"));
    ASSERT_NE(all, nullptr);
    all->trigger();
    auto* dialog = pane.findChild<LinesDialog*>();
    ASSERT_NE(dialog, nullptr);
    EXPECT_EQ(dialog->list()->count(), logs);
    dialog->filter()->setText(QStringLiteral("log654"));
    ASSERT_NE(dialog->list()->currentItem(), nullptr);
    EXPECT_TRUE(dialog->list()->currentItem()->text().contains(QStringLiteral("log654.txt")));
    QTest::keyClick(dialog->filter(), Qt::Key_Return);
    EXPECT_EQ(pane.chart("loss")->lines().at(0).source, QStringLiteral("log654.txt"));
    Q_EMIT menu.aboutToShow();
    QAction* chosen = actionOf(menu, QStringLiteral("rank 0 · log654"));
    ASSERT_NE(chosen, nullptr) << "what is drawn is in the menu";
    EXPECT_TRUE(chosen->isChecked());
}

TEST_F(PaneTest, OneStepThatWasClickedAsksForASecond)
{
    const auto says = [this] {
        const auto labels = pane.chart("loss")->findChildren<QLabel*>();
        return std::ranges::any_of(labels,
            [](const QLabel* label) { return label->accessibleName().contains(QStringLiteral("Shift+click")); });
    };
    EXPECT_FALSE(says());
    pane.view()->setCursor(2);
    EXPECT_TRUE(says());
    EXPECT_FALSE(pane.chart("loss")->caption().note.contains(QStringLiteral("Shift"))) << "no picture says so";
    pane.view()->setHover(4);
    choose(*pane.chart("loss"), QStringLiteral("Set second mark B here"));
    EXPECT_EQ(pane.view()->marker(TimelineView::Marker::b), 4);
    EXPECT_FALSE(says());
}

TEST_F(PaneTest, TheLogOfSeveralRanksIsNamedOnce)
{
    run->series.push_back(makeSeries("loss", "other.log", 0, {9}));
    pane.setRun(nullptr, nullptr);
    pane.setRun(run.get(), nullptr);
    TimelineChart* chart = pane.chart("loss");
    EXPECT_TRUE(chart->note().contains(QStringLiteral("1 of 2 logs shown, console.log")))
        << chart->note().toStdString();
    EXPECT_FALSE(chart->caption().legend.contains(QStringLiteral("console.log")));
    EXPECT_TRUE(chart->caption().legend.contains(QStringLiteral("rank 1")));
}

TEST_F(PaneTest, TheHeaderOfAChartComesToRestAtEveryWidth)
{
    pane.show();
    TimelineChart* chart = pane.chart("loss");
    const auto shown = [chart] {
        QList<bool> visible;
        for (const QToolButton* button : chart->findChildren<QToolButton*>()) {
            visible << !button->isHidden();
        }
        return visible;
    };
    QSet<QList<bool>> seen;
    for (int width = 300; width < 1000; width += 3) {
        pane.resize(width, 220);
        for (int turn = 0; turn < 4; ++turn) {
            QApplication::processEvents();
        }
        const QList<bool> before = shown();
        QApplication::processEvents();
        EXPECT_EQ(shown(), before) << width;
        seen.insert(before);
    }
    EXPECT_GT(seen.size(), 1) << "in a narrow one the buttons give way to the names of the curves";
}

TEST_F(PaneTest, OfOneLogARankCanBeDrawnAlone)
{
    Q_EMIT pane.linesMenu()->aboutToShow();
    ASSERT_NE(actionOf(*pane.linesMenu(), QStringLiteral("rank 1")), nullptr);
    actionOf(*pane.linesMenu(), QStringLiteral("rank 1"))->trigger();
    ASSERT_EQ(pane.lossPlot()->traces().size(), 1U);
    EXPECT_EQ(pane.lossPlot()->traces()[0].label, QStringLiteral("rank 1"));
    EXPECT_TRUE(pane.chart("loss")->note().contains(QStringLiteral("1 of 2 ranks shown")));
}

TEST_F(PaneTest, WhereThereIsOneLineNothingIsToBeChosen)
{
    const auto offers = [this] {
        const auto buttons = pane.chart("loss")->findChildren<QToolButton*>();
        return std::ranges::any_of(buttons, [this](QToolButton* button) { return button->menu() == pane.linesMenu(); });
    };
    EXPECT_TRUE(offers());
    run->series = {makeSeries("loss", "a.log", 0, {9, 8})};
    pane.setRun(nullptr, nullptr);
    pane.setRun(run.get(), nullptr);
    EXPECT_FALSE(offers());
}

TEST_F(PaneTest, ManyRanksDoNotWidenTheChart)
{
    for (int rank = 2; rank < 9; ++rank) {
        run->series.push_back(makeSeries("loss", "console.log", rank, {1, 2}));
    }
    pane.setRun(nullptr, nullptr);
    pane.showSeries({"loss", "lr"});
    pane.setRun(run.get(), nullptr);
    pane.grab();
    for (const TimelineChart* chart : pane.visibleCharts()) {
        EXPECT_LE(chart->geometry().right(), pane.width()) << chart->name();
        EXPECT_GT(chart->width(), 400);
    }
}

TEST_F(PaneTest, ARunWithOtherSeriesShowsThose)
{
    run->series = {makeSeries("my_gauge", "a.csv", 0, {5, 6})};
    pane.setRun(nullptr, nullptr);
    EXPECT_TRUE(pane.isHidden());
    pane.setRun(run.get(), nullptr);
    ASSERT_EQ(pane.visibleCharts().size(), 1U);
    EXPECT_EQ(pane.visibleCharts()[0]->name(), "my_gauge");
}

TEST_F(PaneTest, TheLogSwitchIsRemembered)
{
    TimelineChart* chart = pane.chart("loss");
    auto* button = chart->findChild<QToolButton*>(QStringLiteral("chip"));
    ASSERT_NE(button, nullptr);
    EXPECT_FALSE(chart->plot()->logarithmic());
    button->click();
    EXPECT_TRUE(chart->plot()->logarithmic());
    EXPECT_TRUE(button->isChecked());
    pane.showSeries({"loss", "lr"});
    TimelinePane next;
    next.restoreState(pane.saveState());
    next.setRun(run.get(), diagnosis.get());
    EXPECT_TRUE(next.lossPlot()->logarithmic());
    EXPECT_EQ(next.visibleCharts().size(), 2U);
    next.restoreState("{\"version\":99,\"series\":[\"lr\"]}");
    next.restoreState("not json");
    EXPECT_EQ(next.visibleCharts().size(), 2U);
}

TEST_F(PaneTest, TheLogAxisSaysHowManyItCannotShow)
{
    pane.showSeries({"lr"});
    choose(*pane.chart("lr"), QStringLiteral("Logarithmic axis"));
    EXPECT_TRUE(pane.chart("lr")->note().contains(QStringLiteral("1 value ≤ 0")))
        << pane.chart("lr")->note().toStdString();
}

TEST_F(PaneTest, TheMenuZoomsAndUndoes)
{
    const Interval all = pane.view()->steps();
    choose(*pane.chart("loss"), QStringLiteral("Zoom in"));
    EXPECT_FALSE(pane.view()->showsAll());
    choose(*pane.chart("loss"), QStringLiteral("Undo zoom"));
    EXPECT_EQ(pane.view()->steps(), all);
    choose(*pane.chart("loss"), QStringLiteral("Ranks as a band"));
    EXPECT_TRUE(pane.lossPlot()->drawsBand());
}

TEST_F(PaneTest, ValuesAreCopiedWithTheirPlaces)
{
    pane.view()->zoomTo({1.5, 4.5}, TimelineView::Gesture::fresh);
    choose(*pane.chart("loss"), QStringLiteral("Copy values as TSV"));
    const QStringList lines = QApplication::clipboard()->text().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    ASSERT_EQ(lines.size(), 7);
    EXPECT_EQ(lines[1], QStringLiteral("2\trank 0\tnan\tnan\tconsole.log:12"));
    EXPECT_EQ(lines[2], QStringLiteral("3\trank 0\t6\tfinite\tconsole.log:13"));
    choose(*pane.chart("loss"), QStringLiteral("Copy values as JSON"));
    EXPECT_TRUE(QApplication::clipboard()->text().contains(
        QStringLiteral(R"({"line":"rank 0","source":"console.log","source_line":14,"step":4,"value":"inf"})")))
        << QApplication::clipboard()->text().toStdString();
}

TEST_F(PaneTest, TheReadoutAndItsPlaceCanBeCopied)
{
    pane.view()->setCursor(2);
    test::press(*pane.lossPlot(), Qt::Key_C, Qt::ControlModifier);
    EXPECT_TRUE(QApplication::clipboard()->text().contains(QStringLiteral("rank 0: NaN   console.log:12")));
    pane.chart("loss")->copyPlace();
    EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("console.log:12\nconsole.log:12"));
}

TEST_F(PaneTest, TheTableHoldsWhatIsDrawn)
{
    choose(*pane.chart("loss"), QStringLiteral("Show as a table"));
    auto* table = pane.findChild<TimelineTable*>();
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->view()->model()->rowCount(), 18);
    table->close();
}

TEST(TimelineTable, SortsNumbersBeforeWhatIsNone)
{
    std::vector<TimelineRow> rows;
    for (const double value : {3.0, nan, 20.0, -inf, -1.0}) {
        rows.push_back({test::point(std::ssize(rows), value), QStringLiteral("rank 0"), QStringLiteral("a.log")});
    }
    TimelineTable table(QStringLiteral("Loss"), {}, rows);
    auto* model = table.view()->model();
    table.view()->sortByColumn(TimelineTable::value, Qt::AscendingOrder);
    QStringList values;
    for (int row = 0; row < model->rowCount(); ++row) {
        values << model->index(row, TimelineTable::value).data().toString();
    }
    EXPECT_EQ(values.join(QLatin1Char(' ')), QStringLiteral("-1 3 20 NaN −Inf"));
    table.view()->selectRow(1);
    table.copy();
    EXPECT_EQ(QApplication::clipboard()->text(),
        QStringLiteral("step\tline\tvalue\tstate\tplace\n0\trank 0\t3\tfinite\ta.log\n"));
    table.view()->sortByColumn(TimelineTable::value, Qt::DescendingOrder);
    table.copy();
    EXPECT_TRUE(QApplication::clipboard()->text().contains(QStringLiteral("\t3\tfinite")))
        << "the selected row stays selected where it comes to lie";
}

TEST_F(PaneTest, APictureHasALegendInTheColoursOfItsCurves)
{
    TimelineChart* chart = pane.chart("loss");
    chart->plot()->grab();
    const PictureCaption caption = chart->caption();
    EXPECT_TRUE(caption.legend.contains(QStringLiteral("rank 0")));
    PictureCaption bare = caption;
    bare.legend.clear();
    const QImage with = imageOf(captioned(chart->picture(), caption));
    const QImage without = imageOf(captioned(chart->picture(), bare));
    ASSERT_GT(with.height(), without.height());
    const auto coloured = [](const QImage& image) {
        int pixels = 0;
        for (int y = 0; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x) {
                pixels += image.pixelColor(x, y) == theme().ranks[0] ? 1 : 0;
            }
        }
        return pixels;
    };
    EXPECT_GT(coloured(with), coloured(without));
}

TEST_F(PaneTest, InALowPaneAChartIsSeenWholeWithItsAxis)
{
    for (const QSize size : {QSize(340, 120), QSize(340, 136), QSize(340, 168), QSize(340, 400)}) {
        pane.resize(size);
        pane.show();
        QCoreApplication::processEvents();
        TimelineChart* chart = pane.chart("loss");
        EXPECT_LE(chart->height(), pane.height()) << size.height();
        EXPECT_TRUE(chart->rect().contains(QRect(chart->plot()->mapTo(chart, QPoint()), chart->plot()->size())))
            << size.height();
        EXPECT_GE(chart->height(), std::min(size.height(), TimelineChart::comfortableHeight)) << size.height();
    }
}

TEST_F(PaneTest, EverythingHasAName)
{
    for (const auto* button : pane.chart("loss")->findChildren<QToolButton*>()) {
        EXPECT_FALSE(button->accessibleName().isEmpty());
    }
    EXPECT_EQ(pane.lossPlot()->accessibleName(), QStringLiteral("Loss"));
    EXPECT_EQ(pane.lossPlot()->accessibleDescription(), QStringLiteral("2 values in view are not finite"));
}

} // namespace nanscope
