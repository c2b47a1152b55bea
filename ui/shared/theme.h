// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <functional>
#include <optional>

#include <QColor>
#include <QFont>
#include <QString>

class QEvent;
class QWidget;

namespace nanscope {

enum class ThemeChoice { system, light, dark };

QString themeName(ThemeChoice choice);
std::optional<ThemeChoice> parseThemeChoice(const QString& name);

/// Every colour of the window. `birth` means birth everywhere and nothing else.
struct Theme
{
    bool dark = false;
    QColor window;
    QColor surface;
    QColor sunken;
    QColor line;
    QColor text;
    QColor muted;
    QColor accent;
    QColor accentText;
    QColor selection;
    QColor birth;
    QColor good;
    QColor warning;
    QColor bad;
    QColor goodTint;
    QColor warningTint;
    QColor badTint;
    QColor nan;
    QColor posInf;
    QColor negInf;
    QColor zero;
    std::array<QColor, 6> ranks;
};

const Theme& lightTheme();
const Theme& darkTheme();

/// The theme in use; GUI thread only.
const Theme& theme();

/// Sets palette and style sheet of the application. `system` takes that of the desktop as it is now.
void applyTheme(ThemeChoice choice);

/// True for the events after which a widget that paints with theme() has to repaint.
bool isThemeChange(const QEvent* event);
/// Has `restyle` called at each of them, from now on.
void onThemeChange(QWidget& widget, std::function<void()> restyle);

/// One scale for all distances: multiples of 4 pixels.
constexpr int grid(int steps)
{
    return 4 * steps;
}

QFont scaledFont(QFont font, double factor);
QFont smallerFont(QFont font, double points = 1.5, double least = 6.5);

/// Style sheet on top of Fusion: quiet lines, rounded panes, no frames inside frames.
QString styleSheet(const Theme& theme);

} // namespace nanscope
