// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <memory>

#include <QHelpEvent>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>
#include <QToolTip>
#include <QWheelEvent>

#include <gtest/gtest.h>

#include "tests/ui/timeline/timelinesamples.h"
#include "ui/timeline/timelineplot.h"

namespace nanscope {

using test::nan;
using test::press;
using test::trace;

namespace {

using Gesture = TimelineView::Gesture;

QWidget& canvasOf(TimelinePlot& plot)
{
    return *plot.findChild<QWidget*>();
}

void mouse(TimelinePlot& plot, QEvent::Type type, QPointF at, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
{
    const auto button = type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton;
    QMouseEvent event(type, at, plot.mapToGlobal(at), button, button, modifiers);
    QCoreApplication::sendEvent(&canvasOf(plot), &event);
}

void turnWheel(TimelinePlot& plot, QPointF at, int notches)
{
    QWheelEvent event(
        at, plot.mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&canvasOf(plot), &event);
}

class LinkedPlots : public testing::Test
{
protected:
    LinkedPlots()
        : plot(nullptr, &view)
    {
        plot.resize(600, 200);
        plot.setTraces({trace(0, {1, 0.1234567891, 3, 4, 5, 6, 7, 8, 9, 10}), trace(1, {1, nan, 3, 4})});
        plot.grab();
    }

    TimelineView view;
    TimelinePlot plot;
};

} // namespace

TEST_F(LinkedPlots, UndoRestoresTheRange)
{
    const Interval all = view.steps();
    EXPECT_FALSE(view.canUndo());
    view.zoomTo({2, 6}, Gesture::fresh);
    view.zoomTo({3, 5}, Gesture::fresh);
    press(plot, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(view.steps(), (Interval {2, 6}));
    press(plot, Qt::Key_Backspace);
    EXPECT_EQ(view.steps(), all);
    EXPECT_FALSE(view.canUndo());
    press(plot, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(view.steps(), (Interval {2, 6}));
    view.zoomTo({1, 8}, Gesture::fresh);
    EXPECT_FALSE(view.canRedo()) << "a new way forgets the old one";
}

TEST_F(LinkedPlots, ADragIsOneStepOfTheHistory)
{
    view.zoomTo({2, 6}, Gesture::fresh);
    const QPointF from(300, 120);
    mouse(plot, QEvent::MouseButtonPress, from);
    for (int i = 1; i <= 5; ++i) {
        mouse(plot, QEvent::MouseMove, from - QPointF(10 * i, 0));
    }
    mouse(plot, QEvent::MouseButtonRelease, from - QPointF(50, 0));
    EXPECT_GT(view.steps().low, 2);
    view.undo();
    EXPECT_EQ(view.steps(), (Interval {2, 6}));
}

TEST_F(LinkedPlots, ShiftClickComparesWithASecondStep)
{
    const auto click = [&](double step, Qt::KeyboardModifiers modifiers) {
        mouse(plot, QEvent::MouseButtonPress, {plot.pixelOfStep(step), 120}, modifiers);
        mouse(plot, QEvent::MouseButtonRelease, {plot.pixelOfStep(step), 120}, modifiers);
    };
    click(3, Qt::NoModifier);
    EXPECT_EQ(view.placed(), 3);
    click(7, Qt::ShiftModifier);
    EXPECT_EQ(view.marker(TimelineView::Marker::a), 3) << "the step that was clicked before";
    EXPECT_EQ(view.marker(TimelineView::Marker::b), 7);
    EXPECT_FALSE(plot.delta().isEmpty());
    click(5, Qt::ShiftModifier);
    EXPECT_EQ(view.marker(TimelineView::Marker::a), 3) << "stays";
    EXPECT_EQ(view.marker(TimelineView::Marker::b), 5);
}

TEST_F(LinkedPlots, TheMenuDrawsABoxWithoutShift)
{
    view.zoomTo({1, 8}, Gesture::fresh);
    plot.drawBoxNext();
    mouse(plot, QEvent::MouseButtonPress, {plot.pixelOfStep(2), 120});
    mouse(plot, QEvent::MouseMove, {plot.pixelOfStep(5), 130});
    mouse(plot, QEvent::MouseButtonRelease, {plot.pixelOfStep(5), 130});
    EXPECT_NEAR(view.steps().low, 2, 1e-6);
    EXPECT_NEAR(view.steps().high, 5, 1e-6);
}

TEST_F(LinkedPlots, ShiftDragZoomsToTheBox)
{
    mouse(plot, QEvent::MouseButtonPress, {plot.pixelOfStep(2), 120}, Qt::ShiftModifier);
    mouse(plot, QEvent::MouseMove, {plot.pixelOfStep(5), 130}, Qt::ShiftModifier);
    mouse(plot, QEvent::MouseButtonRelease, {plot.pixelOfStep(5), 130}, Qt::ShiftModifier);
    EXPECT_NEAR(view.steps().low, 2, 1e-6);
    EXPECT_NEAR(view.steps().high, 5, 1e-6);
}

TEST_F(LinkedPlots, TheTipTellsWhatADragDoesWhereAllIsShownAndElse)
{
    for (const bool all : {true, false}) {
        if (!all) {
            view.zoomTo({2, 6}, Gesture::fresh);
        }
        QHelpEvent event(QEvent::ToolTip, {300, 100}, plot.mapToGlobal(QPoint(300, 100)));
        QCoreApplication::sendEvent(&canvasOf(plot), &event);
        EXPECT_TRUE(QToolTip::text().contains(
            QStringLiteral("drag: zoom to a box while all is shown, else move; Shift+drag: zoom to a box")))
            << QToolTip::text().toStdString();
    }
}

TEST_F(LinkedPlots, WheelZoomsAtTheMouseAndOverTheValuesThem)
{
    const Interval values = plot.valueRange();
    const double x = plot.pixelOfStep(4);
    turnWheel(plot, {x, 120}, 3);
    EXPECT_LT(view.steps().high - view.steps().low, 7);
    EXPECT_NEAR(plot.pixelOfStep(4), x, 0.5);
    const Interval steps = view.steps();
    turnWheel(plot, {5, 120}, 2);
    EXPECT_EQ(view.steps(), steps);
    EXPECT_LT(plot.valueRange().high - plot.valueRange().low, values.high - values.low);
    mouse(plot, QEvent::MouseButtonDblClick, {300, 120});
    EXPECT_TRUE(view.showsAll());
    EXPECT_EQ(plot.valueRange(), values);
}

TEST_F(LinkedPlots, AZoomOfValuesIsUndoneByItself)
{
    const Interval values = plot.valueRange();
    view.zoomTo({2, 6}, Gesture::fresh);
    const Interval narrowed {0.25 * values.high, 0.5 * values.high};
    view.zoomValues(&plot, narrowed, Gesture::fresh);
    EXPECT_EQ(plot.valueRange(), narrowed);
    view.undo();
    EXPECT_NE(plot.valueRange(), narrowed);
    EXPECT_EQ(view.steps(), (Interval {2, 6}));
    view.redo();
    EXPECT_EQ(plot.valueRange(), narrowed);
    view.showAll();
    EXPECT_EQ(plot.valueRange(), values);
    view.undo();
    EXPECT_EQ(plot.valueRange(), narrowed);
    EXPECT_EQ(view.steps(), (Interval {2, 6}));
}

TEST_F(LinkedPlots, OtherCurvesShowTheirOwnValues)
{
    view.zoomValues(&plot, {1.5, 1.6}, Gesture::fresh);
    plot.setTraces({trace(0, {100, 200, 300})});
    EXPECT_GT(plot.valueRange().high, 250);
    EXPECT_FALSE(view.canUndo()) << "the values were those of the curves before";
    view.undo();
    EXPECT_GT(plot.valueRange().high, 250);
}

TEST_F(LinkedPlots, APlotAddedLaterHasTheStepsAndTheCursor)
{
    view.zoomTo({2, 6}, Gesture::fresh);
    view.setCursor(3);
    TimelinePlot later(nullptr, &view);
    later.resize(600, 200);
    later.setTraces({trace(0, {10, 20, 30, 40, 50})});
    EXPECT_EQ(later.stepRange(), (Interval {2, 6}));
    EXPECT_EQ(later.readout(), QStringLiteral("step 3 · rank 0: 40"));
    QString heard;
    QObject::connect(&later, &TimelinePlot::readoutChanged, &later, [&](const QString& text) { heard = text; });
    press(plot, Qt::Key_Right);
    EXPECT_EQ(heard, QStringLiteral("step 4 · rank 0: 50")) << "the cursor of one is the cursor of all";
    press(later, Qt::Key_Home);
    EXPECT_TRUE(view.showsAll());
    EXPECT_EQ(plot.stepRange(), later.stepRange());
}

TEST_F(LinkedPlots, APlotThatGoesTakesItsStepsAlong)
{
    const Interval before = view.whole();
    auto longer = std::make_unique<TimelinePlot>(nullptr, &view);
    TimelineTrace far = trace(0, {1});
    far.buckets[0].firstStep = far.buckets[0].lastStep = 1000;
    longer->setTraces({far});
    EXPECT_GT(view.steps().high, 1000) << "a view of everything stays one";
    longer.reset();
    EXPECT_EQ(view.steps(), before);
}

TEST_F(LinkedPlots, MouseTellsTheExactValue)
{
    QString text;
    QObject::connect(&plot, &TimelinePlot::readoutChanged, &plot, [&](const QString& readout) { text = readout; });
    mouse(plot, QEvent::MouseMove, {plot.pixelOfStep(1), 120});
    EXPECT_EQ(text, QStringLiteral("step 1 · rank 0: 0.1234567891 · rank 1: NaN"));
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(&canvasOf(plot), &leave);
    EXPECT_EQ(text, QString());
}

TEST_F(LinkedPlots, ARightClickAsksForTheMenu)
{
    QWidget window;
    TimelinePlot shown(&window, &view);
    shown.resize(600, 200);
    shown.setTraces({trace(0, {1, 2, 3, 4})});
    window.resize(600, 200);
    window.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window));
    QSignalSpy asked(&shown, &TimelinePlot::menuRequested);
    QTest::mouseClick(window.windowHandle(), Qt::RightButton, {}, QPoint(300, 120));
    EXPECT_EQ(asked.size(), 1);
}

TEST_F(LinkedPlots, KeysDoWhatTheMouseDoes)
{
    const Interval all = view.steps();
    press(plot, Qt::Key_Right);
    press(plot, Qt::Key_Right);
    EXPECT_EQ(view.cursor(), 1);
    press(plot, Qt::Key_Left);
    EXPECT_EQ(view.cursor(), 0);
    press(plot, Qt::Key_Right, Qt::ControlModifier);
    EXPECT_EQ(view.cursor(), 1) << "the NaN of rank 1";
    press(plot, Qt::Key_Plus);
    EXPECT_LT(view.steps().high - view.steps().low, all.high - all.low);
    press(plot, Qt::Key_PageDown);
    press(plot, Qt::Key_Minus);
    press(plot, Qt::Key_Home);
    EXPECT_EQ(view.steps(), all);
    press(plot, Qt::Key_Escape);
    EXPECT_EQ(view.cursor(), std::nullopt);
}

TEST_F(LinkedPlots, TheCursorIsNeverOutOfSight)
{
    view.zoomTo({0, 3}, Gesture::fresh);
    view.setCursor(3);
    press(plot, Qt::Key_Right);
    EXPECT_EQ(view.cursor(), 4);
    EXPECT_GE(view.steps().high, 4);
}

TEST_F(LinkedPlots, DeltaOfStepAndValues)
{
    view.setCursor(2);
    press(plot, Qt::Key_A);
    EXPECT_EQ(plot.delta(), QString());
    view.setCursor(8);
    press(plot, Qt::Key_B);
    EXPECT_EQ(plot.delta(), QStringLiteral("A 2 → B 8: +6 steps · rank 0: +6"));
    view.setMarker(TimelineView::Marker::b, 1);
    EXPECT_EQ(plot.delta(), QStringLiteral("A 2 → B 1: -1 steps · rank 0: -2.87654 · rank 1: 3 → NaN"));
    press(plot, Qt::Key_Escape);
    EXPECT_EQ(plot.delta(), QString());
}

TEST_F(LinkedPlots, AnEventIsActivatedByClickAndByKey)
{
    plot.setEvents({{4.5, TimelineEvent::Kind::other, QStringLiteral("Traceback"), QStringLiteral("console.log"), 31},
        {4.5, TimelineEvent::Kind::birth, QStringLiteral("birth"), QStringLiteral("console.log"), 30,
            QStringLiteral("a.pt")}});
    plot.grab();
    std::vector<TimelineEvent> activated;
    QObject::connect(
        &plot, &TimelinePlot::eventActivated, &plot, [&](const TimelineEvent& event) { activated.push_back(event); });
    const QPointF mark(plot.pixelOfStep(4.5) + 2, 12);
    EXPECT_EQ(plot.tipAt(mark), QStringLiteral("birth\nconsole.log:30\na.pt"));
    mouse(plot, QEvent::MouseButtonPress, mark);
    mouse(plot, QEvent::MouseButtonRelease, mark);
    press(plot, Qt::Key_Return);
    ASSERT_EQ(activated.size(), 2U);
    EXPECT_EQ(activated[0].capture, QStringLiteral("a.pt")) << "the birth lies above";
    EXPECT_EQ(activated[1].line, 30);
    EXPECT_EQ(plot.eventAt({plot.pixelOfStep(8), 12}), nullptr);
}

TEST_F(LinkedPlots, ARankThatEndedEarlyDoesNotHoldTheCursor)
{
    plot.setTraces({trace(1, {1, nan, 3}), trace(0, {1, 2, 3, 4, 5, 6, 7, 8, 9})});
    view.setCursor(8);
    EXPECT_EQ(plot.readout(), QStringLiteral("step 8 · rank 0: 9"));
}

} // namespace nanscope
