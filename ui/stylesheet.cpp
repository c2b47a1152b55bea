// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/stylesheet.h"

#include <utility>

#include "ui/theme.h"

namespace nanscope {

namespace {

const char* const sheet = R"(
QMainWindow, QDialog { background: @window; }
QMenuBar { background: @surface; border-bottom: 1px solid @line; padding: 1px 4px; }
QMenuBar::item { padding: 4px 8px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected { background: @selection; }
QMenu { background: @surface; border: 1px solid @line; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 12px; border-radius: 4px; }
QMenu::item:selected { background: @selection; }
QMenu::item:disabled { color: @muted; }
QMenu::separator { height: 1px; background: @line; margin: 4px 8px; }
QToolBar { background: @surface; border: none; border-bottom: 1px solid @line; padding: 6px 8px; spacing: 8px; }
QToolBar QToolButton, QPushButton { background: @surface; border: 1px solid @line; border-radius: 5px;
  padding: 4px 10px; min-height: 16px; }
QToolBar QToolButton:hover, QPushButton:hover { background: @sunken; border-color: @muted; }
QToolBar QToolButton:pressed, QPushButton:pressed { background: @selection; }
QToolBar QToolButton:disabled, QPushButton:disabled { color: @disabled; }
QToolBar QToolButton:checked { background: @selection; border-color: @accent; }
QToolBar QToolButton#primary, QPushButton#primary { background: @accent; border-color: @accent; color: @accentText; }
QToolBar QToolButton#primary:hover, QPushButton#primary:hover { background: @accentHover; }
QToolBar QToolButton#primary:disabled, QPushButton#primary:disabled { background: @sunken; border-color: @line;
  color: @disabled; }
QStatusBar { background: @surface; border-top: 1px solid @line; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: @muted; padding: 2px 8px; }
QFrame#pane { background: @surface; border: 1px solid @line; border-radius: 6px; }
QWidget#dockHeader { background: @surface; border: 1px solid @line; border-bottom: none;
  border-top-left-radius: 6px; border-top-right-radius: 6px; }
QFrame#dockBody { background: @surface; border: 1px solid @line; border-top: none;
  border-bottom-left-radius: 6px; border-bottom-right-radius: 6px; }
QMainWindow::separator { background: @window; width: 8px; height: 8px; }
QMainWindow::separator:hover { background: @line; }
QTabWidget::pane { background: @surface; border: 1px solid @line; border-radius: 6px; top: -1px; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: @muted; padding: 5px 10px; border: none;
  border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:focus { color: @accent; }
QFrame#messageBar { background: @warningTint; border: 1px solid @line; border-radius: 6px; }
QLabel#paneTitle { font-weight: 600; }
QLabel#muted, QLabel#paneNote { color: @muted; }
QLabel#headline { font-weight: 700; }
QLabel#question { background: @warningTint; border-radius: 4px; padding: 6px 8px; }
QSplitter::handle { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QTableView, QTreeView, QListView { background: @surface; outline: none;
  selection-background-color: @selection; selection-color: @text; }
QTableView::item { padding: 0 2px; border-bottom: 1px solid @hair; }
QTableView::item:selected { background: @selection; color: @text; }
QHeaderView { background: @surface; border: none; }
QHeaderView::section { background: @surface; color: @muted; border: none; border-bottom: 1px solid @line;
  padding: 3px 6px; }
QHeaderView::section:vertical { border: none; color: @text; padding: 0 8px; }
QTableCornerButton::section { background: @surface; border: none; border-bottom: 1px solid @line; }
QLineEdit { background: @sunken; border: 1px solid @line; border-radius: 5px; padding: 3px 8px;
  selection-background-color: @accent; selection-color: @accentText; }
QLineEdit:focus { border-color: @accent; }
QTableView, QTreeView, QTextBrowser, QPlainTextEdit { border: 1px solid transparent; }
QTableView:focus, QTreeView:focus, QTextBrowser:focus, QPlainTextEdit:focus { border: 1px solid @accent; }
QPushButton:focus, QToolBar QToolButton:focus, QToolButton#quiet:focus { border-color: @accent; }
QPushButton#primary:focus, QToolBar QToolButton#primary:focus { border-color: @text; }
QToolButton#chip { background: transparent; border: 1px solid @line; border-radius: 11px; padding: 2px 8px;
  min-height: 16px; }
QToolButton#chip:hover { border-color: @muted; }
QToolButton#chip:focus { border-color: @accent; }
QToolButton#chip:checked { background: @selection; border-color: @accent; }
QToolButton#chip:disabled { color: @muted; background: transparent; border-color: @line; }
QToolButton#quiet { background: transparent; border: 1px solid transparent; border-radius: 5px; padding: 3px 8px; }
QToolButton#quiet:hover { background: @sunken; border-color: @line; }
QToolButton#quiet:checked { background: @selection; }
QToolButton#quiet::menu-indicator { image: none; width: 0; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @scroll; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 24px; }
QScrollBar::handle:horizontal { min-width: 24px; }
QScrollBar::handle:hover { background: @muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar { background: @sunken; border: none; border-radius: 3px; max-height: 6px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QToolTip { background: @surface; color: @text; border: 1px solid @line; padding: 4px 6px; }
)";

QString mix(const QColor& a, const QColor& b, double t)
{
    const auto blend = [t](int x, int y) { return static_cast<int>(x + (y - x) * t); };
    return QColor(blend(a.red(), b.red()), blend(a.green(), b.green()), blend(a.blue(), b.blue())).name();
}

} // namespace

QString styleSheet(const Theme& t)
{
    // Longer names first, so that "@accent" does not eat the start of "@accentText".
    const std::pair<const char*, QString> values[] = {
        {"@accentHover", mix(t.accent, t.text, 0.15)},
        {"@accentText", t.accentText.name()},
        {"@accent", t.accent.name()},
        {"@warningTint", t.warningTint.name()},
        {"@window", t.window.name()},
        {"@surface", t.surface.name()},
        {"@sunken", t.sunken.name()},
        {"@selection", t.selection.name()},
        {"@disabled", mix(t.muted, t.surface, 0.45)},
        {"@scroll", mix(t.line, t.muted, 0.25)},
        {"@hair", mix(t.line, t.surface, 0.5)},
        {"@line", t.line.name()},
        {"@muted", t.muted.name()},
        {"@text", t.text.name()},
    };
    QString result = QString::fromLatin1(sheet);
    for (const auto& [name, value] : values) {
        result.replace(QLatin1String(name), value);
    }
    return result;
}

} // namespace nanscope
