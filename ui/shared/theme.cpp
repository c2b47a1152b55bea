// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/theme.h"

#include <algorithm>
#include <utility>

#include <QApplication>
#include <QEvent>
#include <QPalette>

namespace nanscope {

namespace {

Theme makeLight()
{
    Theme t;
    t.dark = false;
    t.window = QColor(0xf1f2f4);
    t.surface = QColor(0xffffff);
    t.sunken = QColor(0xf6f7f9);
    t.line = QColor(0xdcdfe4);
    t.text = QColor(0x1b1d21);
    t.muted = QColor(0x646a75);
    t.accent = QColor(0x2563d9);
    t.accentText = QColor(0xffffff);
    t.selection = QColor(0xdbe7fc);
    t.birth = QColor(0xc2179b);
    t.good = QColor(0x1f8a57);
    t.warning = QColor(0xb86a00);
    t.bad = QColor(0xc8322b);
    t.goodTint = QColor(0xeaf5ef);
    t.warningTint = QColor(0xfcefd9);
    t.badTint = QColor(0xfbe3df);
    t.nan = QColor(0xe0173f);
    t.posInf = QColor(0xff8a1a);
    t.negInf = QColor(0x2f9bff);
    t.zero = QColor(0x101114);
    t.ranks = {
        QColor(0x2563d9), QColor(0x0f8f83), QColor(0xa35a00), QColor(0x7a4fd0), QColor(0x5f7a12), QColor(0x8a3a52)};
    return t;
}

Theme makeDark()
{
    Theme t;
    t.dark = true;
    t.window = QColor(0x1e1f22);
    t.surface = QColor(0x2a2b2f);
    t.sunken = QColor(0x242529);
    t.line = QColor(0x3d3f45);
    t.text = QColor(0xe6e7ea);
    t.muted = QColor(0x9ba0a9);
    t.accent = QColor(0x4f8df7);
    t.accentText = QColor(0xffffff);
    t.selection = QColor(0x33415c);
    t.birth = QColor(0xe63fc0);
    t.good = QColor(0x4fc08a);
    t.warning = QColor(0xe0a13c);
    t.bad = QColor(0xf0766b);
    t.goodTint = QColor(0x26382f);
    t.warningTint = QColor(0x423621);
    t.badTint = QColor(0x4a2c2b);
    t.nan = QColor(0xff3b5f);
    t.posInf = QColor(0xff9a33);
    t.negInf = QColor(0x4fb0ff);
    t.zero = QColor(0x08090a);
    t.ranks = {
        QColor(0x6ba1ff), QColor(0x35c0b0), QColor(0xe0a13c), QColor(0xb49bff), QColor(0xb3cf5a), QColor(0xe891a8)};
    return t;
}

const Theme*& current()
{
    static const Theme* theme = &lightTheme();
    return theme;
}

/// What the desktop says now: without a palette of ours, Qt tells that of the desktop.
bool systemIsDark()
{
    QApplication::setPalette(QPalette());
    return QApplication::palette().color(QPalette::Window).lightness() < 128;
}

QPalette paletteOf(const Theme& t)
{
    QPalette p;
    p.setColor(QPalette::Window, t.window);
    p.setColor(QPalette::WindowText, t.text);
    p.setColor(QPalette::Base, t.surface);
    p.setColor(QPalette::AlternateBase, t.sunken);
    p.setColor(QPalette::Text, t.text);
    p.setColor(QPalette::PlaceholderText, t.muted);
    p.setColor(QPalette::Button, t.surface);
    p.setColor(QPalette::ButtonText, t.text);
    p.setColor(QPalette::BrightText, t.bad);
    p.setColor(QPalette::Highlight, t.selection);
    p.setColor(QPalette::HighlightedText, t.text);
    p.setColor(QPalette::Link, t.accent);
    p.setColor(QPalette::LinkVisited, t.accent);
    p.setColor(QPalette::ToolTipBase, t.surface);
    p.setColor(QPalette::ToolTipText, t.text);
    p.setColor(QPalette::Light, t.surface);
    p.setColor(QPalette::Midlight, t.sunken);
    p.setColor(QPalette::Mid, t.line);
    p.setColor(QPalette::Dark, t.line);
    p.setColor(QPalette::Shadow, t.dark ? QColor(Qt::black) : QColor(0x9aa0aa));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        p.setColor(QPalette::Disabled, role, t.dark ? t.muted.darker(140) : t.muted.lighter(150));
    }
    return p;
}

const char* const sheet = R"(
QMainWindow, QDialog { background: @window; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
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
QToolBar QToolButton#qt_toolbar_ext_button { padding: 0; border: none; background: @muted; }
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
QLabel#dropHere { background: @surface; border: 3px dashed @accent; border-radius: 6px; font-weight: 600; }
QLabel#muted, QLabel#paneNote { color: @muted; }
QLabel#headline { font-weight: 700; }
QLabel#question { background: @warningTint; border-radius: 4px; padding: 6px 8px; }
QSplitter::handle, QScrollArea { background: transparent; }
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
QCheckBox::indicator:unchecked, QListView::indicator:unchecked, QTreeView::indicator:unchecked {
  background: @sunken; border: 1px solid @muted; border-radius: 2px; width: 12px; height: 12px; }
QPushButton:focus, QToolBar QToolButton:focus, QToolButton#quiet:focus { border-color: @accent; }
QPushButton#primary:focus, QToolBar QToolButton#primary:focus { border-color: @text; }
QToolButton#chip { background: transparent; border: 1px solid @line; border-radius: 11px; padding: 2px 8px;
  min-height: 16px; }
QToolButton#chip:hover { border-color: @muted; }
QToolButton#chip:focus { border-color: @accent; }
QToolButton#chip:checked { background: @selection; border-color: @accent; }
QToolButton#chip:disabled { color: @muted; background: transparent; border-color: @line; }
QToolButton#quiet { background: transparent; border: 1px solid transparent; border-radius: 5px; padding: 3px 8px;
  color: @accent; }
QToolButton#quiet:disabled { color: @disabled; }
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

class ThemeFollower : public QObject
{
public:
    ThemeFollower(QWidget& widget, std::function<void()> restyle)
        : QObject(&widget)
        , m_restyle(std::move(restyle))
    { }

    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (isThemeChange(event)) {
            m_restyle();
        }
        return QObject::eventFilter(watched, event);
    }

private:
    std::function<void()> m_restyle;
};

} // namespace

QString themeName(ThemeChoice choice)
{
    switch (choice) {
    case ThemeChoice::light:
        return QStringLiteral("light");
    case ThemeChoice::dark:
        return QStringLiteral("dark");
    case ThemeChoice::system:
        break;
    }
    return QStringLiteral("system");
}

std::optional<ThemeChoice> parseThemeChoice(const QString& name)
{
    for (const auto choice : {ThemeChoice::system, ThemeChoice::light, ThemeChoice::dark}) {
        if (name == themeName(choice)) {
            return choice;
        }
    }
    return std::nullopt;
}

const Theme& lightTheme()
{
    static const Theme theme = makeLight();
    return theme;
}

const Theme& darkTheme()
{
    static const Theme theme = makeDark();
    return theme;
}

const Theme& theme()
{
    return *current();
}

void applyTheme(ThemeChoice choice)
{
    const bool dark = choice == ThemeChoice::dark || (choice == ThemeChoice::system && systemIsDark());
    current() = dark ? &darkTheme() : &lightTheme();
    QApplication::setPalette(paletteOf(theme()));
    auto* app = qobject_cast<QApplication*>(QCoreApplication::instance());
    // Qt styles every widget again, also for the same sheet.
    if (const QString sheet = styleSheet(theme()); app && app->styleSheet() != sheet) {
        app->setStyleSheet(sheet);
    }
}

bool isThemeChange(const QEvent* event)
{
    return event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange;
}

void onThemeChange(QWidget& widget, std::function<void()> restyle)
{
    widget.installEventFilter(new ThemeFollower(widget, std::move(restyle)));
}

QFont scaledFont(QFont font, double factor)
{
    font.setPointSizeF(font.pointSizeF() * factor);
    return font;
}

QFont smallerFont(QFont font, double points, double least)
{
    font.setPointSizeF(std::max(least, font.pointSizeF() - points));
    return font;
}

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
