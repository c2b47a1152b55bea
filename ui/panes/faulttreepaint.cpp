// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QPainter>
#include <QPainterPath>

#include "ui/panes/faulttreeview.h"
#include "ui/panes/marks.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr double edgeGap = 2; ///< between an arrow's head and the mark it points at
constexpr double corner = 5;

double radiusOf(Role role)
{
    switch (role) {
    case Role::birth:
        return 7;
    case Role::upstream:
        return 6;
    default:
        return 4.5;
    }
}

std::size_t at(int index)
{
    return static_cast<std::size_t>(index);
}

// Opaque, so that lines that share a stretch look like one.
QColor edgeColor()
{
    const auto between = [](int a, int b) { return (6 * a + 4 * b) / 10; };
    const QColor& line = theme().muted;
    const QColor& ground = theme().surface;
    return {
        between(line.red(), ground.red()), between(line.green(), ground.green()), between(line.blue(), ground.blue())};
}

void drawArrow(QPainter& painter, const QPointF& from, const QPointF& tip)
{
    constexpr double length = 5;
    constexpr double half = 2.6;
    painter.drawLine(from, tip);
    const QPointF way = tip - from;
    const double distance = std::hypot(way.x(), way.y());
    if (distance < length) {
        return;
    }
    const QPointF ahead = way / distance;
    const QPointF aside(-ahead.y(), ahead.x());
    const QPointF foot = tip - length * ahead;
    const QColor color = painter.pen().color();
    painter.save();
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(QPolygonF {tip, foot + half * aside, foot - half * aside});
    painter.restore();
}

void drawRing(QPainter& painter, const QPointF& center, double radius, const QPen& pen)
{
    painter.setBrush(Qt::NoBrush);
    painter.setPen(pen);
    painter.drawEllipse(center, radius, radius);
}

} // namespace

void FaultTreeView::paintEvent(QPaintEvent* event)
{
    Q_UNUSED(event)
    QPainter painter(viewport());
    painter.setFont(font());
    if (m_tree.nodes.empty()) {
        painter.setPen(theme().muted);
        painter.drawText(
            viewport()->rect().adjusted(grid(3), 0, -grid(3), 0), Qt::AlignCenter | Qt::TextWordWrap, emptySentence());
        return;
    }
    painter.save();
    painter.setClipRect(plot());
    paintInside(painter);
    painter.restore();
    paintLabels(painter);
    paintCurrent(painter);
}

Picture FaultTreeView::picture() const
{
    if (m_tree.nodes.empty()) {
        return {};
    }
    return {viewport()->size(), [this](const PictureCanvas& canvas) {
                canvas.clipped(plot(), [this](const PictureCanvas& inside) { paintInside(inside.painter()); });
                paintLabels(canvas.painter());
            }};
}

void FaultTreeView::paintInside(QPainter& painter) const
{
    painter.setRenderHint(QPainter::Antialiasing);
    paintLanes(painter);
    painter.setPen(QPen(edgeColor(), 1.2));
    paintTrunks(painter);
    const Range lanes = visibleLanes();
    for (int lane = lanes.begin; lane < lanes.end; ++lane) {
        paintEdges(painter, lane);
    }
    for (int lane = lanes.begin; lane < lanes.end; ++lane) {
        paintNodes(painter, lane);
    }
}

void FaultTreeView::paintLabels(QPainter& painter) const
{
    painter.save();
    paintLaneLabels(painter);
    paintSteps(painter);
    painter.restore();
}

void FaultTreeView::paintCurrent(QPainter& painter) const
{
    if (m_current >= 0 && hasFocus()) {
        const FaultNode& node = m_tree.nodes[at(m_current)];
        painter.setClipRect(plot());
        drawRing(
            painter, origin() + m_geometry.centerOf(node), radiusOf(node.role) + 6, QPen(theme().text, 1, Qt::DotLine));
    }
}

FaultTreeView::Range FaultTreeView::visibleLanes() const
{
    const double top = plot().top() - origin().y();
    const auto lane = [&](double y) { return static_cast<int>(std::floor(y / m_geometry.laneHeight)); };
    const int count = static_cast<int>(m_tree.lanes.size());
    return {std::clamp(lane(top), 0, count), std::clamp(lane(top + plot().height()) + 1, 0, count)};
}

void FaultTreeView::paintLanes(QPainter& painter) const
{
    painter.setPen(theme().line);
    const Range lanes = visibleLanes();
    for (int lane = lanes.begin; lane < lanes.end; ++lane) {
        const double y = std::floor(origin().y() + m_geometry.laneHeight * (lane + 0.5)) + 0.5;
        painter.drawLine(QPointF(plot().left(), y), QPointF(plot().right(), y));
    }
}

double FaultTreeView::trunkX(int cause) const
{
    constexpr int beside = 3;
    constexpr double step = 3;
    const FaultNode& node = m_tree.nodes[at(cause)];
    return m_geometry.centerOf(node).x() + radiusOf(node.role) + 4 + step * (m_trunkNumbers[at(cause)] % beside);
}

void FaultTreeView::paintTrunks(QPainter& painter) const
{
    const QPointF zero = origin();
    for (const FaultTrunk& trunk : m_tree.trunks) {
        const QPointF cause = zero + m_geometry.centerOf(m_tree.nodes[at(trunk.from)]);
        const double x = zero.x() + trunkX(trunk.from);
        if (x < plot().left() || cause.x() > plot().right()) {
            continue;
        }
        const auto end = [&](int lane) {
            const double y = zero.y() + m_geometry.laneHeight * (lane + 0.5);
            return y < cause.y() ? y + corner : y > cause.y() ? y - corner : y;
        };
        painter.drawLine(QPointF(x, end(trunk.firstLane)), QPointF(x, end(trunk.lastLane)));
        painter.drawLine(cause, QPointF(x, cause.y()));
    }
}

void FaultTreeView::paintEdges(QPainter& painter, int lane) const
{
    const double left = plot().left() - origin().x();
    // An edge ends at its target, so one that starts in view may end right of it; no further than the next node.
    const auto [begin, end] = nodesBetween(m_tree, m_geometry, lane, left, left + plot().width());
    const int last = std::min(end + 1, m_tree.laneBegin[at(lane + 1)]);
    for (int node = begin; node < last; ++node) {
        for (int edge = m_edgeBegin[at(node)]; edge < m_edgeBegin[at(node + 1)]; ++edge) {
            paintEdge(painter, m_tree.edges[at(edge)]);
        }
    }
}

void FaultTreeView::paintEdge(QPainter& painter, const FaultEdge& edge) const
{
    const FaultNode& from = m_tree.nodes[at(edge.from)];
    const FaultNode& to = m_tree.nodes[at(edge.to)];
    const QPointF start = origin() + m_geometry.centerOf(from);
    const QPointF end = origin() + m_geometry.centerOf(to);
    const QPointF tip = end - QPointF(radiusOf(to.role) + edgeGap, 0);
    const double x = origin().x() + trunkX(edge.from);
    if (edge.along) {
        drawArrow(painter, start + QPointF(radiusOf(from.role), 0), tip);
    } else if (tip.x() <= x + corner) {
        drawArrow(painter, start, end - QPointF(0, std::copysign(radiusOf(to.role) + edgeGap, end.y() - start.y())));
    } else {
        QPainterPath bend(QPointF(x, end.y() - std::copysign(corner, end.y() - start.y())));
        bend.quadTo(QPointF(x, end.y()), QPointF(x + corner, end.y()));
        painter.setBrush(Qt::NoBrush);
        painter.drawPath(bend);
        drawArrow(painter, QPointF(x + corner, end.y()), tip);
    }
}

void FaultTreeView::paintNodes(QPainter& painter, int lane) const
{
    const double left = plot().left() - origin().x();
    const auto [begin, end] = nodesBetween(m_tree, m_geometry, lane, left, left + plot().width());
    for (int node = begin; node < end; ++node) {
        paintNode(painter, node);
    }
}

void FaultTreeView::paintNode(QPainter& painter, int node) const
{
    const FaultNode& shown = m_tree.nodes[at(node)];
    const QPointF center = origin() + m_geometry.centerOf(shown);
    const double radius = radiusOf(shown.role);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme().surface);
    painter.drawEllipse(center, radius + 1, radius + 1);
    const QRectF box(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius);
    drawRoleMark(painter, box, static_cast<int>(shown.role));
    if (node == m_selectedNode) {
        drawRing(painter, center, radius + 3.5, QPen(theme().accent, 2));
    }
    if (shown.captures.size() > 1) {
        painter.setFont(stepFont());
        painter.setPen(theme().muted);
        const double lift = radius + (node == m_selectedNode ? 4 : 0);
        const int tall = QFontMetrics(stepFont()).height();
        const QRectF above(center.x() - m_geometry.slotWidth / 2, center.y() - lift - tall, m_geometry.slotWidth, tall);
        painter.drawText(
            above, Qt::AlignHCenter | Qt::AlignBottom, countLabel(static_cast<std::int64_t>(shown.captures.size())));
    }
}

void FaultTreeView::paintLaneLabels(QPainter& painter) const
{
    painter.setFont(font());
    painter.setPen(theme().text);
    painter.setClipRect(QRectF(0, plot().top(), m_gutter, plot().height()));
    const Range lanes = visibleLanes();
    for (int lane = lanes.begin; lane < lanes.end; ++lane) {
        const QRectF room(
            grid(2), origin().y() + m_geometry.laneHeight * lane, m_gutter - grid(3), m_geometry.laneHeight);
        const QString label = laneLabel(m_tree.lanes[at(lane)]);
        painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
            fontMetrics().elidedText(label, Qt::ElideRight, static_cast<int>(room.width())));
    }
}

void FaultTreeView::paintSteps(QPainter& painter) const
{
    const QFont small = stepFont();
    const QFontMetrics metrics(small);
    const double top = plot().bottom() + grid(1);
    painter.setFont(small);
    painter.setPen(theme().muted);
    painter.setClipRect(viewport()->rect());
    painter.drawText(QRectF(grid(2), top, m_gutter - grid(2), metrics.height()), Qt::AlignLeft, tr("step"));
    painter.setClipRect(QRectF(m_gutter, top, viewport()->width() - m_gutter, metrics.height()));
    const auto first = std::ranges::upper_bound(m_geometry.columnLeft, plot().left() - origin().x());
    double free = plot().left() - 1;
    for (auto column = std::max<std::ptrdiff_t>(0, first - m_geometry.columnLeft.begin() - 1);
         column < static_cast<std::ptrdiff_t>(m_tree.columns.size()); ++column) {
        const auto i = static_cast<std::size_t>(column);
        const double middle = origin().x() + (m_geometry.columnLeft[i] + m_geometry.columnLeft[i + 1]) / 2;
        const QString text = stepText(m_tree.columns[i]);
        const double half = metrics.horizontalAdvance(text) / 2.0;
        if (middle - half > viewport()->width()) {
            break;
        }
        if (middle - half >= free && middle + half <= viewport()->width()) {
            painter.drawText(QRectF(middle - half - 1, top, 2 * half + 2, metrics.height()), Qt::AlignHCenter, text);
            free = middle + half + grid(2);
        }
    }
}

} // namespace nanscope
