// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Mouse and menu of a heat map, and what they do to the view.
#include <algorithm>
#include <cmath>

#include <QContextMenuEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QWheelEvent>

#include "ui/plots/heatmap.h"
#include "ui/plots/heatview.h"

namespace nanscope {

namespace {

constexpr double notch = 120;
constexpr double zoomPerNotch = 1.25;

QPointF clampToUnit(QPointF p)
{
    return {std::clamp(p.x(), 0.0, 1.0), std::clamp(p.y(), 0.0, 1.0)};
}

} // namespace

void HeatMap::zoomAt(QPointF position, double factor, Gesture gesture)
{
    if (!hasElements()) {
        return;
    }
    const QPointF anchor = clampToUnit(fractionAt(position));
    const double zoom = std::clamp(m_view->zoom() * factor, 1.0, HeatView::maxZoom);
    const double ratio = m_view->zoom() / zoom;
    m_view->zoomTo(anchor + (m_view->center() - anchor) * ratio, zoom, gesture);
}

void HeatMap::panBy(QPointF pixels, Gesture gesture)
{
    if (hasElements()) {
        m_view->zoomTo(m_view->center() + fractionAt(pixels) - fractionAt({0, 0}), m_view->zoom(), gesture);
    }
}

void HeatMap::wheelEvent(QWheelEvent* event)
{
    const QPoint turned = event->angleDelta();
    if (turned.y() != 0) {
        zoomAt(event->position(), std::pow(zoomPerNotch, turned.y() / notch), Gesture::wheel);
    } else {
        panBy({-turned.x() / notch * 0.1 * width(), 0}, Gesture::wheel);
    }
    event->accept();
}

void HeatMap::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !hasElements()) {
        return;
    }
    m_drag = Drag {event->position(), event->modifiers().testFlag(Qt::ShiftModifier)};
    if (m_drag->box) {
        cursorTo(event->position());
        markCorner();
    }
    setCursor(m_drag->box ? Qt::CrossCursor : Qt::ClosedHandCursor);
}

void HeatMap::mouseMoveEvent(QMouseEvent* event)
{
    if (!hasElements()) {
        return;
    }
    if (m_drag && event->buttons().testFlag(Qt::LeftButton)) {
        drag(event->position());
        return;
    }
    const QPointF at = fractionAt(event->position());
    if (at == clampToUnit(at)) {
        cursorTo(event->position());
    } else {
        m_view->clearCursor();
    }
}

void HeatMap::drag(QPointF position)
{
    const QPointF moved = position - m_drag->from;
    const bool began = m_drag->moved;
    constexpr double slip = 3;
    if (!began && moved.manhattanLength() <= slip) {
        return;
    }
    m_drag->moved = true;
    if (m_drag->box) {
        cursorTo(position);
        return;
    }
    m_drag->from = position;
    panBy(-moved, began ? Gesture::ongoing : Gesture::fresh);
}

void HeatMap::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton) {
        return;
    }
    const std::optional<Drag> drag = std::exchange(m_drag, std::nullopt);
    unsetCursor();
    if (!drag || !drag->box) {
        return;
    }
    if (drag->moved) {
        zoomToBox();
    } else {
        dropCorner();
    }
}

void HeatMap::mouseDoubleClickEvent(QMouseEvent* event)
{
    Q_UNUSED(event)
    dropCorner();
    m_view->fit();
}

void HeatMap::leaveEvent(QEvent* event)
{
    Q_UNUSED(event)
    m_view->clearCursor();
}

/// To the element there, or the one nearest to it.
void HeatMap::cursorTo(QPointF position)
{
    m_view->setCursor(snapped(clampToUnit(fractionAt(position))));
}

void HeatMap::markCorner()
{
    m_corner = cursorElement();
    update();
}

void HeatMap::dropCorner()
{
    m_corner.reset();
    update();
}

std::optional<replay::Region> HeatMap::box() const
{
    const auto to = cursorElement();
    if (!m_corner || !to) {
        return std::nullopt;
    }
    const auto [top, bottom] = std::minmax(m_corner->row, to->row);
    const auto [left, right] = std::minmax(m_corner->col, to->col);
    return replay::Region {top, left, bottom - top + 1, right - left + 1};
}

void HeatMap::zoomToBox()
{
    const auto region = box();
    dropCorner();
    if (region) {
        showRegion(*region);
    }
}

void HeatMap::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    addZoomEntries(menu);
    menu.addSeparator();
    addCopyEntries(menu, *this, copies());
    menu.exec(event->globalPos());
}

/// The keys are told, not taken: they belong to the map that has the focus.
void HeatMap::addZoomEntries(QMenu& menu)
{
    // The mouse leaves the map for the menu and takes the cursor along.
    const auto cursor = m_view->hasCursor() ? std::optional(m_view->cursor()) : std::nullopt;
    const auto add = [&](const QString& text, const char* keys, auto slot) {
        QAction* action = menu.addAction(text + QLatin1Char('\t') + QLatin1String(keys));
        connect(action, &QAction::triggered, this, [this, cursor, slot] {
            if (cursor) {
                m_view->setCursor(*cursor);
            }
            slot();
        });
        return action;
    };
    constexpr double step = 2;
    add(tr("Show all"), "Home", [this] { m_view->fit(); });
    add(tr("Zoom in"), "+", [this] { zoomByKey(step); });
    add(tr("Zoom out"), "-", [this] { zoomByKey(1 / step); });
    if (m_corner) {
        add(tr("Zoom to the box that ends here"), "Z", [this] { zoomToBox(); });
        add(tr("Give up the box"), "Esc", [this] { dropCorner(); });
    } else {
        add(tr("Begin a box here"), "Z", [this] { markCorner(); })->setEnabled(cursorElement().has_value());
    }
    add(tr("Previous view"), "Backspace", [this] { m_view->goBack(); })->setEnabled(m_view->canGoBack());
    add(tr("Next view"), "Shift+Backspace", [this] { m_view->goForward(); })->setEnabled(m_view->canGoForward());
}

} // namespace nanscope
