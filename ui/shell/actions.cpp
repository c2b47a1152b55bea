// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions.h"

#include <QAction>
#include <QActionGroup>
#include <QCoreApplication>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QToolBar>
#include <QToolButton>
#include <QWhatsThis>

namespace nanscope {

namespace {

struct ActionsWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::Actions)
};

QAction* make(QMainWindow& window, const QString& text, const QKeySequence& shortcut, const QString& tip)
{
    auto* action = new QAction(text, &window);
    action->setShortcut(shortcut);
    setTip(*action, tip);
    return action;
}

void makeFileActions(Actions& a, QMainWindow& window)
{
    a.openFolder = make(window, ActionsWords::tr("&Open folder…"), QKeySequence::Open,
        ActionsWords::tr("Open a folder with dumps, logs or both"));
    a.openFile = make(window, ActionsWords::tr("Open &file…"), Qt::CTRL | Qt::SHIFT | Qt::Key_O,
        ActionsWords::tr("Open one capture or a session file"));
    a.openSample = make(window, ActionsWords::tr("Open the &sample run"), {},
        ActionsWords::tr("A small run with two faults: a tile that a kernel left unwritten, and an overflow in fp16"));
    a.rescan =
        make(window, ActionsWords::tr("&Rescan"), Qt::Key_F5, ActionsWords::tr("Look for new files and judge again"));
    a.follow = make(window, ActionsWords::tr("&Follow the folder"), {},
        ActionsWords::tr("Show new lines and dumps as they are written"));
    a.follow->setCheckable(true);
    a.follow->setChecked(true);
    a.pin = make(window, ActionsWords::tr("&Pin this folder"), {},
        ActionsWords::tr("Keep what is open above the recent ones, in the menu and on the start page"));
    a.pin->setCheckable(true);
    a.compareRuns = make(window, ActionsWords::tr("Compare with another &run…"), Qt::CTRL | Qt::SHIFT | Qt::Key_D,
        ActionsWords::tr(
            "Hold the open run against another one: the first step that differs, and what differs in the settings"));
    a.quit = make(window, ActionsWords::tr("&Quit"), QKeySequence::Quit, ActionsWords::tr("Close the window"));
    a.recent = new QMenu(ActionsWords::tr("Open &recent"), &window);
    a.recent->setObjectName(QStringLiteral("recent"));
}

void makeUserContextActions(Actions& a, QMainWindow& window)
{
    a.addVariants = make(window, ActionsWords::tr("Own &variants…"), {},
        ActionsWords::tr(
            "Newton-Schulz variants of your own, as JSON: swept, compared and judged like the published ones"));
    a.addParameters = make(window, ActionsWords::tr("&Parameter names…"), {},
        ActionsWords::tr("Names and shapes of the model's parameters, so that a capture names its layer"));
    a.addEnvironment = make(window, ActionsWords::tr("&Environment…"), {},
        ActionsWords::tr("What `nanscope env --json` wrote in the training environment: versions, GPUs, variables"));
    a.addAdvisories = make(window, ActionsWords::tr("&Advisories…"), {},
        ActionsWords::tr("Published problems of packages to look for besides those that come with Nanscope"));
    a.showKnown = make(window, ActionsWords::tr("&What is known of this run…"), Qt::CTRL | Qt::Key_K,
        ActionsWords::tr(
            "The files and answers that you gave for this run: what each holds, to add to and to take back"));
}

void makeCaptureActions(Actions& a, QMainWindow& window)
{
    a.sweep = make(window, ActionsWords::tr("&Sweep"), Qt::CTRL | Qt::Key_R, sweepTip());
    a.cancel =
        make(window, ActionsWords::tr("&Cancel"), Qt::CTRL | Qt::Key_Period, ActionsWords::tr("Stop what is running"));
    a.exportReport = make(window, ActionsWords::tr("&Export report…"), Qt::CTRL | Qt::Key_E,
        ActionsWords::tr("Write the report as Markdown, web page or JSON"));
    a.exportBundle = make(window, ActionsWords::tr("Export report &bundle…"), {},
        ActionsWords::tr("Write one zip with the report in every form, small enough for an issue"));
    a.copyIssueText = make(window, ActionsWords::tr("&Copy as issue text"), Qt::CTRL | Qt::SHIFT | Qt::Key_C,
        ActionsWords::tr("Put the report into the clipboard"));
    a.undoAnswer = make(window, ActionsWords::tr("&Undo answer"), QKeySequence::Undo,
        ActionsWords::tr("Take back what was last answered, ticked or tried; what ran is replayed again"));
    a.redoAnswer = make(window, ActionsWords::tr("&Redo answer"), QKeySequence::Redo,
        ActionsWords::tr("Answer again what was taken back"));
}

void makeViewActions(Actions& a, QMainWindow& window)
{
    a.filter = make(
        window, ActionsWords::tr("&Filter captures"), QKeySequence::Find, ActionsWords::tr("Go to the filter box"));
    a.fitView = make(
        window, ActionsWords::tr("Fit &heat maps"), Qt::CTRL | Qt::Key_0, ActionsWords::tr("Show both matrices whole"));
    a.previousView = make(window, ActionsWords::tr("Pre&vious view"), Qt::ALT | Qt::Key_Left,
        ActionsWords::tr("Where the heat maps or timelines that were last moved looked before"));
    a.nextView =
        make(window, ActionsWords::tr("&Next view"), Qt::ALT | Qt::Key_Right, ActionsWords::tr("Undo going back"));
    a.compare = make(window, ActionsWords::tr("&Compare two cells"), Qt::CTRL | Qt::Key_D,
        ActionsWords::tr("Show a second cell below the first, step by step"));
    a.compare->setCheckable(true);
    a.swapCells = make(window, ActionsWords::tr("S&wap the two cells"), Qt::Key_X,
        ActionsWords::tr("The first cell becomes the second and the reverse"));
    a.swapCells->setEnabled(false);
    a.themeSystem = make(window, ActionsWords::tr("&System"), {}, ActionsWords::tr("Follow the desktop"));
    a.themeLight = make(window, ActionsWords::tr("&Light"), {}, ActionsWords::tr("Light colours"));
    a.themeDark = make(window, ActionsWords::tr("&Dark"), {}, ActionsWords::tr("Dark colours"));
    auto* themes = new QActionGroup(&window);
    for (QAction* action : {a.themeSystem, a.themeLight, a.themeDark}) {
        action->setCheckable(true);
        themes->addAction(action);
    }
    a.panes = new QMenu(ActionsWords::tr("&Panes"), &window);
    a.layouts = new QMenu(ActionsWords::tr("&Layouts"), &window);
    a.saveLayout =
        make(window, ActionsWords::tr("&Save layout as…"), {}, ActionsWords::tr("Keep how the panes lie under a name"));
    a.manageLayouts =
        make(window, ActionsWords::tr("&Manage layouts…"), {}, ActionsWords::tr("Rename or delete saved layouts"));
    a.resetLayout = make(
        window, ActionsWords::tr("&Restore default layout"), {}, ActionsWords::tr("Give every pane its first size"));
    a.whatsThis = QWhatsThis::createAction(&window);
    a.whatsThis->setText(ActionsWords::tr("&What is this?"));
    a.whatsThis->setStatusTip(ActionsWords::tr("Click on a pane or a button to read what it shows and how to read it"));
    a.shortcuts = make(window, ActionsWords::tr("Commands and &keys"), QKeySequence::HelpContents,
        ActionsWords::tr("Every command and key, to search"));
    a.about = make(window, ActionsWords::tr("&About Nanscope"), {}, ActionsWords::tr("Version and licences"));
}

void fillMenus(const Actions& a, QMainWindow& window)
{
    QMenu* file = window.menuBar()->addMenu(ActionsWords::tr("&File"));
    file->addActions({a.openFolder, a.openFile});
    file->addMenu(a.recent);
    file->addActions({a.openSample, a.pin, a.rescan, a.follow, a.compareRuns});
    file->addSeparator();
    file->addMenu(ActionsWords::tr("&Add to this run"))
        ->addActions({a.addVariants, a.addParameters, a.addEnvironment, a.addAdvisories});
    file->addAction(a.showKnown);
    file->addSeparator();
    file->addActions({a.exportReport, a.exportBundle});
    file->addSeparator();
    file->addAction(a.quit);
    window.menuBar()
        ->addMenu(ActionsWords::tr("&Edit"))
        ->addActions({a.undoAnswer, a.redoAnswer, a.filter, a.copyIssueText});
    QMenu* view = window.menuBar()->addMenu(ActionsWords::tr("&View"));
    QMenu* theme = view->addMenu(ActionsWords::tr("&Theme"));
    theme->addActions({a.themeSystem, a.themeLight, a.themeDark});
    view->addMenu(a.panes);
    a.layouts->addActions({a.saveLayout, a.manageLayouts, a.resetLayout});
    view->addMenu(a.layouts);
    view->addActions({a.compare, a.swapCells});
    view->addSeparator();
    view->addActions({a.previousView, a.nextView, a.fitView});
    window.menuBar()->addMenu(ActionsWords::tr("&Capture"))->addActions({a.sweep, a.cancel});
    window.menuBar()->addMenu(ActionsWords::tr("&Help"))->addActions({a.shortcuts, a.whatsThis, a.about});
}

void fillToolBar(const Actions& a, QMainWindow& window)
{
    auto* bar = window.addToolBar(ActionsWords::tr("Tools"));
    bar->setObjectName(QStringLiteral("tools"));
    bar->setMovable(false);
    bar->setContextMenuPolicy(Qt::PreventContextMenu);
    bar->setToolButtonStyle(Qt::ToolButtonTextOnly);
    bar->addActions({a.openFolder, a.rescan, a.sweep, a.cancel, a.compare, a.exportReport});
    for (QToolButton* button : bar->findChildren<QToolButton*>(QString(), Qt::FindDirectChildrenOnly)) {
        button->setFocusPolicy(Qt::TabFocus);
    }
    bar->widgetForAction(a.sweep)->setObjectName(QStringLiteral("primary"));
}

} // namespace

QString sweepTip()
{
    return ActionsWords::tr("Replay the selected capture under the variants and formats that are chosen");
}

void setTip(QAction& action, const QString& tip)
{
    const QString keys = action.shortcut().toString(QKeySequence::NativeText);
    action.setStatusTip(tip);
    action.setToolTip(keys.isEmpty() ? tip : QStringLiteral("%1 (%2)").arg(tip, keys));
}

Actions makeActions(QMainWindow& window)
{
    Actions actions;
    makeFileActions(actions, window);
    makeUserContextActions(actions, window);
    makeCaptureActions(actions, window);
    makeViewActions(actions, window);
    fillMenus(actions, window);
    fillToolBar(actions, window);
    return actions;
}

} // namespace nanscope
