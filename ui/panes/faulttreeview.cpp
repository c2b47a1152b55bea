// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/faulttreeview.h"

#include <algorithm>
#include <cmath>

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>

#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr double leastLane = 30;
constexpr double leastSlot = 26;
std::size_t at(int index)
{
    return static_cast<std::size_t>(index);
}

} // namespace

FaultTreeView::FaultTreeView(QWidget* parent)
    : QAbstractScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Fault tree"));
    viewport()->setMouseTracking(true);
    viewport()->setAutoFillBackground(false);
    layOut();
}

void FaultTreeView::setRun(std::shared_ptr<const RunData> run, std::shared_ptr<const Diagnosis> diagnosis)
{
    m_run = std::move(run);
    m_diagnosis = std::move(diagnosis);
    m_captures = m_run && m_diagnosis ? faultCaptures(*m_run, *m_diagnosis) : std::vector<FaultCapture>();
    layOut();
}

void FaultTreeView::setMostLanes(int lanes)
{
    if (m_mostLanes != lanes) {
        m_mostLanes = lanes;
        layOut();
    }
}

void FaultTreeView::layOut()
{
    m_tree = layOutFaults(m_captures, m_mostLanes);
    m_trunkNumbers.assign(m_tree.nodes.size(), 0);
    for (const FaultTrunk& trunk : m_tree.trunks) {
        m_trunkNumbers[at(trunk.from)] = trunk.number;
    }
    m_edgeBegin.assign(m_tree.nodes.size() + 1, static_cast<int>(m_tree.edges.size()));
    for (int edge = static_cast<int>(m_tree.edges.size()) - 1; edge >= 0; --edge) {
        m_edgeBegin[at(m_tree.edges[at(edge)].to)] = edge;
    }
    for (int node = static_cast<int>(m_tree.nodes.size()) - 1; node >= 0; --node) {
        const bool none = m_edgeBegin[at(node)] == static_cast<int>(m_tree.edges.size());
        m_edgeBegin[at(node)] = none ? m_edgeBegin[at(node + 1)] : m_edgeBegin[at(node)];
    }
    m_current = -1;
    m_selectedNode = nodeOf(m_tree, m_selected);
    setAccessibleDescription(m_tree.nodes.empty() ? emptySentence() : QString());
    place();
}

void FaultTreeView::place()
{
    int widest = 0;
    for (const FaultLane& lane : m_tree.lanes) {
        widest = std::max(widest, fontMetrics().horizontalAdvance(laneLabel(lane)));
    }
    m_gutter = std::min(widest + grid(5), viewport()->width() * 2 / 5);
    m_geometry = placeFaults(m_tree, plot().size(), leastLane, leastSlot);
    const QSizeF room = plot().size();
    verticalScrollBar()->setRange(
        0, std::max(0, static_cast<int>(std::ceil(m_geometry.size.height() - room.height()))));
    verticalScrollBar()->setPageStep(static_cast<int>(room.height()));
    verticalScrollBar()->setSingleStep(static_cast<int>(m_geometry.laneHeight));
    horizontalScrollBar()->setRange(
        0, std::max(0, static_cast<int>(std::ceil(m_geometry.size.width() - room.width()))));
    horizontalScrollBar()->setPageStep(static_cast<int>(room.width()));
    horizontalScrollBar()->setSingleStep(static_cast<int>(m_geometry.slotWidth));
    viewport()->update();
}

QRectF FaultTreeView::plot() const
{
    const int axis = QFontMetrics(stepFont()).height() + grid(2);
    const QSize room = viewport()->size() - QSize(m_gutter + grid(1), grid(1) + axis);
    return {QPointF(m_gutter, grid(1)), QSizeF(room.expandedTo(QSize(1, 1)))};
}

QFont FaultTreeView::stepFont() const
{
    QFont small = font();
    small.setPointSizeF(std::max(6.5, small.pointSizeF() - 1.5));
    return small;
}

int FaultTreeView::startNode() const
{
    const auto birth = std::ranges::find(m_tree.nodes, Role::birth, &FaultNode::role);
    return birth == m_tree.nodes.end() ? 0 : static_cast<int>(birth - m_tree.nodes.begin());
}

QPointF FaultTreeView::origin() const
{
    return plot().topLeft() - QPointF(horizontalScrollBar()->value(), verticalScrollBar()->value());
}

QPoint FaultTreeView::positionOf(int node) const
{
    return (origin() + m_geometry.centerOf(m_tree.nodes[at(node)])).toPoint();
}

int FaultTreeView::nodeUnder(const QPointF& position) const
{
    return plot().contains(position) ? nodeAt(m_tree, m_geometry, position - origin(), leastSlot / 2) : -1;
}

void FaultTreeView::setSelected(int capture)
{
    m_selected = capture;
    m_selectedNode = nodeOf(m_tree, capture);
    if (m_selectedNode >= 0) {
        m_current = m_selectedNode;
        showNode(m_selectedNode);
    }
    viewport()->update();
}

void FaultTreeView::setCurrent(int node)
{
    m_current = node;
    showNode(node);
    setAccessibleDescription(describe(node));
    QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&changed);
    viewport()->update();
}

void FaultTreeView::showNode(int node)
{
    const QPointF center = m_geometry.centerOf(m_tree.nodes[at(node)]);
    const auto reveal = [](QScrollBar* bar, double middle, double half, double room) {
        const double nearest =
            std::clamp<double>(bar->value(), std::min(middle + half - room, middle - half), middle - half);
        bar->setValue(static_cast<int>(std::ceil(nearest)));
    };
    reveal(horizontalScrollBar(), center.x(), 1.5 * m_geometry.slotWidth, plot().width());
    reveal(verticalScrollBar(), center.y(), m_geometry.laneHeight / 2, plot().height());
}

void FaultTreeView::activate(int node)
{
    const int capture = captureToSelect(m_tree.nodes[at(node)], m_selected);
    m_selected = capture;
    m_selectedNode = node;
    setCurrent(node);
    Q_EMIT captureActivated(capture);
}

bool FaultTreeView::showToolTip(const QHelpEvent& event)
{
    const int node = nodeUnder(event.pos());
    if (node < 0) {
        QToolTip::hideText();
        return false;
    }
    QToolTip::showText(event.globalPos(), toolTipOf(node), viewport());
    return true;
}

bool FaultTreeView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        return showToolTip(*static_cast<QHelpEvent*>(event));
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void FaultTreeView::mousePressEvent(QMouseEvent* event)
{
    const int node = event->button() == Qt::LeftButton ? nodeUnder(event->position()) : -1;
    if (node >= 0) {
        activate(node);
    }
}

void FaultTreeView::mouseMoveEvent(QMouseEvent* event)
{
    viewport()->setCursor(nodeUnder(event->position()) >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void FaultTreeView::keyPressEvent(QKeyEvent* event)
{
    constexpr std::pair<int, FaultMove> moves[] = {{Qt::Key_Left, FaultMove::left}, {Qt::Key_Right, FaultMove::right},
        {Qt::Key_Up, FaultMove::up}, {Qt::Key_Down, FaultMove::down}, {Qt::Key_Home, FaultMove::first},
        {Qt::Key_End, FaultMove::last}};
    const auto* move = std::ranges::find(moves, event->key(), &std::pair<int, FaultMove>::first);
    const bool chooses =
        event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space;
    if (m_tree.nodes.empty() || (move == std::end(moves) && !chooses)) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    const int from = m_current < 0 ? startNode() : m_current;
    if (chooses) {
        activate(from);
    } else {
        setCurrent(m_current < 0 ? from : nodeAfter(m_tree, from, move->second));
    }
}

void FaultTreeView::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void FaultTreeView::focusOutEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

void FaultTreeView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    place();
}

void FaultTreeView::scrollContentsBy(int dx, int dy)
{
    Q_UNUSED(dx)
    Q_UNUSED(dy)
    viewport()->update();
}

void FaultTreeView::changeEvent(QEvent* event)
{
    if (isThemeChange(event) || event->type() == QEvent::FontChange) {
        place();
    }
    QAbstractScrollArea::changeEvent(event);
}

QSize FaultTreeView::minimumSizeHint() const
{
    return {grid(45), grid(20)};
}

QSize FaultTreeView::sizeHint() const
{
    return {grid(80), grid(36)};
}

} // namespace nanscope
