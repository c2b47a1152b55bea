// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/marks.h"

#include <QPainter>
#include <QPolygonF>
#include <QStringList>

#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

void polygon(QPainter& painter, const QRectF& box, std::initializer_list<QPointF> corners)
{
    QPolygonF shape;
    for (const QPointF& corner : corners) {
        shape << QPointF(box.x() + corner.x() * box.width(), box.y() + corner.y() * box.height());
    }
    painter.drawPolygon(shape);
}

void ring(QPainter& painter, const QRectF& box, const QColor& color)
{
    painter.setPen(QPen(color, 1.4));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(box.adjusted(1, 1, -1, -1));
}

void fill(QPainter& painter, const QColor& color)
{
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
}

} // namespace

void drawRoleMark(QPainter& painter, const QRectF& box, int role)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    switch (role) {
    case static_cast<int>(Role::birth):
        fill(painter, theme().birth);
        painter.drawEllipse(box);
        break;
    case static_cast<int>(Role::upstream):
        fill(painter, theme().warning);
        polygon(painter, box, {{0.5, 0}, {1, 1}, {0, 1}});
        break;
    case static_cast<int>(Role::downstream):
        ring(painter, box, theme().muted);
        break;
    case static_cast<int>(Role::healthy):
        drawOutcomeMark(painter, box, Outcome::finite);
        break;
    case static_cast<int>(Role::noOutput):
        painter.setPen(QPen(theme().muted, 1.4));
        painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()));
        break;
    case static_cast<int>(Role::padding):
        painter.setPen(QPen(theme().muted, 1.4));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box.adjusted(1, 1, -1, -1));
        break;
    default:
        break;
    }
    painter.restore();
}

QString roleLegendText()
{
    const auto entry = [](const QColor& color, const char16_t* mark, Role role) {
        return QStringLiteral("<span style='color:%1'>%2</span>&nbsp;%3")
            .arg(color.name(), QString::fromUtf16(mark), roleWord(role));
    };
    const QStringList entries {entry(theme().birth, u"●", Role::birth), entry(theme().warning, u"▲", Role::upstream),
        entry(theme().muted, u"□", Role::padding), entry(theme().muted, u"○", Role::downstream)};
    return entries.join(QStringLiteral("&nbsp;&nbsp; "));
}

void drawOutcomeMark(QPainter& painter, const QRectF& box, Outcome outcome)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    switch (outcome) {
    case Outcome::finite:
        painter.setPen(QPen(theme().good, 1.6));
        painter.drawPolyline(QPolygonF {QPointF(box.left(), box.center().y()),
            QPointF(box.left() + 0.35 * box.width(), box.bottom() - 1), QPointF(box.right(), box.top() + 1)});
        break;
    case Outcome::degenerate:
        fill(painter, theme().warning);
        polygon(painter, box, {{0.5, 0}, {1, 0.5}, {0.5, 1}, {0, 0.5}});
        break;
    case Outcome::zero:
        ring(painter, box, theme().bad);
        break;
    case Outcome::inf:
        fill(painter, theme().posInf);
        polygon(painter, box, {{0.5, 0}, {1, 1}, {0, 1}});
        break;
    case Outcome::nan:
        painter.setPen(QPen(theme().nan, 2));
        painter.drawLine(box.topLeft() + QPointF(1, 1), box.bottomRight() - QPointF(1, 1));
        painter.drawLine(box.topRight() + QPointF(-1, 1), box.bottomLeft() + QPointF(1, -1));
        break;
    }
    painter.restore();
}

void drawFocusFrame(QPainter& painter, const QWidget& widget)
{
    if (widget.hasFocus()) {
        painter.setPen(QPen(theme().accent, 1, Qt::DotLine));
        painter.drawRect(widget.rect().adjusted(0, 0, -1, -1));
    }
}

void drawStatusMark(QPainter& painter, const QRectF& box, StatusMark mark)
{
    if (mark == StatusMark::good) {
        drawOutcomeMark(painter, box, Outcome::finite);
        return;
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    switch (mark) {
    case StatusMark::caution:
        fill(painter, theme().warning);
        polygon(painter, box, {{0.5, 0}, {1, 1}, {0, 1}});
        break;
    case StatusMark::bad:
        painter.setPen(QPen(theme().bad, 2));
        painter.drawLine(box.topLeft() + QPointF(1, 1), box.bottomRight() - QPointF(1, 1));
        painter.drawLine(box.topRight() + QPointF(-1, 1), box.bottomLeft() + QPointF(1, -1));
        break;
    case StatusMark::unknown:
        painter.setPen(theme().muted);
        painter.drawText(box.adjusted(-2, -4, 2, 4), Qt::AlignCenter, QStringLiteral("?"));
        break;
    default:
        painter.setPen(QPen(theme().muted, 1.6));
        painter.drawLine(QPointF(box.left() + 1, box.center().y()), QPointF(box.right() - 1, box.center().y()));
        break;
    }
    painter.restore();
}

MarkLabel::MarkLabel(QWidget* parent)
    : QWidget(parent)
{
    setFixedSize(14, 14);
}

void MarkLabel::setRole(int role)
{
    m_role = role;
    m_outcome.reset();
    setVisible(role >= 0);
    update();
}

void MarkLabel::setOutcome(std::optional<Outcome> outcome)
{
    m_role = -1;
    m_outcome = outcome;
    setVisible(outcome.has_value());
    update();
}

void MarkLabel::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    const QRectF box = QRectF(rect()).adjusted(1, 1, -1, -1);
    if (m_outcome) {
        drawOutcomeMark(painter, box.adjusted(1, 1, -1, -1), *m_outcome);
    } else {
        drawRoleMark(painter, box, m_role);
    }
}

} // namespace nanscope
