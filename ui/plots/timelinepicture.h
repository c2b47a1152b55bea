// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QString>

namespace nanscope {

class TimelinePlot;

/// What stands above a plot that leaves the window.
struct PictureCaption
{
    QString title;
    QString note;
    QString legend = {}; ///< rich text, in lines of its own
};

/// With its caption, at twice the resolution of the screen.
QImage timelineImage(const TimelinePlot& plot, const PictureCaption& caption);

/// False on builds without Qt's SVG module.
bool canWriteSvg();

/// PNG or SVG by the suffix; nothing on success, else what went wrong.
QString saveTimeline(const TimelinePlot& plot, const PictureCaption& caption, const QString& path);

} // namespace nanscope
