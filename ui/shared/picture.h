// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a plot looks like outside the window: painted anew for every form, in vectors where the form has them.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <QByteArray>
#include <QImage>
#include <QPoint>
#include <QRectF>
#include <QSize>
#include <QString>
#include <QStringList>

#include "core/base/result.h"

class QCPPainter;
class QCustomPlot;
class QPainter;
class QWidget;

namespace nanscope {

/// What a picture is painted with.
class PictureCanvas
{
public:
    /// `fragments` takes what is clipped where the form of the picture cannot clip by itself.
    explicit PictureCanvas(QCPPainter& painter, std::vector<QByteArray>* fragments = nullptr)
        : m_painter(painter)
        , m_fragments(fragments)
    { }

    QPainter& painter() const;
    /// From the painter's origin on, as large as on the screen.
    void draw(QCustomPlot& plot) const;
    /// Nothing of what `paint` does is seen outside.
    void clipped(const QRectF& inside, const std::function<void(const PictureCanvas&)>& paint) const;

private:
    QCPPainter& m_painter;
    std::vector<QByteArray>* m_fragments;
};

struct Picture
{
    QSize size; ///< in pixels of the screen
    std::function<void(const PictureCanvas&)> paint = {}; ///< none where there is nothing to show

    explicit operator bool() const { return paint && !size.isEmpty(); }
};

Picture pictureOf(QCustomPlot& plot);
/// A widget that is made of others; one that paints itself gives a sharper one.
Picture pictureOf(QWidget& widget);

/// Several as one, each at its place.
Picture together(std::vector<std::pair<QPoint, Picture>> parts);

/// What a picture needs to be understood elsewhere.
struct PictureCaption
{
    QString title;
    QString note = {};
    QString legend = {}; ///< rich text, in lines of its own
    QString subject = {}; ///< the capture or run it is of: names the file
};

Picture captioned(Picture picture, const PictureCaption& caption);

/// On the ground of the theme, at twice the resolution of the screen.
QImage imageOf(const Picture& picture);

/// "png", "pdf" and, where this build has Qt's SVG module, "svg".
QStringList pictureEndings();

/// As a file with this ending.
Result<QByteArray> encoded(const Picture& picture, const QString& title, const QString& ending);

} // namespace nanscope
