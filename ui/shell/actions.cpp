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

struct Words
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
    a.openFolder = make(
        window, Words::tr("&Open folder…"), QKeySequence::Open, Words::tr("Open a folder with dumps, logs or both"));
    a.openFile = make(window, Words::tr("Open &file…"), Qt::CTRL | Qt::SHIFT | Qt::Key_O,
        Words::tr("Open one capture or a session file"));
    a.openSample = make(window, Words::tr("Open the &sample run"), {},
        Words::tr("A small run with two faults: a tile that a kernel left unwritten, and an overflow in fp16"));
    a.rescan = make(window, Words::tr("&Rescan"), Qt::Key_F5, Words::tr("Look for new files and judge again"));
    a.follow =
        make(window, Words::tr("&Follow the folder"), {}, Words::tr("Show new lines and dumps as they are written"));
    a.follow->setCheckable(true);
    a.follow->setChecked(true);
    a.pin = make(window, Words::tr("&Pin this folder"), {},
        Words::tr("Keep what is open above the recent ones, in the menu and on the start page"));
    a.pin->setCheckable(true);
    a.compareRuns = make(window, Words::tr("Compare with another &run…"), Qt::CTRL | Qt::SHIFT | Qt::Key_D,
        Words::tr(
            "Hold the open run against another one: the first step that differs, and what differs in the settings"));
    a.quit = make(window, Words::tr("&Quit"), QKeySequence::Quit, Words::tr("Close the window"));
    a.recent = new QMenu(Words::tr("Open &recent"), &window);
    a.recent->setObjectName(QStringLiteral("recent"));
}

void makeUserContextActions(Actions& a, QMainWindow& window)
{
    a.addVariants = make(window, Words::tr("Own &variants…"), {},
        Words::tr("Newton-Schulz variants of your own, as JSON: swept, compared and judged like the published ones"));
    a.addParameters = make(window, Words::tr("&Parameter names…"), {},
        Words::tr("Names and shapes of the model's parameters, so that a capture names its layer"));
    a.addEnvironment = make(window, Words::tr("&Environment…"), {},
        Words::tr("What `nanscope env --json` wrote in the training environment: versions, GPUs, variables"));
    a.addAdvisories = make(window, Words::tr("&Advisories…"), {},
        Words::tr("Published problems of packages to look for besides those that come with Nanscope"));
    a.showKnown = make(window, Words::tr("&What is known of this run…"), Qt::CTRL | Qt::Key_K,
        Words::tr("The files and answers that you gave for this run: what each holds, to add to and to take back"));
}

void makeCaptureActions(Actions& a, QMainWindow& window)
{
    a.sweep = make(window, Words::tr("&Sweep"), Qt::CTRL | Qt::Key_R,
        Words::tr("Replay the selected capture under the variants and formats that are chosen"));
    a.cancel = make(window, Words::tr("&Cancel"), Qt::CTRL | Qt::Key_Period, Words::tr("Stop what is running"));
    a.exportReport = make(window, Words::tr("&Export report…"), Qt::CTRL | Qt::Key_E,
        Words::tr("Write the report as Markdown, web page or JSON"));
    a.exportBundle = make(window, Words::tr("Export report &bundle…"), {},
        Words::tr("Write one zip with the report in every form, small enough for an issue"));
    a.copyIssueText = make(window, Words::tr("&Copy as issue text"), Qt::CTRL | Qt::SHIFT | Qt::Key_C,
        Words::tr("Put the report into the clipboard"));
}

void makeViewActions(Actions& a, QMainWindow& window)
{
    a.filter = make(window, Words::tr("&Filter captures"), QKeySequence::Find, Words::tr("Go to the filter box"));
    a.fitView = make(window, Words::tr("Fit &heat maps"), Qt::CTRL | Qt::Key_0, Words::tr("Show both matrices whole"));
    a.previousView = make(window, Words::tr("Pre&vious view"), Qt::ALT | Qt::Key_Left,
        Words::tr("Where the heat maps or timelines that were last moved looked before"));
    a.nextView = make(window, Words::tr("&Next view"), Qt::ALT | Qt::Key_Right, Words::tr("Undo going back"));
    a.compare = make(window, Words::tr("&Compare two cells"), Qt::CTRL | Qt::Key_D,
        Words::tr("Show a second cell below the first, step by step"));
    a.compare->setCheckable(true);
    a.swapCells = make(window, Words::tr("S&wap the two cells"), Qt::Key_X,
        Words::tr("The first cell becomes the second and the reverse"));
    a.swapCells->setEnabled(false);
    a.themeSystem = make(window, Words::tr("&System"), {}, Words::tr("Follow the desktop"));
    a.themeLight = make(window, Words::tr("&Light"), {}, Words::tr("Light colours"));
    a.themeDark = make(window, Words::tr("&Dark"), {}, Words::tr("Dark colours"));
    auto* themes = new QActionGroup(&window);
    for (QAction* action : {a.themeSystem, a.themeLight, a.themeDark}) {
        action->setCheckable(true);
        themes->addAction(action);
    }
    a.panes = new QMenu(Words::tr("&Panes"), &window);
    a.layouts = new QMenu(Words::tr("&Layouts"), &window);
    a.saveLayout = make(window, Words::tr("&Save layout as…"), {}, Words::tr("Keep how the panes lie under a name"));
    a.manageLayouts = make(window, Words::tr("&Manage layouts…"), {}, Words::tr("Rename or delete saved layouts"));
    a.resetLayout = make(window, Words::tr("&Restore default layout"), {}, Words::tr("Give every pane its first size"));
    a.whatsThis = QWhatsThis::createAction(&window);
    a.whatsThis->setText(Words::tr("&What is this?"));
    a.whatsThis->setStatusTip(Words::tr("Click on a pane or a button to read what it shows and how to read it"));
    a.shortcuts = make(window, Words::tr("Commands and &keys"), QKeySequence::HelpContents,
        Words::tr("Every command and key, to search"));
    a.about = make(window, Words::tr("&About Nanscope"), {}, Words::tr("Version and licences"));
}

void fillMenus(const Actions& a, QMainWindow& window)
{
    QMenu* file = window.menuBar()->addMenu(Words::tr("&File"));
    file->addActions({a.openFolder, a.openFile});
    file->addMenu(a.recent);
    file->addActions({a.openSample, a.pin, a.rescan, a.follow, a.compareRuns});
    file->addSeparator();
    file->addMenu(Words::tr("&Add to this run"))
        ->addActions({a.addVariants, a.addParameters, a.addEnvironment, a.addAdvisories});
    file->addAction(a.showKnown);
    file->addSeparator();
    file->addActions({a.exportReport, a.exportBundle});
    file->addSeparator();
    file->addAction(a.quit);
    window.menuBar()->addMenu(Words::tr("&Edit"))->addActions({a.filter, a.copyIssueText});
    QMenu* view = window.menuBar()->addMenu(Words::tr("&View"));
    QMenu* theme = view->addMenu(Words::tr("&Theme"));
    theme->addActions({a.themeSystem, a.themeLight, a.themeDark});
    view->addMenu(a.panes);
    a.layouts->addActions({a.saveLayout, a.manageLayouts, a.resetLayout});
    view->addMenu(a.layouts);
    view->addActions({a.compare, a.swapCells});
    view->addSeparator();
    view->addActions({a.previousView, a.nextView, a.fitView});
    window.menuBar()->addMenu(Words::tr("&Capture"))->addActions({a.sweep, a.cancel});
    window.menuBar()->addMenu(Words::tr("&Help"))->addActions({a.shortcuts, a.whatsThis, a.about});
}

void fillToolBar(const Actions& a, QMainWindow& window)
{
    auto* bar = window.addToolBar(Words::tr("Tools"));
    bar->setObjectName(QStringLiteral("tools"));
    bar->setMovable(false);
    bar->setContextMenuPolicy(Qt::PreventContextMenu);
    bar->setToolButtonStyle(Qt::ToolButtonTextOnly);
    bar->addActions({a.openFolder, a.rescan, a.sweep, a.cancel, a.compare, a.exportReport});
    bar->widgetForAction(a.sweep)->setObjectName(QStringLiteral("primary"));
}

} // namespace

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
