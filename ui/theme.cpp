// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme.h"

#include <QApplication>
#include <QEvent>
#include <QPalette>

#include "ui/stylesheet.h"

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
    if (auto* app = qobject_cast<QApplication*>(QCoreApplication::instance())) {
        app->setStyleSheet(styleSheet(theme()));
    }
}

bool isThemeChange(const QEvent* event)
{
    return event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange;
}

} // namespace nanscope
