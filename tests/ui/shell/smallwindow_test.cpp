// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDockWidget>
#include <QTabBar>
#include <QTest>

#include <gtest/gtest.h>

#include "core/model/verdict.h"
#include "tests/ui/samples.h"
#include "ui/film/filmstrip.h"
#include "ui/heatmap/heatlegend.h"
#include "ui/heatmap/heatview.h"
#include "ui/shell/panearea.h"
#include "ui/verdict/verdictpane.h"

namespace nanscope {

namespace {

bool waitFor(const std::function<bool()>& condition)
{
    return QTest::qWaitFor(condition, 5000);
}

/// Widths of the docks of a large window that is laid out by this.
std::vector<int> widthsBy(const QByteArray& saved)
{
    PaneArea area;
    area.resize(1280, 760);
    area.show();
    area.layOut(saved);
    QCoreApplication::processEvents();
    std::vector<int> widths;
    for (const char* name : {"captures", "frame"}) {
        widths.push_back(area.findChild<QDockWidget*>(QLatin1String(name))->width());
    }
    return widths;
}

/// What a small window leaves behind that was begun with this.
QByteArray afterSmallWindow(const QByteArray& saved)
{
    PaneArea area;
    area.resize(800, 520);
    area.show();
    area.layOut(saved);
    QCoreApplication::processEvents();
    EXPECT_TRUE(area.isStacked());
    return area.saveLayout();
}

TEST(PaneAreaLayout, IsNotSpoiltByAVisitInASmallWindow)
{
    const auto usual = widthsBy({});
    EXPECT_EQ(widthsBy(afterSmallWindow({})), usual);
    PaneArea area;
    area.resize(1280, 760);
    area.show();
    area.layOut({});
    QCoreApplication::processEvents();
    const QByteArray saved = area.saveLayout();
    EXPECT_EQ(widthsBy(afterSmallWindow(saved)), widthsBy(saved));
    EXPECT_TRUE(area.applyLayout(afterSmallWindow({}))) << "it can be given a name, too";
}

class SmallWindow : public testing::Test
{
protected:
    SmallWindow()
    {
        area.resize(1400, 800);
        area.show();
        area.layOut({});
        QCoreApplication::processEvents();
    }

    std::vector<QDockWidget*> docks() const
    {
        std::vector<QDockWidget*> movable;
        for (QDockWidget* dock : area.findChildren<QDockWidget*>()) {
            if (dock->features().testFlag(QDockWidget::DockWidgetMovable)) {
                movable.push_back(dock);
            }
        }
        return movable;
    }

    PaneArea area;
};

} // namespace

TEST_F(SmallWindow, WantsNoMoreThanASmallScreenHas)
{
    EXPECT_LE(area.minimumSizeHint().width(), 760);
    EXPECT_LE(area.minimumSizeHint().height(), 460);
}

TEST_F(SmallWindow, PanesGoBehindTabsAndComeBack)
{
    EXPECT_FALSE(area.isStacked());
    QDockWidget* captures = docks().front();
    EXPECT_TRUE(area.tabifiedDockWidgets(captures).isEmpty());
    const QByteArray wide = area.saveLayout();
    area.resize(784, 490);
    ASSERT_TRUE(waitFor([this] { return area.isStacked(); }));
    EXPECT_EQ(area.tabifiedDockWidgets(captures).size() + 1, static_cast<qsizetype>(docks().size()));
    EXPECT_EQ(area.saveLayout(), wide) << "a small window is no reason to forget the layout of a large one";
    area.resize(1400, 800);
    ASSERT_TRUE(waitFor([this] { return !area.isStacked(); }));
    EXPECT_TRUE(area.tabifiedDockWidgets(captures).isEmpty());
}

TEST_F(SmallWindow, PanesOfCapturesThatComeFirstInItHaveTheirWidthInALargeOne)
{
    const auto widthsIn = [](const PaneArea& area) {
        std::vector<int> widths;
        for (const char* name : {"captures", "faults", "frame"}) {
            widths.push_back(area.findChild<QDockWidget*>(QLatin1String(name))->width());
        }
        return widths;
    };
    PaneArea ofLogs;
    ofLogs.resize(1400, 800);
    ofLogs.show();
    ofLogs.layOut({});
    ofLogs.setLogsOnly(true);
    QCoreApplication::processEvents();
    ofLogs.resize(784, 490);
    QCoreApplication::processEvents();
    ofLogs.setLogsOnly(false);
    ASSERT_TRUE(waitFor([&] { return ofLogs.isStacked(); }));
    ofLogs.resize(1400, 800);
    EXPECT_TRUE(waitFor([&] { return !ofLogs.isStacked() && widthsIn(ofLogs) == widthsIn(area); }))
        << testing::PrintToString(widthsIn(ofLogs));
}

TEST_F(SmallWindow, AnswerAndTabsKeepMoreThanHalfOfASmallWindow)
{
    area.resize(784, 490);
    ASSERT_TRUE(waitFor([this] { return area.isStacked(); }));
    QCoreApplication::processEvents();
    EXPECT_GE(area.centralWidget()->width(), area.width() / 2);
    EXPECT_GE(area.centralWidget()->height(), area.height() * 45 / 100);
    const QRect answer = area.panes().verdict->geometry();
    EXPECT_GE(answer.width(), area.width() / 5);
    EXPECT_GE(answer.height(), area.height() / 5);
}

TEST(SmallPane, FilmStripSurvivesHavingNoRoom)
{
    HeatView view;
    FilmStrip strip(&view);
    auto film = std::make_shared<Film>();
    FilmFrame frame;
    frame.picture = std::make_shared<const MatrixPicture>(test::makePicture(4, 4));
    film->frames = {frame, frame};
    strip.setFilm(film);
    for (const QSize size : {QSize(1, 1), QSize(130, 10), QSize(10, 130)}) {
        strip.resize(size);
        EXPECT_EQ(strip.grab().size(), size * strip.devicePixelRatio());
    }
}

TEST(SmallPane, LegendBreaksIntoLinesInsteadOfBeingCut)
{
    const ClassLegend legend;
    const int line = legend.sizeHint().height();
    EXPECT_EQ(legend.heightForWidth(legend.sizeHint().width()), line);
    EXPECT_EQ(legend.heightForWidth(legend.sizeHint().width() - 1), 2 * line);
    EXPECT_GE(legend.heightForWidth(legend.minimumSizeHint().width()), 3 * line);
}

TEST(SmallPane, EvidenceOfAVerdictIsClosedUntilItIsAskedFor)
{
    VerdictPane pane;
    pane.resize(600, 800);
    pane.show();
    pane.showVerdict(test::makeRun()->captures[2], test::makeDiagnosis()->captures[0]);
    EXPECT_EQ(pane.openList(), VerdictPane::List::none);
    EXPECT_TRUE(pane.listText().isEmpty());
    pane.setOpenList(VerdictPane::List::speaksFor);
    EXPECT_FALSE(pane.listText().isEmpty());
}

} // namespace nanscope
