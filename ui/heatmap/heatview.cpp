// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/heatmap/heatview.h"

#include <algorithm>

namespace nanscope {

HeatView::Place HeatView::clamped(QPointF center, double zoom)
{
    zoom = std::clamp(zoom, 1.0, maxZoom);
    // The middle of the window never leaves the matrix, and a fitted matrix stays in the middle.
    const double margin = std::min(0.5, 0.5 / zoom);
    center.setX(std::clamp(center.x(), margin, 1 - margin));
    center.setY(std::clamp(center.y(), margin, 1 - margin));
    return {center, zoom};
}

void HeatView::go(const Place& place)
{
    if (!(place == m_place)) {
        m_place = place;
        Q_EMIT viewChanged();
    }
}

void HeatView::setView(QPointF center, double zoom)
{
    go(clamped(center, zoom));
}

void HeatView::zoomTo(QPointF center, double zoom, Gesture gesture)
{
    const Place next = clamped(center, zoom);
    m_history.leave(m_place, next, gesture);
    if (!(next == m_place)) {
        go(next);
        Q_EMIT historyChanged();
    }
}

void HeatView::reset()
{
    m_history.forget();
    go({});
    Q_EMIT historyChanged();
}

void HeatView::goBack()
{
    if (const auto place = m_history.back(m_place)) {
        go(*place);
        Q_EMIT historyChanged();
    }
}

void HeatView::goForward()
{
    if (const auto place = m_history.forward(m_place)) {
        go(*place);
        Q_EMIT historyChanged();
    }
}

void HeatView::setCursor(QPointF at)
{
    if (m_hasCursor && at == m_cursor) {
        return;
    }
    m_cursor = at;
    m_hasCursor = true;
    Q_EMIT cursorChanged();
}

void HeatView::clearCursor()
{
    if (m_hasCursor) {
        m_hasCursor = false;
        Q_EMIT cursorChanged();
    }
}

} // namespace nanscope
