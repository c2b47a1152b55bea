// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Mouse and keys of a heat map.
#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include "ui/plots/heatmap.h"
#include "ui/plots/heatview.h"

namespace nanscope {

namespace {

constexpr double wheelStep = 1.25;

QPointF clampToUnit(QPointF p)
{
    return {std::clamp(p.x(), 0.0, 1.0), std::clamp(p.y(), 0.0, 1.0)};
}

} // namespace

void HeatMap::zoomAt(QPointF position, double factor)
{
    if (!m_picture) {
        return;
    }
    const QPointF anchor = clampToUnit(fractionAt(position));
    const double zoom = std::clamp(m_view->zoom() * factor, 1.0, HeatView::maxZoom);
    const double ratio = m_view->zoom() / zoom;
    m_view->setView(anchor + (m_view->center() - anchor) * ratio, zoom);
}

void HeatMap::wheelEvent(QWheelEvent* event)
{
    zoomAt(event->position(), std::pow(wheelStep, event->angleDelta().y() / 120.0));
    event->accept();
}

void HeatMap::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && m_picture) {
        m_dragFrom = event->position();
        setCursor(Qt::ClosedHandCursor);
    }
}

void HeatMap::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_picture) {
        return;
    }
    if (m_dragFrom && event->buttons().testFlag(Qt::LeftButton)) {
        const QPointF moved = fractionAt(event->position()) - fractionAt(*m_dragFrom);
        m_dragFrom = event->position();
        m_view->setView(m_view->center() - moved, m_view->zoom());
        return;
    }
    const QPointF at = fractionAt(event->position());
    if (at == clampToUnit(at)) {
        m_view->setCursor(snapped(at));
    } else {
        m_view->clearCursor();
    }
}

void HeatMap::mouseReleaseEvent(QMouseEvent* event)
{
    Q_UNUSED(event)
    m_dragFrom.reset();
    unsetCursor();
}

void HeatMap::mouseDoubleClickEvent(QMouseEvent* event)
{
    Q_UNUSED(event)
    m_view->fit();
}

void HeatMap::leaveEvent(QEvent* event)
{
    Q_UNUSED(event)
    m_view->clearCursor();
}

void HeatMap::moveCursor(int rows, int cols)
{
    if (!m_picture) {
        return;
    }
    const Element from = cursorElement().value_or(Element {});
    const auto row = std::clamp<std::int64_t>(from.row + rows, 0, m_picture->tiles.rows - 1);
    const auto col = std::clamp<std::int64_t>(from.col + cols, 0, m_picture->tiles.cols - 1);
    m_view->setCursor({(static_cast<double>(col) + 0.5) / static_cast<double>(m_picture->tiles.cols),
        (static_cast<double>(row) + 0.5) / static_cast<double>(m_picture->tiles.rows)});
    if (!QRectF(rect()).contains(elementRect(row, col).center())) {
        m_view->setView(m_view->cursor(), m_view->zoom());
    }
}

QString HeatMap::keysTitle() const
{
    return tr("Heat maps");
}

std::vector<KeyHint> HeatMap::keyHints() const
{
    return {{{Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down},
                tr("move the cursor by one element, with Ctrl by 16"), {}},
        {{Qt::Key_Plus, Qt::Key_Equal, Qt::Key_Minus}, tr("zoom in and out at the cursor"), {}},
        {{Qt::Key_0}, tr("show the whole matrix"), {}},
        {{}, tr("zoom at the cursor, move, show the whole matrix"), tr("wheel, drag, double click")}};
}

void HeatMap::keyPressEvent(QKeyEvent* event)
{
    const int step = event->modifiers().testFlag(Qt::ControlModifier) ? 16 : 1;
    const QPointF middle = m_view->hasCursor() && m_picture
        ? elementRect(cursorElement()->row, cursorElement()->col).center()
        : QPointF(rect().center());
    switch (event->key()) {
    case Qt::Key_Left:
        return moveCursor(0, -step);
    case Qt::Key_Right:
        return moveCursor(0, step);
    case Qt::Key_Up:
        return moveCursor(-step, 0);
    case Qt::Key_Down:
        return moveCursor(step, 0);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoomAt(middle, wheelStep);
    case Qt::Key_Minus:
        return zoomAt(middle, 1 / wheelStep);
    case Qt::Key_0:
        return m_view->fit();
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace nanscope
