// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/svgpicture.h"

#include <cmath>

#include <QBuffer>
#include <QGuiApplication>
#include <QRegularExpression>
#include <QScreen>
#ifdef NANSCOPE_SVG
#include <QSvgGenerator>
#endif

#include "ui/shared/qcp.h"

namespace nanscope {

namespace {

QString markOf(std::size_t fragment)
{
    return QStringLiteral("@@fragment-%1@@").arg(fragment);
}

/// Without its own size in millimetres, at its place in the outer one.
QString asInner(const QByteArray& drawing, const QRectF& inside)
{
    static const QRegularExpression head(
        QStringLiteral("^.*?<svg[^>]*>"), QRegularExpression::DotMatchesEverythingOption);
    const QString place = QStringLiteral("x=\"%1\" y=\"%2\" width=\"%3\" height=\"%4\"")
                              .arg(inside.x())
                              .arg(inside.y())
                              .arg(inside.width())
                              .arg(inside.height());
    const QString view = QStringLiteral("viewBox=\"%1 %2 %3 %4\"")
                             .arg(inside.x())
                             .arg(inside.y())
                             .arg(inside.width())
                             .arg(inside.height());
    return QString::fromUtf8(drawing).replace(head, QStringLiteral("<svg %1 %2>").arg(place, view));
}

QByteArray withFragments(const QByteArray& drawing, const SvgFragments& fragments)
{
    QString text = QString::fromUtf8(drawing);
    for (std::size_t i = 0; i < fragments.size(); ++i) {
        const QRegularExpression mark(QStringLiteral("<text[^>]*>\\s*%1\\s*</text>").arg(markOf(i)));
        const auto found = mark.match(text);
        text.replace(found.capturedStart(), found.capturedLength(), QString::fromUtf8(fragments[i]));
    }
    return text.toUtf8();
}

} // namespace

#ifdef NANSCOPE_SVG
QByteArray svgOf(const QRectF& view, const QString& title,
    const std::function<void(QCPPainter& painter, SvgFragments& fragments)>& paint)
{
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    // Of the screen, so that a font is as large beside the lines as it is there.
    generator.setResolution(static_cast<int>(std::lround(QGuiApplication::primaryScreen()->logicalDotsPerInch())));
    generator.setSize(view.size().toSize());
    generator.setViewBox(view);
    generator.setTitle(title);
    SvgFragments fragments;
    QCPPainter painter;
    if (!painter.begin(&generator)) {
        return {};
    }
    painter.setMode(QCPPainter::pmVectorized);
    paint(painter, fragments);
    painter.end();
    return withFragments(buffer.data(), fragments);
}
#else
QByteArray svgOf(const QRectF&, const QString&, const std::function<void(QCPPainter&, SvgFragments&)>&)
{
    return {};
}
#endif

void addSvgFragment(QCPPainter& outer, SvgFragments& fragments, const QRectF& inside,
    const std::function<void(QCPPainter& painter, SvgFragments& fragments)>& paint)
{
    outer.drawText(QPointF(), markOf(fragments.size()));
    fragments.push_back(asInner(svgOf(inside, {}, paint), inside).toUtf8());
}

} // namespace nanscope
