// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Zoom of heat maps: by wheel, box, drag and keys, and the way back.
#include <cstdlib>

#include <QAction>
#include <QApplication>
#include <QContextMenuEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QTest>
#include <QTimer>
#include <QWheelEvent>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "tests/ui/windowtest.h"
#include "ui/film/filmstrip.h"
#include "ui/heatmap/heatmap.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/theme.h"
#include "ui/shell/keylist.h"
#include "ui/tensors/tensorspane.h"
#include "ui/timeline/timelinepane.h"

namespace nanscope {

namespace {

std::shared_ptr<const MatrixPicture> matrix(std::int64_t rows, std::int64_t cols)
{
    return std::make_shared<const MatrixPicture>(test::makePicture(rows, cols));
}

void mouse(HeatMap& map, QEvent::Type type, QPointF at, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
{
    const auto button = type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton;
    const auto held = type == QEvent::MouseButtonRelease ? Qt::NoButton : Qt::LeftButton;
    QMouseEvent event(type, at, map.mapToGlobal(at), button, held, modifiers);
    QCoreApplication::sendEvent(&map, &event);
}

void drag(HeatMap& map, QPointF from, QPointF to, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
{
    mouse(map, QEvent::MouseButtonPress, from, modifiers);
    for (int i = 1; i <= 4; ++i) {
        mouse(map, QEvent::MouseMove, from + (to - from) * i / 4, modifiers);
    }
    mouse(map, QEvent::MouseButtonRelease, to, modifiers);
}

void turnWheel(HeatMap& map, QPointF at, QPoint angle)
{
    QWheelEvent event(at, map.mapToGlobal(at), {}, angle, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&map, &event);
}

class HeatZoom : public testing::Test
{
protected:
    HeatZoom()
    {
        map.resize(200, 200);
        map.setPicture(matrix(100, 100));
    }

    QPointF middleOf(std::int64_t row, std::int64_t col) const { return map.elementRect(row, col).center(); }
    void dragBox(HeatMap::Element from, HeatMap::Element to)
    {
        drag(map, middleOf(from.row, from.col), middleOf(to.row, to.col), Qt::ShiftModifier);
    }
    replay::Region inSight() const { return map.visibleRegion().value_or(replay::Region {}); }

    HeatView view;
    HeatMap map {&view};
};

const replay::Region whole {0, 0, 100, 100};

} // namespace

TEST_F(HeatZoom, APartSaysThatItIsOne)
{
    EXPECT_EQ(map.partInSight(), QString());
    const QImage all = map.grab().toImage();
    map.showRegion({40, 0, 60, 100});
    EXPECT_EQ(map.partInSight(), QString()) << "as wide as that it is as high";
    map.showRegion({40, 10, 30, 30});
    EXPECT_EQ(map.partInSight(), QStringLiteral("rows 40–69 of 100 × columns 10–39 of 100"));
    EXPECT_TRUE(map.accessibleDescription().endsWith(QStringLiteral("in sight: ") + map.partInSight()));
    const QColor ground = map.grab().toImage().pixelColor(2, 198);
    EXPECT_LT(std::abs(ground.lightness() - theme().surface.lightness()), 40) << "words on their own ground";
    view.fit();
    EXPECT_EQ(map.grab().toImage(), all);
}

TEST_F(HeatZoom, ADragDrawsABoxInTheWholeMatrixAndMovesAPartOfIt)
{
    drag(map, middleOf(20, 10), middleOf(60, 50), Qt::NoModifier);
    const replay::Region box = inSight();
    EXPECT_LT(box.rows, 60);
    EXPECT_LE(box.row, 20);
    const double zoom = view.zoom();
    drag(map, {100, 100}, {140, 100}, Qt::NoModifier);
    EXPECT_EQ(view.zoom(), zoom);
    EXPECT_LT(inSight().col, box.col);
}

TEST_F(HeatZoom, ABoxBecomesExactlyTheElementsInSight)
{
    dragBox({20, 10}, {39, 29});
    EXPECT_EQ(inSight(), (replay::Region {20, 10, 20, 20}));
    dragBox({36, 13}, {22, 27});
    EXPECT_EQ(inSight(), (replay::Region {22, 13, 15, 15})) << "from any corner, and within a box";
    view.goBack();
    view.goBack();
    EXPECT_EQ(inSight(), whole);
    dragBox({99, 99}, {99, 99});
    EXPECT_EQ(inSight(), whole) << "a click is no box";
    map.showRegion({99, 99, 1, 1});
    EXPECT_EQ(inSight(), (replay::Region {99, 99, 1, 1}));
}

TEST_F(HeatZoom, OfABoxThatIsNotTheWindowsShapeTheLongerSideFits)
{
    map.resize(300, 160);
    map.setPicture(matrix(512, 1408));
    const auto ratio = [] { return 160.0 / 300; };
    for (const replay::Region& box : {replay::Region {100, 700, 10, 300}, replay::Region {5, 1000, 200, 8},
             replay::Region {0, 0, 512, 3}, replay::Region {511, 1300, 1, 108}, replay::Region {37, 41, 1, 1}}) {
        map.showRegion(box);
        const replay::Region seen = inSight();
        const bool wide = static_cast<double>(box.rows) < ratio() * static_cast<double>(box.cols);
        EXPECT_EQ(wide ? seen.col : seen.row, wide ? box.col : box.row);
        EXPECT_EQ(wide ? seen.cols : seen.rows, wide ? box.cols : box.rows);
        EXPECT_LE(seen.row, box.row);
        EXPECT_LE(seen.col, box.col);
        EXPECT_GE(seen.row + seen.rows, box.row + box.rows);
        EXPECT_GE(seen.col + seen.cols, box.col + box.cols);
    }
    const double zoom = view.zoom();
    map.showRegion({600, 0, 10, 10});
    EXPECT_EQ(view.zoom(), zoom) << "nothing of it is there";
    map.showRegion({-50, -50, 51, 51});
    EXPECT_EQ(inSight().row, 0);
    EXPECT_EQ(inSight().rows, 1);
}

TEST_F(HeatZoom, ABoxIsSeenWhileItIsDrawnAndCopiedAsItIsShown)
{
    const QImage before = map.grab().toImage();
    mouse(map, QEvent::MouseButtonPress, middleOf(20, 10), Qt::ShiftModifier);
    mouse(map, QEvent::MouseMove, middleOf(60, 70), Qt::ShiftModifier);
    const QPoint within = middleOf(40, 40).toPoint();
    EXPECT_NE(map.grab().toImage().pixel(within), before.pixel(within));
    mouse(map, QEvent::MouseMove, middleOf(21, 12), Qt::ShiftModifier);
    mouse(map, QEvent::MouseButtonRelease, middleOf(21, 12), Qt::ShiftModifier);
    const QStringList lines = visibleValues(map).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    EXPECT_TRUE(
        lines.at(1).startsWith(QStringLiteral("19\t10\t")) || lines.at(1).startsWith(QStringLiteral("20\t10\t")))
        << qPrintable(lines.at(1));
    EXPECT_EQ(inSight().col, 10);
    EXPECT_EQ(inSight().cols, 3);
}

TEST_F(HeatZoom, ABoxCanBeDrawnByKeysAndGivenUp)
{
    view.setCursor({0.305, 0.405});
    QTest::keyClick(&map, Qt::Key_Z);
    for (int i = 0; i < 9; ++i) {
        QTest::keyClick(&map, Qt::Key_Right);
        QTest::keyClick(&map, Qt::Key_Down);
    }
    QTest::keyClick(&map, Qt::Key_Z);
    EXPECT_EQ(inSight(), (replay::Region {40, 30, 10, 10}));
    QTest::keyClick(&map, Qt::Key_Home);
    EXPECT_EQ(inSight(), whole);
    QTest::keyClick(&map, Qt::Key_Right);
    QTest::keyClick(&map, Qt::Key_Z);
    QTest::keyClick(&map, Qt::Key_Down);
    QTest::keyClick(&map, Qt::Key_Escape);
    QTest::keyClick(&map, Qt::Key_Right);
    QTest::keyClick(&map, Qt::Key_Z);
    EXPECT_EQ(inSight(), whole) << "that was a new corner";
}

TEST_F(HeatZoom, EveryGestureIsOneStepBackAndForward)
{
    EXPECT_FALSE(view.canGoBack());
    for (int i = 0; i < 8; ++i) {
        turnWheel(map, {100, 100}, {0, 120});
    }
    const replay::Region zoomed = inSight();
    drag(map, {100, 100}, {60, 80});
    const replay::Region moved = inSight();
    EXPECT_NE(moved, zoomed);
    dragBox({moved.row + 2, moved.col + 2}, {moved.row + 6, moved.col + 6});
    const replay::Region boxed = inSight();
    mouse(map, QEvent::MouseButtonDblClick, {50, 50});
    EXPECT_EQ(inSight(), whole);
    QTest::keyClick(&map, Qt::Key_Backspace);
    EXPECT_EQ(inSight(), boxed);
    QTest::keyClick(&map, Qt::Key_Left, Qt::AltModifier);
    EXPECT_EQ(inSight(), moved);
    QTest::keyClick(&map, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(inSight(), zoomed);
    QTest::keyClick(&map, Qt::Key_Backspace);
    EXPECT_EQ(inSight(), whole);
    EXPECT_FALSE(view.canGoBack());
    QTest::keyClick(&map, Qt::Key_Backspace, Qt::ShiftModifier);
    EXPECT_EQ(inSight(), zoomed);
    QTest::keyClick(&map, Qt::Key_Right, Qt::AltModifier);
    EXPECT_EQ(inSight(), moved);
    QTest::keyClick(&map, Qt::Key_Plus);
    EXPECT_FALSE(view.canGoForward()) << "a new way forgets the old one";
}

TEST_F(HeatZoom, WhatMovesNothingLeavesNoTrace)
{
    mouse(map, QEvent::MouseButtonDblClick, {50, 50});
    turnWheel(map, {100, 100}, {0, -120});
    QTest::keyClick(&map, Qt::Key_PageDown);
    EXPECT_FALSE(view.canGoBack());
    drag(map, {100, 100}, {101, 101});
    EXPECT_FALSE(view.canGoBack());
}

TEST_F(HeatZoom, PagesAndTheOtherWheelMove)
{
    map.showRegion({40, 40, 20, 20});
    QTest::keyClick(&map, Qt::Key_PageDown);
    EXPECT_EQ(inSight(), (replay::Region {50, 40, 20, 20}));
    QTest::keyClick(&map, Qt::Key_PageUp, Qt::ShiftModifier);
    EXPECT_EQ(inSight(), (replay::Region {50, 30, 20, 20}));
    turnWheel(map, {100, 100}, {-120, 0});
    EXPECT_EQ(inSight(), (replay::Region {50, 32, 20, 20}));
}

TEST_F(HeatZoom, TheMenuBeginsABoxWhereItWasOpened)
{
    map.show();
    view.setCursor({0.305, 0.405});
    const auto choose = [this](const char* entry) {
        QTimer::singleShot(0, &map, [this, entry] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            ASSERT_NE(menu, nullptr);
            view.clearCursor();
            for (QAction* action : menu->actions()) {
                if (action->text().startsWith(QLatin1String(entry))) {
                    action->trigger();
                }
            }
            menu->close();
        });
        QContextMenuEvent event(QContextMenuEvent::Mouse, {100, 100}, map.mapToGlobal(QPoint(100, 100)));
        QCoreApplication::sendEvent(&map, &event);
    };
    choose("Begin a box here");
    view.setCursor({0.395, 0.495});
    choose("Zoom to the box that ends here");
    EXPECT_EQ(inSight(), (replay::Region {40, 30, 10, 10}));
    choose("Previous view");
    EXPECT_EQ(inSight(), whole);
}

TEST_F(HeatZoom, AMapThatIsAddedLaterTakesOverTheViewAndTheWayBack)
{
    dragBox({20, 10}, {39, 29});
    HeatMap later(&view);
    later.resize(200, 200);
    later.setPicture(matrix(100, 100));
    EXPECT_EQ(later.visibleRegion(), (replay::Region {20, 10, 20, 20}));
    QTest::keyClick(&later, Qt::Key_Backspace);
    EXPECT_EQ(inSight(), whole);
    QTest::keyClick(&later, Qt::Key_Backspace, Qt::ShiftModifier);
    EXPECT_EQ(inSight(), (replay::Region {20, 10, 20, 20}));
    EXPECT_EQ(later.elementRect(25, 15), map.elementRect(25, 15));
    FilmStrip strip(&view);
    Film film;
    film.frames.push_back({0, 0, OpName::input, matrix(100, 100), {}});
    strip.setFilm(std::make_shared<const Film>(film));
    QTest::keyClick(&strip, Qt::Key_Backspace);
    EXPECT_EQ(inSight(), whole) << "a film of the same frames leads there, too";
}

TEST(ViewHistory, AStepThatBeginsAtAStandstillIsStillOne)
{
    ViewHistory<int> history;
    history.leave(1, 2, Gesture::fresh);
    // A drag that is held back at first, then moves.
    history.leave(2, 2, Gesture::fresh);
    history.leave(2, 3, Gesture::ongoing);
    history.leave(3, 4, Gesture::ongoing);
    EXPECT_EQ(history.back(4), 2);
    EXPECT_EQ(history.back(2), 1);
    EXPECT_EQ(history.back(1), std::nullopt);
    EXPECT_EQ(history.forward(1), 2);
}

TEST(ViewHistory, TheWheelAfterGoingBackIsAStepOfItsOwn)
{
    ViewHistory<int> history;
    history.leave(1, 2, Gesture::wheel);
    history.leave(2, 3, Gesture::wheel);
    EXPECT_EQ(history.back(3), 1);
    history.leave(1, 5, Gesture::wheel);
    EXPECT_EQ(history.back(5), 1);
    EXPECT_EQ(history.back(1), std::nullopt);
}

TEST(ViewStepsTest, TheWindowGoesBackWhereItWasLastMoved)
{
    MainWindow window(test::quietOptions());
    const Actions& actions = window.actions();
    HeatView& tensors = *window.panes().tensors->view();
    HeatView& frames = *window.panes().frameView;
    TimelineView& steps = *window.panes().timeline->view();
    steps.setExtent(&window, Interval {0, 100});
    EXPECT_FALSE(actions.previousView->isEnabled());
    frames.zoomTo({0.5, 0.5}, 4, Gesture::fresh);
    tensors.zoomTo({0.5, 0.5}, 3, Gesture::fresh);
    steps.zoomTo({20, 40}, Gesture::fresh);
    actions.previousView->trigger();
    EXPECT_TRUE(steps.showsAll());
    EXPECT_EQ(tensors.zoom(), 3);
    actions.nextView->trigger();
    EXPECT_EQ(steps.steps(), (Interval {20, 40}));
    tensors.zoomTo({0.5, 0.5}, 6, Gesture::fresh);
    actions.previousView->trigger();
    EXPECT_EQ(tensors.zoom(), 3);
    EXPECT_TRUE(actions.nextView->isEnabled());
    tensors.reset();
    EXPECT_FALSE(actions.nextView->isEnabled());
    frames.fit();
    EXPECT_FALSE(actions.nextView->isEnabled());
    actions.previousView->trigger();
    EXPECT_EQ(frames.zoom(), 4);
}

TEST(ViewStepsTest, TheListOfKeysTellsThem)
{
    const MainWindow window(test::quietOptions());
    const std::vector<KeyRow> rows = keyRows(window);
    const auto has = [&](const char* keys, const char* what) {
        return std::ranges::any_of(rows, [&](const KeyRow& row) {
            return row.keys.contains(QLatin1String(keys)) && row.what.contains(QLatin1String(what));
        });
    };
    EXPECT_TRUE(has("Alt+Left", "Previous view"));
    EXPECT_TRUE(has("Alt+Right", "Next view"));
    EXPECT_TRUE(has("Shift+drag", "box"));
    EXPECT_TRUE(has("Z", "box"));
}

} // namespace nanscope
