// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatview.h"

#include <algorithm>

namespace nanscope {

void HeatView::setView(QPointF center, double zoom)
{
    zoom = std::clamp(zoom, 1.0, maxZoom);
    // The middle of the window never leaves the matrix, and a fitted matrix stays in the middle.
    const double margin = std::min(0.5, 0.5 / zoom);
    center.setX(std::clamp(center.x(), margin, 1 - margin));
    center.setY(std::clamp(center.y(), margin, 1 - margin));
    if (center == m_center && zoom == m_zoom) {
        return;
    }
    m_center = center;
    m_zoom = zoom;
    Q_EMIT viewChanged();
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
