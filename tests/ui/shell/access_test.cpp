// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a window owes to who works by keyboard or hears it: names, tips, keys that are told, a focus that is seen.
#include <algorithm>
#include <filesystem>

#include <QAbstractButton>
#include <QAccessible>
#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QDockWidget>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QSet>
#include <QStatusBar>
#include <QTabBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTextEdit>
#include <QToolBar>
#include <QToolButton>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "tests/ui/windowtest.h"
#include "ui/captures/capturespane.h"
#include "ui/shared/keys.h"
#include "ui/shared/text.h"
#include "ui/shell/keylist.h"
#include "ui/shell/mainwindow.h"
#include "ui/shell/panearea.h"
#include "ui/shell/taborder.h"
#include "ui/timeline/timelinepane.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;
using test::patienceMs;
using test::quietOptions;

/// The window on the sample run as it is shipped: judged, swept, with a film.
class Access : public testing::Test
{
protected:
    void SetUp() override
    {
        if (!fs::exists(fs::path(NANSCOPE_SAMPLE) / "sample.nanscope")) {
            GTEST_SKIP() << "no session beside the sample run";
        }
        qputenv("XDG_DATA_HOME", folder.filePath(QStringLiteral("home")).toUtf8());
        window.resize(1440, 900);
        window.show();
        window.openPath(QStringLiteral(NANSCOPE_SAMPLE));
        ASSERT_TRUE(QTest::qWaitFor(
            [this] { return window.workspace().settled() && window.panes().timeline->settled(); }, patienceMs));
    }

    std::vector<QWidget*> tabStops() const
    {
        std::vector<QWidget*> stops;
        for (QWidget* widget : window.findChildren<QWidget*>()) {
            if (widget->isVisible() && widget->isEnabled() && widget->focusPolicy() & Qt::TabFocus
                && !widget->focusProxy()) {
                stops.push_back(widget);
            }
        }
        return stops;
    }

    QTemporaryDir folder;
    MainWindow window {quietOptions()};
};

std::string described(const QWidget& widget)
{
    return std::string(widget.metaObject()->className()) + " \"" + widget.objectName().toStdString() + "\" in "
        + (widget.parent() ? widget.parent()->metaObject()->className() : "nothing");
}

/// Lets only one widget see a key, not the ones it lies in.
class OnlyTo : public QObject
{
public:
    explicit OnlyTo(QWidget* widget)
        : m_widget(widget)
    {
        qApp->installEventFilter(this);
    }

    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() != QEvent::KeyPress || watched == m_widget) {
            return false;
        }
        event->ignore();
        return true;
    }

private:
    QWidget* m_widget;
};

bool takesKey(QWidget& widget, int key, Qt::KeyboardModifiers modifiers)
{
    const OnlyTo alone(&widget);
    QKeyEvent event(QEvent::KeyPress, key, modifiers);
    QApplication::sendEvent(&widget, &event);
    return event.isAccepted();
}

bool tells(const std::vector<KeyHint>& hints, QKeyCombination pressed)
{
    return std::ranges::any_of(hints, [&](const KeyHint& hint) {
        return std::ranges::any_of(hint.keys,
            [&](const QKeySequence& keys) { return keys[0] == pressed || keys[0] == QKeyCombination(pressed.key()); });
    });
}

std::vector<int> keysToTry()
{
    std::vector<int> keys {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::Key_Home, Qt::Key_End,
        Qt::Key_PageUp, Qt::Key_PageDown, Qt::Key_Plus, Qt::Key_Minus, Qt::Key_Equal, Qt::Key_Backspace, Qt::Key_Delete,
        Qt::Key_Escape, Qt::Key_Space, Qt::Key_Return, Qt::Key_Enter};
    for (int key = Qt::Key_A; key <= Qt::Key_Z; ++key) {
        keys.push_back(key);
    }
    for (int key = Qt::Key_0; key <= Qt::Key_9; ++key) {
        keys.push_back(key);
    }
    return keys;
}

/// Painted by us, so that its keys are ours too; what Qt's tables, texts and buttons do is known.
bool handlesOwnKeys(const QWidget& widget)
{
    return QByteArray(widget.metaObject()->className()).startsWith("nanscope::")
        && !qobject_cast<const QAbstractButton*>(&widget) && !qobject_cast<const QAbstractItemView*>(&widget)
        && !qobject_cast<const QTextEdit*>(&widget);
}

} // namespace

TEST_F(Access, EveryTabStopHasAName)
{
    EXPECT_GE(tabStops().size(), 15U);
    for (QWidget* widget : tabStops()) {
        const QAccessibleInterface* shown = QAccessible::queryAccessibleInterface(widget);
        ASSERT_NE(shown, nullptr);
        EXPECT_FALSE(shown->text(QAccessible::Name).isEmpty()) << described(*widget);
    }
}

TEST_F(Access, EveryPaneAndToolButtonSaysWhatItIs)
{
    const auto docks = window.findChildren<QDockWidget*>();
    EXPECT_EQ(docks.size(), 4);
    for (const QDockWidget* dock : docks) {
        EXPECT_GE(dock->whatsThis().size(), 100) << dock->objectName().toStdString();
    }
    QSet<QString> texts;
    for (const NamedPane& named : window.findChild<PaneArea*>()->named()) {
        EXPECT_GE(named.pane->whatsThis().size(), 100) << named.name.toStdString();
        texts << named.pane->whatsThis();
    }
    EXPECT_EQ(static_cast<std::size_t>(texts.size()), window.findChild<PaneArea*>()->named().size());
    const auto buttons = window.findChild<QToolBar*>()->findChildren<QToolButton*>();
    int explained = 0;
    for (const QToolButton* button : buttons) {
        if (button->defaultAction()) {
            EXPECT_GE(button->whatsThis().size(), 60) << button->text().toStdString();
            ++explained;
        }
    }
    EXPECT_GE(explained, 6);
    EXPECT_EQ(window.actions().whatsThis->shortcut(), QKeySequence(Qt::SHIFT | Qt::Key_F1));
}

TEST_F(Access, TabVisitsEverythingOnceAndComesBack)
{
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    std::vector<QWidget*> expected = tabStops();
    window.panes().captures->view()->setFocus();
    std::vector<QWidget*> visited;
    do {
        QTest::keyClick(window.focusWidget(), Qt::Key_Tab);
        visited.push_back(window.focusWidget());
        ASSERT_LE(visited.size(), 2 * expected.size()) << "Tab goes round without coming back";
    } while (visited.back() != window.panes().captures->view());
    for (QWidget* widget : expected) {
        EXPECT_EQ(std::ranges::count(visited, widget), 1) << described(*widget);
    }
    EXPECT_EQ(visited.size(), expected.size());
    std::vector<QWidget*> back;
    do {
        QTest::keyClick(window.focusWidget(), Qt::Key_Backtab);
        back.push_back(window.focusWidget());
    } while (back.back() != window.panes().captures->view() && back.size() <= visited.size());
    std::ranges::reverse(visited);
    std::rotate(visited.begin(), visited.begin() + 1, visited.end());
    EXPECT_EQ(back, visited);
}

TEST_F(Access, TabReadsAPaneToItsEndBeforeTheNext)
{
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    const auto paneOf = [this](const QWidget* widget) {
        const auto& named = window.findChild<PaneArea*>()->named();
        const auto found =
            std::ranges::find_if(named, [&](const NamedPane& pane) { return pane.pane->isAncestorOf(widget); });
        return found == named.end() ? std::string() : found->name.toStdString();
    };
    std::vector<std::string> panes;
    QWidget* before = window.panes().captures->view();
    before->setFocus();
    for (std::size_t i = 0; i < tabStops().size(); ++i) {
        QTest::keyClick(window.focusWidget(), Qt::Key_Tab);
        QWidget* now = window.focusWidget();
        const std::string pane = paneOf(now);
        const QRect first(before->mapTo(&window, QPoint()), before->size());
        const QRect second(now->mapTo(&window, QPoint()), now->size());
        if (!pane.empty() && pane == paneOf(before)) {
            const bool above = second.bottom() <= first.top();
            EXPECT_FALSE(above && second.left() < first.right())
                << pane << ": " << described(*before) << " then, above it, " << described(*now);
            EXPECT_FALSE(second.right() <= first.left() && second.top() < first.center().y())
                << pane << ": " << described(*before) << " then, left of it, " << described(*now);
        } else if (!pane.empty()) {
            EXPECT_EQ(std::ranges::count(panes, pane), 0) << "Tab comes to " << pane << " twice";
            panes.push_back(pane);
        }
        before = now;
    }
    EXPECT_GE(panes.size(), 6U);
}

TEST_F(Access, WhatCanBeClickedCanBeReachedByTab)
{
    const std::vector<QWidget*> stops = nanscope::tabStops(window);
    for (QAbstractButton* button : window.findChildren<QAbstractButton*>()) {
        const bool ofAnother = !button->objectName().isEmpty() && button->objectName().startsWith(QLatin1String("qt_"));
        // A tab bar's arrows and a box's cross have keys of their own.
        const bool helper = ofAnother || qobject_cast<QTabBar*>(button->parentWidget())
            || qobject_cast<QLineEdit*>(button->parentWidget()) || qobject_cast<QTableView*>(button->parentWidget());
        if (button->isVisible() && button->isEnabled() && !helper) {
            EXPECT_EQ(std::ranges::count(stops, button), 1)
                << described(*button) << " " << button->text().toStdString();
        }
    }
}

TEST_F(Access, PanesBehindTabsAreNoTabStops)
{
    window.resize(800, 600);
    auto* area = window.findChild<PaneArea*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return area->isStacked(); }, patienceMs));
    QCoreApplication::processEvents();
    for (const QWidget* stop : nanscope::tabStops(window)) {
        const QPoint centre = stop->mapTo(&window, stop->rect().center());
        EXPECT_GT(centre.x(), -stop->width()) << described(*stop);
    }
    EXPECT_FALSE(nanscope::tabStops(window).empty());
}

TEST_F(Access, TitleAndStatusBarSayWhatIsOpen)
{
    EXPECT_TRUE(window.windowTitle().startsWith(QStringLiteral("sample (")));
    EXPECT_TRUE(window.windowTitle().endsWith(QStringLiteral("sample) – Nanscope")));
    const auto told = [this](const QString& text) {
        const auto labels = window.statusBar()->findChildren<QLabel*>();
        return std::ranges::any_of(
            labels, [&](const QLabel* label) { return label->isVisible() && label->text() == text; });
    };
    EXPECT_TRUE(told(QStringLiteral("10 captures")));
    window.panes().captures->setFilterText(QStringLiteral("role:birth"));
    EXPECT_TRUE(QTest::qWaitFor([&] { return told(QStringLiteral("2 of 10 captures · filter role:birth")); }))
        << "once the bar is laid out anew";
}

TEST_F(Access, EveryMenuEntrySaysWhatItDoes)
{
    int entries = 0;
    for (const QMenu* menu : window.menuBar()->findChildren<QMenu*>()) {
        for (const QAction* action : menu->actions()) {
            if (!action->isSeparator() && !action->menu()) {
                EXPECT_FALSE(action->statusTip().isEmpty()) << action->text().toStdString();
                ++entries;
            }
        }
    }
    EXPECT_GE(entries, 15);
}

TEST_F(Access, FocusIsSeenWhereverItIs)
{
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    window.setAttribute(Qt::WA_KeyboardFocusChange); // as after the first Tab
    for (QWidget* widget : tabStops()) {
        if (QWidget* other = window.focusWidget()) {
            other->clearFocus();
        }
        const QImage without = widget->grab().toImage();
        widget->setFocus(Qt::TabFocusReason);
        ASSERT_TRUE(widget->hasFocus()) << described(*widget);
        // Plots are drawn again a little later.
        EXPECT_TRUE(QTest::qWaitFor([&] { return widget->grab().toImage() != without; }, 2000)) << described(*widget);
    }
}

TEST_F(Access, PanesTellEveryKeyTheyTake)
{
    int users = 0;
    // A command of the window is no key of a pane, and some of them open dialogs.
    for (QAction* action : window.findChildren<QAction*>()) {
        action->setShortcuts(QList<QKeySequence>());
    }
    for (QWidget* widget : tabStops()) {
        if (!handlesOwnKeys(*widget)) {
            continue;
        }
        const auto* user = dynamic_cast<const KeyUser*>(widget);
        const std::vector<KeyHint> hints = user ? user->keyHints() : std::vector<KeyHint>();
        users += user ? 1 : 0;
        for (const int key : keysToTry()) {
            for (const Qt::KeyboardModifiers modifiers : {Qt::NoModifier, Qt::ControlModifier}) {
                const QKeyCombination pressed(modifiers, static_cast<Qt::Key>(key));
                if (takesKey(*widget, key, modifiers)) {
                    EXPECT_TRUE(tells(hints, pressed))
                        << described(*widget) << " takes " << QKeySequence(pressed).toString().toStdString();
                }
            }
        }
        for (const KeyHint& hint : hints) {
            for (const QKeySequence& keys : hint.keys) {
                EXPECT_TRUE(takesKey(*widget, keys[0].key(), keys[0].keyboardModifiers()))
                    << described(*widget) << " does not take " << keys.toString().toStdString();
            }
        }
    }
    EXPECT_GE(users, 4);
}

TEST_F(Access, ListOfKeysHoldsMenusPanesAndTables)
{
    const std::vector<KeyRow> rows = keyRows(window);
    const auto has = [&](const char* keys, const char* what) {
        return std::ranges::any_of(rows, [&](const KeyRow& row) {
            return row.keys.contains(QLatin1String(keys))
                && row.what.contains(QLatin1String(what), Qt::CaseInsensitive);
        });
    };
    EXPECT_TRUE(has("F5", "rescan"));
    EXPECT_TRUE(has("Ctrl+C", "Copy rows"));
    EXPECT_TRUE(has("B", "birth"));
    EXPECT_TRUE(has("A, B", "mark"));
    EXPECT_TRUE(has("wheel", "zoom"));
    for (const QAction* action : window.findChildren<QAction*>()) {
        if (!action->shortcut().isEmpty()) {
            EXPECT_TRUE(has(qPrintable(action->shortcut().toString(QKeySequence::NativeText)), ""))
                << action->text().toStdString();
        }
    }
}

TEST_F(Access, ListOfKeysCanBeSearched)
{
    QDialog* list = showKeyList(window);
    auto* view = list->findChild<QTableView*>();
    const int all = view->model()->rowCount();
    EXPECT_GT(view->columnWidth(2), view->columnWidth(0) + view->columnWidth(1)) << "what they do has the most words";
    list->findChild<QLineEdit*>()->setText(QStringLiteral("ZOOM"));
    EXPECT_GT(view->model()->rowCount(), 2);
    EXPECT_LT(view->model()->rowCount(), all / 2);
}

} // namespace nanscope
