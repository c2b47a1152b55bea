// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QAction;
class QMainWindow;
class QMenu;
class QString;

namespace nanscope {

/// Every command of the window, with its shortcut, in menus and tool bar.
struct Actions
{
    QAction* openFolder = nullptr;
    QAction* openFile = nullptr;
    QAction* openSample = nullptr;
    QAction* rescan = nullptr;
    QAction* follow = nullptr;
    QAction* pin = nullptr;
    QAction* sweep = nullptr;
    QAction* cancel = nullptr;
    QAction* exportReport = nullptr;
    QAction* exportBundle = nullptr;
    QAction* copyIssueText = nullptr;
    QAction* undoAnswer = nullptr;
    QAction* redoAnswer = nullptr;
    QAction* filter = nullptr;
    QAction* fitView = nullptr;
    QAction* previousView = nullptr;
    QAction* nextView = nullptr;
    QAction* compare = nullptr;
    QAction* swapCells = nullptr;
    QAction* themeSystem = nullptr;
    QAction* themeLight = nullptr;
    QAction* themeDark = nullptr;
    QAction* saveLayout = nullptr;
    QAction* manageLayouts = nullptr;
    QAction* resetLayout = nullptr;
    QAction* whatsThis = nullptr;
    QAction* shortcuts = nullptr;
    QAction* about = nullptr;
    QAction* compareRuns = nullptr;
    QAction* addVariants = nullptr;
    QAction* addParameters = nullptr;
    QAction* addEnvironment = nullptr;
    QAction* addAdvisories = nullptr;
    QAction* showKnown = nullptr;
    QAction* quit = nullptr;
    QMenu* recent = nullptr;
    QMenu* layouts = nullptr; ///< begins with those that were saved
    QMenu* panes = nullptr; ///< filled by who makes the panes
};

Actions makeActions(QMainWindow& window);

/// Of the command Sweep, where there is something to sweep.
QString sweepTip();

/// In the status bar, and with the shortcut in the tool tip.
void setTip(QAction& action, const QString& tip);

} // namespace nanscope
