// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How the panes lie: under names, floating, and reached by a key.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <QAction>
#include <QDockWidget>
#include <QInputDialog>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QTableView>
#include <QToolButton>

#include "core/model/verdict.h"
#include "tests/ui/openwindow.h"
#include "ui/captures/capturemodel.h"
#include "ui/captures/capturespane.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/framemap.h"
#include "ui/film/framepane.h"
#include "ui/findings/findingspane.h"
#include "ui/heatmap/heatmap.h"
#include "ui/report/reportpane.h"
#include "ui/shared/partsscroll.h"
#include "ui/shell/layoutdialog.h"
#include "ui/tensors/tensorspane.h"
#include "ui/timeline/timelinepane.h"
#include "ui/verdict/verdictpane.h"

namespace nanscope {

namespace {

class Layouts : public test::OpenWindow
{
protected:
    Layouts() { QSettings().clear(); }
    ~Layouts() override { QSettings().clear(); }

    void openSample(WindowOptions options = {})
    {
        options.theme = ThemeChoice::light;
        options.programs = {};
        options.resetLayout = options.resetLayout || !window;
        window.reset();
        window = std::make_unique<MainWindow>(options);
        window->resize(1440, 900);
        window->show();
        ASSERT_TRUE(open(std::filesystem::exists(folder / "sample") ? folder / "sample" : copySample()));
    }

    QDockWidget* dock(const char* name) const { return window->findChild<QDockWidget*>(QLatin1String(name)); }
    PaneArea* area() const { return window->findChild<PaneArea*>(); }

    void saveAs(const QString& name) const
    {
        window->actions().saveLayout->trigger();
        auto* dialog = window->findChild<QInputDialog*>();
        ASSERT_NE(dialog, nullptr);
        dialog->setTextValue(name);
        dialog->accept();
    }

    QAction* entry(const QMenu* menu, const QString& text) const
    {
        const auto actions = menu->actions();
        const auto found = std::ranges::find(actions, text, &QAction::text);
        return found == actions.end() ? nullptr : *found;
    }

    QStringList saved() const
    {
        QStringList names;
        for (const QAction* action : window->actions().layouts->actions()) {
            if (action->data().isValid() && !action->isSeparator()) {
                names << action->text();
            }
        }
        return names;
    }
};

} // namespace

TEST_F(Layouts, ComeBackByTheirName)
{
    openSample();
    EXPECT_TRUE(saved().isEmpty());
    EXPECT_FALSE(window->actions().manageLayouts->isEnabled());
    dock("faults")->hide();
    saveAs(QStringLiteral(" film & frame "));
    EXPECT_EQ(saved(), QStringList(QStringLiteral("film && frame")));
    window->actions().resetLayout->trigger();
    EXPECT_TRUE(dock("faults")->isVisible());
    QAction* action = entry(window->actions().layouts, QStringLiteral("film && frame"));
    ASSERT_NE(action, nullptr);
    action->trigger();
    EXPECT_FALSE(dock("faults")->isVisible());
    EXPECT_TRUE(dock("frame")->isVisible());
}

TEST_F(Layouts, InASmallWindowIsWhatALargeOneGoesBackTo)
{
    openSample();
    dock("faults")->hide();
    saveAs(QStringLiteral("narrow"));
    window->actions().resetLayout->trigger();
    window->resize(800, 600);
    ASSERT_TRUE(waitUntil([this] { return area()->isStacked(); }));
    entry(window->actions().layouts, QStringLiteral("narrow"))->trigger();
    EXPECT_TRUE(area()->isStacked());
    window->resize(1440, 900);
    ASSERT_TRUE(waitUntil([this] { return !area()->isStacked(); }));
    EXPECT_FALSE(dock("faults")->isVisible());
}

TEST_F(Layouts, OfAnotherVersionIsASentenceAndChangesNothing)
{
    openSample();
    WindowSettings(true).setLayout(QStringLiteral("old"), "not a layout");
    saveAs(QStringLiteral("new"));
    dock("faults")->hide();
    entry(window->actions().layouts, QStringLiteral("old"))->trigger();
    EXPECT_TRUE(sentence().contains(QStringLiteral("another version"))) << sentence().toStdString();
    EXPECT_FALSE(dock("faults")->isVisible());
    EXPECT_TRUE(dock("frame")->isVisible());
}

TEST_F(Layouts, AreRenamedAndDeleted)
{
    openSample();
    saveAs(QStringLiteral("a"));
    saveAs(QStringLiteral("b"));
    window->actions().manageLayouts->trigger();
    auto* dialog = window->findChild<LayoutDialog*>();
    ASSERT_NE(dialog, nullptr);
    dialog->list()->item(0)->setText(QStringLiteral("night"));
    ASSERT_TRUE(waitUntil([this] { return saved() == QStringList({QStringLiteral("b"), QStringLiteral("night")}); }));
    dialog->list()->item(0)->setText(QStringLiteral("night"));
    ASSERT_TRUE(waitUntil([&] { return dialog->list()->item(0)->text() == QStringLiteral("b"); }))
        << "a name that is taken is not taken twice";
    EXPECT_EQ(saved().size(), 2);
    dialog->list()->setCurrentRow(1);
    dialog->deleteButton()->click();
    EXPECT_EQ(saved(), QStringList(QStringLiteral("b")));
    dialog->deleteButton()->click();
    EXPECT_TRUE(saved().isEmpty());
    EXPECT_FALSE(dialog->deleteButton()->isEnabled());
}

TEST_F(Layouts, StartWithTheOneAskedForOrWithNone)
{
    openSample();
    dock("faults")->hide();
    saveAs(QStringLiteral("plain"));
    window->actions().resetLayout->trigger();
    dock("captures")->hide();
    window->close();
    WindowOptions asked;
    asked.layout = WindowSettings(true).layout(QStringLiteral("plain"));
    openSample(asked);
    EXPECT_FALSE(dock("faults")->isVisible());
    EXPECT_TRUE(dock("captures")->isVisible());
    window->close();
    openSample();
    EXPECT_FALSE(dock("faults")->isVisible()) << "what one leaves is what one comes back to";
    window->close();
    WindowOptions fresh;
    fresh.resetLayout = true;
    openSample(fresh);
    EXPECT_TRUE(dock("faults")->isVisible());
    EXPECT_EQ(saved(), QStringList(QStringLiteral("plain"))) << "what was saved under a name stays";
}

TEST_F(Layouts, FilterAskedForIsThereAtTheStart)
{
    WindowOptions options;
    options.filter = QStringLiteral("role:birth");
    openSample(options);
    EXPECT_EQ(window->panes().captures->listed(), QStringLiteral("2 of 10 captures · filter role:birth"));
    EXPECT_EQ(window->panes().captures->filterProblem(), QString());
    window->panes().captures->setFilterText(QStringLiteral("rank:7"));
    EXPECT_EQ(window->panes().captures->filterProblem(),
        QStringLiteral("None of 10 captures matches. Esc in the filter shows all."));
    window->panes().captures->setFilterText({});
    EXPECT_EQ(window->panes().captures->listed(), QStringLiteral("10 captures"));
    EXPECT_EQ(window->panes().captures->filterProblem(), QString());
}

TEST_F(Layouts, RolesAreWholeWordsWhereTheShapeMadeRoomForThem)
{
    openSample();
    const QTableView& list = *window->panes().captures->view();
    dock("captures")->setMinimumWidth(300);
    dock("captures")->setMaximumWidth(300);
    ASSERT_TRUE(waitUntil([&] { return list.isColumnHidden(CaptureModel::ShapeColumn); }));
    constexpr int mark = 17;
    const int word = list.fontMetrics().horizontalAdvance(QStringLiteral("downstream"));
    EXPECT_GE(list.columnWidth(CaptureModel::RoleColumn), word + mark);
}

TEST_F(Layouts, AFilterThatHidAllFromTheStartSelectsOnceItIsEmpty)
{
    WindowOptions options;
    options.filter = QStringLiteral("rank:77");
    openSample(options);
    EXPECT_EQ(window->workspace().capture(), nullptr);
    window->panes().captures->setFilterText({});
    EXPECT_NE(window->workspace().capture(), nullptr);
    EXPECT_TRUE(waitUntil([this] { return window->panes().verdict->headline() == QStringLiteral("Implementation"); }))
        << window->panes().verdict->headline().toStdString();
}

TEST_F(Layouts, ALongNameOfTheRunWidensNoDock)
{
    openSample();
    const int width = dock("captures")->width();
    const std::string name(120, 'n');
    std::filesystem::copy(folder / "sample", folder / name, std::filesystem::copy_options::recursive);
    ASSERT_TRUE(open(folder / name));
    QApplication::processEvents();
    EXPECT_EQ(dock("captures")->width(), width);
}

TEST_F(Layouts, TheAnswerGrowsWithWhatItSaysAndWithWhatIsOpenedInIt)
{
    openSample();
    for (const QSize size : {QSize(1280, 800), QSize(1280, 700)}) {
        window->resize(size);
        ASSERT_TRUE(waitUntil([&] { return window->size() == size && !area()->isStacked(); }));
        VerdictPane& pane = *window->panes().verdict;
        const auto fits = [&] { return pane.parts()->leastHeight() <= pane.parts()->viewport()->height(); };
        auto verdict = *window->workspace().verdict();
        const auto share = [&] { return area()->height() * 37 / 100; };
        while (pane.parts()->leastHeight() <= share()) {
            verdict.facts.replayed = false; // else the words are made anew
            verdict.summary += " and once more, since more lines are wanted than a share of the window holds";
            pane.showVerdict(*window->workspace().capture(), verdict);
            QApplication::processEvents();
        }
        EXPECT_TRUE(waitUntil(fits)) << "at " << size.height();
        EXPECT_GT(area()->answer()->height(), share());
        const int closed = area()->answer()->height();
        pane.setOpenList(VerdictPane::List::speaksFor);
        EXPECT_TRUE(waitUntil([&] { return area()->answer()->height() > closed; })) << "at " << size.height();
        pane.setOpenList(VerdictPane::List::none);
        EXPECT_TRUE(waitUntil([&] { return area()->answer()->height() == closed; })) << "at " << size.height();
    }
}

TEST_F(Layouts, AnOpenListKeepsItsRoomWhereTheNextCaptureHasNone)
{
    openSample();
    VerdictPane& pane = *window->panes().verdict;
    const auto fits = [&] { return pane.parts()->leastHeight() <= pane.parts()->viewport()->height(); };
    ASSERT_TRUE(waitUntil(fits));
    const int closed = area()->answer()->height();
    pane.setOpenList(VerdictPane::List::speaksFor);
    ASSERT_TRUE(waitUntil([&] { return area()->answer()->height() > closed && fits(); }));
    const int opened = area()->answer()->height();
    auto verdict = *window->workspace().verdict();
    verdict.facts.replayed = false;
    verdict.speaksFor.clear();
    pane.showVerdict(*window->workspace().capture(), verdict);
    QTest::qWait(200);
    EXPECT_EQ(area()->answer()->height(), opened);
    pane.setOpenList(VerdictPane::List::none);
    EXPECT_TRUE(waitUntil([&] { return area()->answer()->height() == closed; }));
}

TEST_F(Layouts, TheOpenTabComesBackWithItsRun)
{
    openSample();
    EXPECT_EQ(area()->front(), QStringLiteral("film"));
    area()->goTo(QStringLiteral("cliff"));
    window->close();
    openSample();
    EXPECT_EQ(area()->front(), QStringLiteral("cliff"));
    area()->goTo(QStringLiteral("sweep"));
    std::filesystem::copy(folder / "sample", folder / "other", std::filesystem::copy_options::recursive);
    window->panes().verdict->setOpenList(VerdictPane::List::next);
    ASSERT_TRUE(open(folder / "other"));
    EXPECT_EQ(window->panes().verdict->openList(), VerdictPane::List::none) << "what was read of another run";
    area()->goTo(QStringLiteral("report"));
    ASSERT_TRUE(open(folder / "sample"));
    EXPECT_EQ(area()->front(), QStringLiteral("sweep"));
}

TEST_F(Layouts, TheStepsLookedAtComeBackWithTheirRun)
{
    openSample();
    TimelineView* view = window->panes().timeline->view();
    const Interval all = view->steps();
    const Interval part {all.low + 2, all.low + 6};
    view->zoomTo(part, Gesture::fresh);
    view->setCursor(std::round(part.low + 1));
    window->close();
    openSample();
    view = window->panes().timeline->view();
    EXPECT_EQ(view->steps(), part);
    EXPECT_EQ(view->cursor(), std::round(part.low + 1));
    std::filesystem::copy(folder / "sample", folder / "other", std::filesystem::copy_options::recursive);
    ASSERT_TRUE(open(folder / "other"));
    EXPECT_TRUE(view->showsAll()) << "another run has its own";
    ASSERT_TRUE(open(folder / "sample"));
    EXPECT_EQ(view->steps(), part);
    window->actions().resetLayout->trigger();
    EXPECT_TRUE(view->showsAll());
}

TEST_F(Layouts, F6GoesFromPaneToPaneInSight)
{
    openSample();
    window->activateWindow();
    const auto focused = [this] {
        for (const NamedPane& named : area()->named()) {
            if (named.pane->isAncestorOf(QApplication::focusWidget())) {
                return named.name;
            }
        }
        return QString();
    };
    area()->goTo(QStringLiteral("captures"));
    QStringList visited;
    while (visited.size() < std::ssize(area()->named()) && !visited.contains(focused())) {
        visited << focused();
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6);
    }
    EXPECT_EQ(focused(), QStringLiteral("captures")) << "it comes round: " << visited.join(u' ').toStdString();
    for (const char* name : {"captures", "faults", "frame", "verdict", "film", "tensors"}) {
        EXPECT_TRUE(visited.contains(QLatin1String(name))) << name;
    }
    EXPECT_FALSE(visited.contains(QStringLiteral("sweep"))) << "it is behind a tab";
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6, Qt::ShiftModifier);
    EXPECT_EQ(focused(), visited.constLast());
}

TEST_F(Layouts, WhereTheFilterHidesWhatIsJudgedTheCardSaysSo)
{
    openSample();
    VerdictPane& pane = *window->panes().verdict;
    const auto clear = [&]() -> QToolButton* {
        for (auto* button : pane.findChildren<QToolButton*>()) {
            if (button->text() == QStringLiteral("Clear the filter") && button->isVisible()) {
                return button;
            }
        }
        return nullptr;
    };
    EXPECT_EQ(clear(), nullptr);
    const int selected = window->workspace().selected();
    window->panes().captures->setFilterText(QStringLiteral("downstream"));
    EXPECT_EQ(window->workspace().selected(), selected) << "a filter that is typed changes no answer";
    ASSERT_NE(clear(), nullptr);
    window->panes().captures->setFilterText(QStringLiteral("birth"));
    EXPECT_EQ(clear(), nullptr) << "it is listed again";
    window->panes().captures->setFilterText(QStringLiteral("downstream"));
    ASSERT_NE(clear(), nullptr);
    clear()->click();
    EXPECT_EQ(clear(), nullptr);
    EXPECT_TRUE(window->panes().captures->view()->currentIndex().isValid()) << "and marked in the list";
    EXPECT_EQ(window->workspace().selected(), selected);
}

TEST_F(Layouts, WhatIsDroppedAnywhereIsOpened)
{
    openSample();
    EXPECT_TRUE(window->acceptDrops());
    for (const QWidget* part : window->findChildren<QWidget*>()) {
        EXPECT_FALSE(part->acceptDrops() && part->window() == window.get()) << part->metaObject()->className();
    }
}

TEST_F(Layouts, TheAnswerIsAsHighAsItNeedsUnlessItsEdgeWasDragged)
{
    openSample();
    window->resize(1280, 800);
    const auto wholeAnswer = [this] {
        const PartsScroll* parts = window->panes().verdict->parts();
        return parts->leastHeight() <= parts->viewport()->height();
    };
    EXPECT_TRUE(waitUntil(wholeAnswer)) << area()->answer()->height() << " of " << area()->height();
    EXPECT_FALSE(area()->answerHeight());
    area()->setAnswerHeight(200);
    ASSERT_TRUE(waitUntil([this] { return area()->answer()->height() == 200; }));
    window->panes().captures->selectCapture(window->workspace().selected() == 0 ? 1 : 0);
    QApplication::processEvents();
    EXPECT_EQ(area()->answer()->height(), 200) << "the user's height stays";
    const QByteArray dragged = area()->saveLayout();
    window->actions().resetLayout->trigger();
    EXPECT_TRUE(waitUntil(wholeAnswer));
    const QByteArray following = area()->saveLayout();
    ASSERT_TRUE(area()->applyLayout(dragged));
    EXPECT_TRUE(waitUntil([this] { return area()->answer()->height() == 200; })) << "a layout keeps the height";
    ASSERT_TRUE(area()->applyLayout(following));
    EXPECT_FALSE(area()->answerHeight()) << "and that there is none";
    EXPECT_TRUE(waitUntil(wholeAnswer));
}

TEST_F(Layouts, OnlyItsOwnEdgeGivesTheAnswerAHeight)
{
    openSample();
    const auto drag = [this](QPoint from, QPoint by) {
        QTest::mousePress(area(), Qt::LeftButton, {}, from);
        QTest::mouseMove(area(), from + by);
        QApplication::processEvents(); // the separator follows by a timer
        QTest::mouseRelease(area(), Qt::LeftButton, {}, from + by);
        QApplication::processEvents();
    };
    const QRect answer = area()->answer()->geometry();
    const int captures = dock("captures")->width();
    drag({answer.left() - 3, answer.center().y()}, {60, 0});
    EXPECT_NE(dock("captures")->width(), captures) << "the list was made wider";
    EXPECT_FALSE(area()->answerHeight());
    drag({area()->answer()->geometry().center().x(), area()->answer()->geometry().bottom() + 3}, {0, 40});
    EXPECT_TRUE(area()->answerHeight());
}

TEST_F(Layouts, InASmallWindowTheAnswerSpansItsWholeWidth)
{
    openSample();
    window->resize(820, 600);
    ASSERT_TRUE(waitUntil([this] { return area()->isStacked(); }));
    EXPECT_TRUE(waitUntil([this] { return area()->answer()->width() > area()->width() * 9 / 10; }));
    window->resize(1440, 900);
    ASSERT_TRUE(waitUntil([this] { return !area()->isStacked(); }));
    EXPECT_TRUE(waitUntil([this] { return area()->answer()->width() < area()->width() * 9 / 10; }));
}

TEST_F(Layouts, AFilterThatShowsNothingIsNoRunWithoutCaptures)
{
    WindowOptions options;
    options.filter = QStringLiteral("rank:7");
    openSample(options);
    QStringList texts;
    for (const QLabel* label : window->panes().verdict->findChildren<QLabel*>()) {
        texts << label->text();
    }
    EXPECT_FALSE(texts.filter(QStringLiteral("The filter shows no capture")).isEmpty())
        << texts.join(QLatin1Char('\n')).toStdString();
    EXPECT_TRUE(texts.filter(QStringLiteral("No captures here")).isEmpty());
}

TEST_F(Layouts, KeysGoToThePanesInTheOrderOfTheMenu)
{
    openSample();
    window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(window.get()));
    dock("frame")->hide();
    const auto& named = area()->named();
    ASSERT_GE(named.size(), 9U);
    const auto entries = window->actions().panes->actions();
    for (int i = 0; i < 9; ++i) {
        const NamedPane& pane = named[static_cast<std::size_t>(i)];
        EXPECT_EQ(entries[i]->text(), pane.title);
        EXPECT_EQ(entries[i]->shortcut(), QKeySequence(QKeyCombination(Qt::ControlModifier, Qt::Key(Qt::Key_1 + i))));
        QTest::keyClick(window.get(), Qt::Key(Qt::Key_1 + i), Qt::ControlModifier);
        QWidget* focused = window->focusWidget();
        ASSERT_NE(focused, nullptr);
        EXPECT_TRUE(pane.pane == focused || pane.pane->isAncestorOf(focused))
            << pane.name.toStdString() << " has not got the focus, but " << focused->metaObject()->className();
        EXPECT_TRUE(focused->isVisible());
    }
    EXPECT_TRUE(dock("frame")->isVisible()) << "what was hidden is shown";
    QTest::keyClick(window.get(), Qt::Key_1, Qt::ControlModifier);
    EXPECT_TRUE(window->panes().captures->view()->hasFocus()) << "in the list rather than in its filter";
}

TEST_F(Layouts, AnswerStaysInSightAndTheTabsInTheirPlaceWhateverIsShown)
{
    openSample();
    for (const QSize size : {QSize(1440, 900), QSize(1280, 800), QSize(800, 600)}) {
        window->resize(size);
        ASSERT_TRUE(waitUntil([&] { return area()->isStacked() == (size.width() == 800); }));
        const QWidget* tabs = area()->centralWidget();
        // The docks settle in several turns of the event loop.
        ASSERT_TRUE(waitUntil([tabs, last = -1]() mutable { return std::exchange(last, tabs->y()) == tabs->y(); }));
        const int height = tabs->y();
        for (const NamedPane& pane : area()->named()) {
            area()->goTo(pane.name);
            EXPECT_TRUE(window->panes().verdict->isVisible()) << pane.name.toStdString();
            EXPECT_TRUE(window->panes().tensors->isVisible()) << pane.name.toStdString();
            EXPECT_EQ(tabs->y(), height) << pane.name.toStdString() << " at " << size.width();
        }
    }
}

TEST_F(Layouts, DocksTakeTheirWidthBackWhenASmallWindowGrows)
{
    openSample();
    window->resize(1280, 800);
    QCoreApplication::processEvents();
    const int width = dock("frame")->width();
    for (int smaller = 1240; smaller >= 800; smaller -= 40) {
        window->resize(smaller, 800);
        QCoreApplication::processEvents();
    }
    ASSERT_TRUE(waitUntil([&] { return area()->isStacked(); }));
    QTest::mouseClick(area(), Qt::LeftButton, {}, {1, 1});
    for (int larger = 840; larger <= 1280; larger += 40) {
        window->resize(larger, 800);
        QCoreApplication::processEvents();
    }
    EXPECT_TRUE(QTest::qWaitFor([&] { return dock("frame")->width() == width; }, 5000)) << dock("frame")->width();
}

TEST_F(Layouts, VerdictWithMuchToSayStaysAboveTheTabsAndMovesNoPane)
{
    openSample();
    window->resize(1280, 800);
    window->messageBar()->showMessage(QStringLiteral("1 file could not be used; everything else is open"), {});
    const VerdictPane& pane = *window->panes().verdict;
    const QWidget& tabs = *area()->centralWidget();
    auto verdict = *window->workspace().verdict();
    for (int lines = 2; lines < 16; lines += 2) {
        verdict.summary +=
            " and of 4 plausible variants each stays finite under 8 roundings, none of which ends like this";
        window->panes().verdict->showVerdict(*window->workspace().capture(), verdict);
        const auto bottom = [&] { return pane.mapTo(area(), QPoint(0, pane.height())).y(); };
        EXPECT_TRUE(QTest::qWaitFor([&] { return bottom() <= tabs.y(); }, 5000)) << bottom() - tabs.y();
        window->resize(1280, 800 - lines);
        QCoreApplication::processEvents();
        EXPECT_FALSE(area()->isStacked()) << "at " << window->height();
    }
}

TEST_F(Layouts, FloatingPaneIsDockedAgainByItsButtonItsMenuAndTheViewMenu)
{
    openSample();
    QDockWidget* frame = dock("frame");
    const auto actions = frame->titleBarWidget()->actions();
    const auto again = std::ranges::find(actions, QStringLiteral("Dock again"), &QAction::text);
    ASSERT_NE(again, actions.end());
    EXPECT_FALSE((*again)->isEnabled());
    EXPECT_EQ(frame->titleBarWidget()->contextMenuPolicy(), Qt::ActionsContextMenu);
    const auto buttons = frame->titleBarWidget()->findChildren<QToolButton*>();
    const auto button = std::ranges::find(buttons, *again, &QToolButton::defaultAction);
    ASSERT_NE(button, buttons.end());
    EXPECT_FALSE((*button)->isVisible());
    frame->setFloating(true);
    EXPECT_TRUE((*button)->isVisible());
    (*button)->click();
    EXPECT_FALSE(frame->isFloating());
    EXPECT_FALSE((*button)->isVisible());
    frame->setFloating(true);
    (*again)->trigger();
    EXPECT_FALSE(frame->isFloating());
    frame->setFloating(true);
    dock("captures")->setFloating(true);
    entry(window->actions().panes, QStringLiteral("&Dock all floating panes"))->trigger();
    EXPECT_FALSE(frame->isFloating());
    EXPECT_FALSE(dock("captures")->isFloating());
}

TEST_F(Layouts, RunOfLogsAlonePutsAwayWhatOnlyCapturesFill)
{
    openSample();
    dock("faults")->hide();
    window->resize(1440, 900);
    const int captures = dock("captures")->width();
    const int answer = area()->answer()->height();
    const std::filesystem::path logs = folder / "logs";
    std::filesystem::create_directory(logs);
    std::filesystem::copy_file(folder / "sample" / "console.log", logs / "console.log");
    ASSERT_TRUE(open(logs));
    for (const char* name : {"captures", "faults", "frame"}) {
        EXPECT_FALSE(dock(name)->isVisible()) << name;
    }
    const Panes& panes = window->panes();
    EXPECT_FALSE(panes.tensors->isVisible());
    EXPECT_LT(area()->answer()->height(), answer / 2) << "nothing was captured that could be shown";
    EXPECT_TRUE(panes.timeline->isVisible()) << "below the tabs";
    EXPECT_TRUE(panes.findings->isVisible());
    EXPECT_GT(panes.timeline->width(), area()->width() * 9 / 10);
    EXPECT_TRUE(area()->capturePanesButton()->isVisible());
    ASSERT_TRUE(open(folder / "sample"));
    // What the answer needs is said behind its layout.
    EXPECT_TRUE(waitUntil([&] { return area()->answer()->height() == answer; })) << area()->answer()->height();
    EXPECT_TRUE(dock("captures")->isVisible());
    EXPECT_EQ(dock("captures")->width(), captures);
    EXPECT_FALSE(dock("faults")->isVisible()) << "as the user left it";
    EXPECT_TRUE(panes.film->isVisible());
    EXPECT_TRUE(panes.tensors->isVisible());
    EXPECT_FALSE(panes.timeline->isVisible()) << "behind its tab again";
    EXPECT_FALSE(area()->capturePanesButton()->isVisible());
}

TEST_F(Layouts, PanesOfCapturesComeBackByTheirButtonAndWithTheFirstCapture)
{
    const std::filesystem::path logs = folder / "sample";
    std::filesystem::create_directory(logs);
    std::filesystem::copy_file(NANSCOPE_SAMPLE "/console.log", logs / "console.log");
    openSample();
    EXPECT_FALSE(dock("captures")->isVisible());
    Q_EMIT window->actions().panes->aboutToShow();
    EXPECT_TRUE(entry(window->actions().panes, QStringLiteral("Show panes of captures"))->isVisible());
    entry(window->actions().panes, QStringLiteral("Show panes of captures"))->trigger();
    EXPECT_TRUE(area()->capturePanesButton()->isChecked()) << "the button says it, too";
    EXPECT_TRUE(dock("captures")->isVisible());
    EXPECT_TRUE(dock("frame")->isVisible());
    area()->capturePanesButton()->click();
    EXPECT_FALSE(dock("frame")->isVisible());
    window->actions().resetLayout->trigger();
    EXPECT_FALSE(dock("frame")->isVisible());
    saveAs(QStringLiteral("all"));
    entry(window->actions().layouts, QStringLiteral("all"))->trigger();
    EXPECT_TRUE(dock("frame")->isVisible()) << "who asks for a layout wants to see it";
    area()->capturePanesButton()->click();
    window->resize(800, 600);
    EXPECT_FALSE(dock("frame")->isVisible());
    window->resize(1440, 900);
    std::filesystem::copy(NANSCOPE_SAMPLE "/dion_nan_captures", logs / "dion_nan_captures");
    window->actions().rescan->trigger();
    ASSERT_TRUE(settle());
    EXPECT_TRUE(dock("captures")->isVisible());
    EXPECT_TRUE(dock("frame")->isVisible());
}

TEST_F(Layouts, PanesOfCapturesShowNothingOfTheRunBefore)
{
    openSample();
    const Panes& panes = window->panes();
    ASSERT_TRUE(waitUntil([&] { return panes.tensors->outputMap()->picture() && panes.frame->map()->frame(); }));
    const std::filesystem::path logs = folder / "logs";
    std::filesystem::create_directory(logs);
    std::filesystem::copy_file(NANSCOPE_SAMPLE "/console.log", logs / "console.log");
    ASSERT_TRUE(open(logs));
    area()->capturePanesButton()->click();
    EXPECT_EQ(panes.tensors->outputMap()->picture(), nullptr);
    EXPECT_EQ(panes.tensors->inputMap()->picture(), nullptr);
    EXPECT_EQ(panes.tensors->outputMap()->accessibleDescription(), QStringLiteral("No capture is selected"));
    EXPECT_EQ(panes.frame->map()->frame(), nullptr);
    EXPECT_EQ(panes.film->strip()->film(), nullptr);
}

TEST_F(Layouts, NamesMayHoldWhatKeysOfSettingsMayNot)
{
    WindowSettings settings(true);
    const QString name = QStringLiteral("a/b %2F Ω");
    settings.setLayout(name, "1");
    settings.setLayout(QStringLiteral("A"), "2");
    EXPECT_EQ(settings.layoutNames(), QStringList({QStringLiteral("A"), name}));
    EXPECT_EQ(settings.layout(name), QByteArray("1"));
    settings.renameLayout(name, QStringLiteral("A"));
    EXPECT_EQ(settings.layoutNames(), QStringList(QStringLiteral("A")));
    EXPECT_EQ(settings.layout(QStringLiteral("A")), QByteArray("1"));
    WindowSettings(false).removeLayout(QStringLiteral("A"));
    EXPECT_EQ(settings.layoutNames().size(), 1) << "who remembers nothing forgets nothing";
}

} // namespace nanscope
