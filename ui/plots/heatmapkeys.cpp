// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Keys of a heat map; those of its history and its zoom are a timeline's, too.
#include <algorithm>

#include <QKeyEvent>

#include "ui/plots/heatmap.h"
#include "ui/plots/heatview.h"

namespace nanscope {

namespace {

constexpr double zoomStep = 1.25;

} // namespace

QString HeatMap::keysTitle() const
{
    return tr("Heat maps");
}

std::vector<KeyHint> HeatMap::keyHints() const
{
    return {{{Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down},
                tr("move the cursor by one element, with Ctrl by 16"), {}},
        {{Qt::Key_Plus, Qt::Key_Equal, Qt::Key_Minus}, tr("zoom in and out at the cursor"), {}},
        {{Qt::Key_PageUp, Qt::Key_PageDown}, tr("half a height up or down, with Shift half a width to the side"), {}},
        {{Qt::Key_Z}, tr("begin a box at the cursor, then zoom to it"), {}},
        {{Qt::Key_Escape}, tr("give up the box and clear the cursor"), {}},
        {{Qt::Key_Home, Qt::Key_0}, tr("show the whole matrix"), {}},
        {{QKeySequence::Undo, Qt::Key_Backspace, Qt::ALT | Qt::Key_Left}, tr("previous view"), {}},
        {{QKeySequence::Redo, Qt::SHIFT | Qt::Key_Backspace, Qt::ALT | Qt::Key_Right}, tr("next view"), {}},
        {{}, tr("zoom at the cursor, move, zoom to a box, show the whole matrix"),
            tr("wheel, drag, Shift+drag, double click")}};
}

void HeatMap::keyPressEvent(QKeyEvent* event)
{
    if (!keyOfHistory(*event) && !keyOfCursor(*event) && !keyOfZoom(*event)) {
        QWidget::keyPressEvent(event);
    }
}

bool HeatMap::keyOfHistory(const QKeyEvent& event)
{
    const HistoryKey key = historyKeyOf(event);
    if (key == HistoryKey::forward) {
        m_view->goForward();
    } else if (key == HistoryKey::back) {
        m_view->goBack();
    }
    return key != HistoryKey::none;
}

bool HeatMap::keyOfCursor(const QKeyEvent& event)
{
    const int step = event.modifiers().testFlag(Qt::ControlModifier) ? 16 : 1;
    switch (event.key()) {
    case Qt::Key_Left:
        moveCursor(0, -step);
        return true;
    case Qt::Key_Right:
        moveCursor(0, step);
        return true;
    case Qt::Key_Up:
        moveCursor(-step, 0);
        return true;
    case Qt::Key_Down:
        moveCursor(step, 0);
        return true;
    default:
        return false;
    }
}

bool HeatMap::keyOfZoom(const QKeyEvent& event)
{
    const double direction = event.key() == Qt::Key_PageUp ? -0.5 : 0.5;
    const bool sideways = event.modifiers().testFlag(Qt::ShiftModifier);
    switch (event.key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoomByKey(zoomStep);
        return true;
    case Qt::Key_Minus:
        zoomByKey(1 / zoomStep);
        return true;
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
        panBy(sideways ? QPointF(direction * width(), 0) : QPointF(0, direction * height()), Gesture::fresh);
        return true;
    case Qt::Key_Home:
    case Qt::Key_0:
        m_view->fit();
        return true;
    case Qt::Key_Z:
        m_corner ? zoomToBox() : markCorner();
        return true;
    case Qt::Key_Escape:
        dropCorner();
        m_view->clearCursor();
        return true;
    default:
        return false;
    }
}

void HeatMap::moveCursor(int rows, int cols)
{
    if (!hasElements()) {
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

/// At the cursor where it is in sight, else in the middle.
void HeatMap::zoomByKey(double factor)
{
    QPointF at = rect().center();
    if (const auto element = cursorElement()) {
        const QPointF cursor = elementRect(element->row, element->col).center();
        at = QRectF(rect()).contains(cursor) ? cursor : at;
    }
    zoomAt(at, factor, Gesture::fresh);
}

} // namespace nanscope
