// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How a heat map looks.
#include <algorithm>
#include <cmath>

#include <QPainter>

#include "ui/plots/heatmap.h"
#include "ui/plots/heatview.h"
#include "ui/theme.h"

namespace nanscope {

const QImage& HeatMap::image()
{
    const double ratio = devicePixelRatioF();
    const HeatGeometry geometry = geometryFor(ratio);
    const QSize size(static_cast<int>(std::ceil(width() * ratio)), static_cast<int>(std::ceil(height() * ratio)));
    if (m_image.size() != size || !(m_imageGeometry == geometry)) {
        m_image = renderHeat(*m_picture, geometry, m_scale, size, theme());
        m_image.setDevicePixelRatio(ratio);
        m_imageGeometry = geometry;
    }
    return m_image;
}

Picture HeatMap::toPicture() const
{
    if (!hasElements()) {
        return {};
    }
    constexpr double ratio = 2;
    constexpr double room = 3; // for the frame about damage at the border
    const QRectF whole = rectOf(0, m_picture->tiles.rows, 0, m_picture->tiles.cols);
    const QRect shown = whole.adjusted(-room, -room, room, room).toAlignedRect() & rect();
    return {shown.size(), [this, shown](const PictureCanvas& canvas) {
                const HeatGeometry all = geometryFor(ratio);
                const HeatGeometry part {all.origin - QPointF(shown.topLeft()) * ratio, all.element};
                QImage sharp = renderHeat(*m_picture, part, m_scale, shown.size() * ratio, theme());
                sharp.setDevicePixelRatio(ratio);
                canvas.painter().drawImage(QPointF(0, 0), sharp);
                canvas.painter().translate(-shown.topLeft());
                drawDamage(canvas.painter());
            }};
}

void HeatMap::paintEvent(QPaintEvent* event)
{
    Q_UNUSED(event)
    QPainter painter(this);
    if (!m_picture) {
        painter.setPen(theme().muted);
        painter.drawText(rect().adjusted(grid(2), 0, -grid(2), 0), Qt::AlignCenter | Qt::TextWordWrap, m_message);
        return;
    }
    painter.drawImage(QPointF(0, 0), image());
    drawDamage(painter);
    drawCursor(painter);
    drawBox(painter);
    drawHint(painter);
    if (hasFocus()) {
        painter.setPen(QPen(theme().accent, 1, Qt::DotLine));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void HeatMap::drawDamage(QPainter& painter) const
{
    const QRectF frame = damageRect();
    if (frame.isEmpty()) {
        return;
    }
    // The frame lies outside the damage; at the border of the widget it moves inside to stay visible.
    const QRectF outer = frame.adjusted(-2, -2, 2, 2).intersected(QRectF(rect()).adjusted(1.5, 1.5, -1.5, -1.5));
    if (outer.isEmpty()) {
        return;
    }
    painter.setBrush(Qt::NoBrush);
    if (m_echo) {
        painter.setPen(QPen(theme().birth, 1, Qt::DashLine));
        painter.drawRect(outer);
        return;
    }
    painter.setPen(QPen(theme().surface, 4));
    painter.drawRect(outer);
    painter.setPen(QPen(theme().birth, 2));
    painter.drawRect(outer);
}

void HeatMap::drawCursor(QPainter& painter) const
{
    const auto element = cursorElement();
    if (!element) {
        return;
    }
    QRectF box = elementRect(element->row, element->col);
    const double grow = std::max(0.0, 5 - std::min(box.width(), box.height())) / 2;
    box.adjust(-grow, -grow, grow, grow);
    painter.setPen(QPen(Qt::black, 3));
    painter.drawRect(box);
    painter.setPen(QPen(Qt::white, 1));
    painter.drawRect(box);
}

void HeatMap::drawBox(QPainter& painter) const
{
    const auto region = box();
    if (!region) {
        return;
    }
    const QRectF frame = rectOf(region->row, region->row + region->rows, region->col, region->col + region->cols);
    QColor veil = theme().accent;
    veil.setAlpha(40);
    painter.fillRect(frame, veil);
    painter.setPen(QPen(theme().surface, 3));
    painter.drawRect(frame);
    painter.setPen(QPen(theme().accent, 1, Qt::DashLine));
    painter.drawRect(frame);
    drawLabel(painter,
        tr("[%1–%2, %3–%4] · %5 × %6")
            .arg(region->row)
            .arg(region->row + region->rows - 1)
            .arg(region->col)
            .arg(region->col + region->cols - 1)
            .arg(region->rows)
            .arg(region->cols),
        Qt::TopLeftCorner);
}

void HeatMap::drawHint(QPainter& painter) const
{
    if (!m_hint.isEmpty()) {
        drawLabel(painter, m_hint, Qt::BottomLeftCorner);
    }
}

/// Quiet words on a ground of their own.
void HeatMap::drawLabel(QPainter& painter, const QString& label, Qt::Corner corner) const
{
    const QFontMetrics metrics(font());
    const QString text = metrics.elidedText(label, Qt::ElideRight, width() - grid(4));
    QRect ground(0, 0, metrics.horizontalAdvance(text) + grid(3), metrics.height() + grid(1));
    if (corner == Qt::BottomLeftCorner) {
        ground.moveBottomLeft(rect().bottomLeft());
    }
    QColor color = theme().surface;
    color.setAlpha(225);
    painter.fillRect(ground, color);
    painter.setPen(theme().muted);
    painter.drawText(ground, Qt::AlignCenter, text);
}

} // namespace nanscope
