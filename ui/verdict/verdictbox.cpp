// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/verdict/verdictbox.h"

#include <algorithm>

#include <QPainter>

#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int boxSize = 13;
constexpr int chipHeight = 22;
constexpr int boxPadding = 8;
constexpr int boxGap = 6;

} // namespace

void VerdictBox::setSuspect(bool suspect)
{
    m_suspect = suspect;
    update();
}

QSize VerdictBox::sizeHint() const
{
    const int tall = std::max(chipHeight, fontMetrics().height() + 4);
    return isChip()
        ? QSize(boxPadding + boxSize + boxGap + fontMetrics().horizontalAdvance(text()) + boxPadding + 2, tall)
        : QSize(boxSize + 4, std::max(boxSize + 4, fontMetrics().height() + 2));
}

void VerdictBox::paintRim(QPainter& painter) const
{
    const bool active = hasFocus() || (underMouse() && isEnabled());
    painter.setPen(active ? theme().accent : m_suspect ? theme().warning : theme().line);
    painter.setBrush(isChecked() ? theme().sunken : QColor(Qt::transparent));
    const QRectF rim = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.drawRoundedRect(rim, rim.height() / 2, rim.height() / 2);
}

void VerdictBox::paintBox(QPainter& painter, const QRectF& box) const
{
    constexpr double corner = 3;
    const bool filled = isChecked();
    const QColor ground = isEnabled() ? theme().accent : theme().muted;
    painter.setPen(filled ? ground : hasFocus() ? theme().accent : theme().muted);
    painter.setBrush(filled ? ground : theme().surface);
    painter.drawRoundedRect(box, corner, corner);
    if (filled) {
        painter.setPen(QPen(theme().accentText, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        const auto point = [&box](double x, double y) {
            return QPointF(box.left() + x * box.width(), box.top() + y * box.height());
        };
        painter.drawPolyline(QPolygonF {point(0.22, 0.52), point(0.42, 0.72), point(0.78, 0.3)});
    }
}

void VerdictBox::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (isChip()) {
        paintRim(painter);
    }
    const int left = isChip() ? boxPadding : 1;
    const int top = (height() - boxSize) / 2;
    const QRectF box(left + 0.5, top + 0.5, boxSize - 1, boxSize - 1);
    paintBox(painter, box);
    painter.setPen(isChecked() ? theme().text : theme().muted);
    painter.drawText(QRect(left + boxSize + boxGap, 0, width(), height()), Qt::AlignLeft | Qt::AlignVCenter, text());
}

} // namespace nanscope
