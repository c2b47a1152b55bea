// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/faulttree/faulttreeview.h"

#include <algorithm>
#include <cmath>

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QToolTip>

#include "core/model/verdict.h"
#include "ui/faulttree/faulttree.h"
#include "ui/shared/marks.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr double leastLane = 30;
constexpr double leastSlot = 26;

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
        m_trunkNumbers[toIndex(trunk.from)] = trunk.number;
    }
    m_edgeBegin.assign(m_tree.nodes.size() + 1, static_cast<int>(m_tree.edges.size()));
    for (int edge = static_cast<int>(m_tree.edges.size()) - 1; edge >= 0; --edge) {
        m_edgeBegin[toIndex(m_tree.edges[toIndex(edge)].to)] = edge;
    }
    for (int node = static_cast<int>(m_tree.nodes.size()) - 1; node >= 0; --node) {
        const bool none = m_edgeBegin[toIndex(node)] == static_cast<int>(m_tree.edges.size());
        m_edgeBegin[toIndex(node)] = none ? m_edgeBegin[toIndex(node + 1)] : m_edgeBegin[toIndex(node)];
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
    const int axis = QFontMetrics(smallerFont(font())).height() + grid(2);
    const QSize room = viewport()->size() - QSize(m_gutter + grid(1), grid(1) + axis);
    return {QPointF(m_gutter, grid(1)), QSizeF(room.expandedTo(QSize(1, 1)))};
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
    const QPointF center = m_geometry.centerOf(m_tree.nodes[toIndex(node)]);
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
    const int capture = captureToSelect(m_tree.nodes[toIndex(node)], m_selected);
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

void FaultTreeView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    place();
}

void FaultTreeView::scrollContentsBy(int /*dx*/, int /*dy*/)
{
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

void FaultTreeView::paintEvent(QPaintEvent* /*event*/)
{
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
        const FaultNode& node = m_tree.nodes[toIndex(m_current)];
        painter.setClipRect(plot());
        // Around the ring of what is selected, which it must not be taken for.
        drawRing(painter, origin() + m_geometry.centerOf(node), radiusOf(node.role) + 7, QPen(theme().text, 2));
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
    const FaultNode& node = m_tree.nodes[toIndex(cause)];
    return m_geometry.centerOf(node).x() + radiusOf(node.role) + 4 + step * (m_trunkNumbers[toIndex(cause)] % beside);
}

void FaultTreeView::paintTrunks(QPainter& painter) const
{
    const QPointF zero = origin();
    for (const FaultTrunk& trunk : m_tree.trunks) {
        const QPointF cause = zero + m_geometry.centerOf(m_tree.nodes[toIndex(trunk.from)]);
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
    const int last = std::min(end + 1, m_tree.laneBegin[toIndex(lane + 1)]);
    for (int node = begin; node < last; ++node) {
        for (int edge = m_edgeBegin[toIndex(node)]; edge < m_edgeBegin[toIndex(node + 1)]; ++edge) {
            paintEdge(painter, m_tree.edges[toIndex(edge)]);
        }
    }
}

void FaultTreeView::paintEdge(QPainter& painter, const FaultEdge& edge) const
{
    const FaultNode& from = m_tree.nodes[toIndex(edge.from)];
    const FaultNode& to = m_tree.nodes[toIndex(edge.to)];
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
    const FaultNode& shown = m_tree.nodes[toIndex(node)];
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
        painter.setFont(smallerFont(font()));
        painter.setPen(theme().muted);
        const double lift = radius + (node == m_selectedNode ? 4 : 0);
        const int tall = QFontMetrics(smallerFont(font())).height();
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
        const QString label = laneLabel(m_tree.lanes[toIndex(lane)]);
        painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
            fontMetrics().elidedText(label, Qt::ElideRight, static_cast<int>(room.width())));
    }
}

void FaultTreeView::paintSteps(QPainter& painter) const
{
    const QFont small = smallerFont(font());
    const QFontMetrics metrics(small);
    const double top = plot().bottom() + grid(1);
    painter.setFont(small);
    painter.setPen(theme().muted);
    painter.setClipRect(viewport()->rect());
    painter.drawText(QRectF(grid(2), top, m_gutter - grid(2), metrics.height()), Qt::AlignLeft, tr("step"));
    painter.setClipRect(QRectF(m_gutter, top, viewport()->width() - m_gutter, metrics.height()));
    const std::size_t stride = stepStride(metrics);
    const auto first = std::ranges::upper_bound(m_geometry.columnLeft, plot().left() - origin().x());
    for (auto column = std::max<std::ptrdiff_t>(0, first - m_geometry.columnLeft.begin() - 1);
         column < static_cast<std::ptrdiff_t>(m_tree.columns.size()); ++column) {
        const auto i = static_cast<std::size_t>(column);
        const double middle = stepMiddle(i);
        const QString text = stepLabel(m_tree.columns[i].step, QStringLiteral("?"));
        const double wide = metrics.horizontalAdvance(text) + 2;
        if (middle - wide / 2 > viewport()->width()) {
            break;
        }
        if (!isStepLabelled(i, stride)) {
            continue;
        }
        // The last one stands at the edge, where its middle may have less room than half of it takes.
        const double beyond = middle + wide / 2 - viewport()->width();
        const double shift = beyond > 0 && beyond < wide / 2 && i + 1 == m_tree.columns.size() ? beyond : 0;
        painter.drawText(QRectF(middle - wide / 2 - shift, top, wide, metrics.height()), Qt::AlignHCenter, text);
    }
}

double FaultTreeView::stepMiddle(std::size_t column) const
{
    return origin().x() + (m_geometry.columnLeft[column] + m_geometry.columnLeft[column + 1]) / 2;
}

/// Every how many columns have a label, so that none touch: the same all along the tree, wherever it is scrolled to.
std::size_t FaultTreeView::stepStride(const QFontMetrics& metrics) const
{
    if (m_tree.columns.size() < 2) {
        return 1;
    }
    double closest = stepMiddle(1) - stepMiddle(0);
    for (std::size_t i = 2; i < m_tree.columns.size(); ++i) {
        closest = std::min(closest, stepMiddle(i) - stepMiddle(i - 1));
    }
    // Steps count up: those at the ends are the widest.
    const auto wide = [&](const FaultColumn& at) {
        return metrics.horizontalAdvance(stepLabel(at.step, QStringLiteral("?")));
    };
    const int widest = std::max(wide(m_tree.columns.front()), wide(m_tree.columns.back()));
    return static_cast<std::size_t>(std::max(1.0, std::ceil((widest + grid(1)) / std::max(closest, 1.0))));
}

/// The first and the last always; the one before the last gives way to it.
bool FaultTreeView::isStepLabelled(std::size_t column, std::size_t stride) const
{
    const std::size_t last = m_tree.columns.size() - 1;
    return column == last || column == 0 || (column % stride == 0 && last - column >= stride);
}

QString FaultTreeView::keysTitle() const
{
    return tr("Fault tree");
}

std::vector<KeyHint> FaultTreeView::keyHints() const
{
    return {{{Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down}, tr("the next capture in that direction"), {}},
        {{Qt::Key_Home, Qt::Key_End}, tr("the first and the last"), {}},
        {{Qt::Key_PageUp, Qt::Key_PageDown}, tr("scroll by a page"), {}},
        {{Qt::Key_Return, Qt::Key_Enter, Qt::Key_Space}, tr("select it, again for the next one at the same place"), {}},
        {{}, tr("select a capture, again for the next one at the same place"), tr("click")}};
}

QString FaultTreeView::emptySentence() const
{
    if (!m_run) {
        return tr("Open a run to see which capture follows from which");
    }
    if (m_run->captures.empty()) {
        return tr("This run holds no captures, so there is nothing to trace back");
    }
    return tr("The captures are not sorted into births and descendants yet");
}

QString FaultTreeView::laneLabel(const FaultLane& lane) const
{
    if (!lane.first) {
        return tr("no rank");
    }
    return lane.ranks == 1 ? tr("rank %1").arg(*lane.first)
                           : tr("ranks %1–%2 (%3)").arg(*lane.first).arg(*lane.last).arg(lane.ranks);
}

QString FaultTreeView::captureText(int capture) const
{
    const Capture& shown = m_run->captures[toIndex(capture)];
    const auto verdict = std::ranges::find_if(m_diagnosis->captures, [&](const CaptureVerdict& v) {
        return v.captureId != 0 && shown.id != 0 ? v.captureId == shown.id : v.capture == shown.file;
    });
    QString text = QStringLiteral("<b>%1</b>").arg(qstr(shown.file).toHtmlEscaped());
    if (verdict != m_diagnosis->captures.end()) {
        text += QStringLiteral("<br>%1<br>%2")
                    .arg(placeSentence(shown, *verdict).toHtmlEscaped(),
                        sentenceCase(qstr(verdict->summary)).toHtmlEscaped());
    }
    return text;
}

QString FaultTreeView::table() const
{
    return m_run ? faultTable(*m_run, m_captures) : QString();
}

QString FaultTreeView::describe(int node) const
{
    const FaultNode& shown = m_tree.nodes[toIndex(node)];
    const FaultColumn& column = m_tree.columns[toIndex(shown.column)];
    const QString step = column.step ? tr("update %1").arg(stepLabel(column.step)) : tr("step not recorded");
    const auto count = static_cast<int>(shown.captures.size());
    const QString place =
        tr("%1, %2: %3").arg(laneLabel(m_tree.lanes[toIndex(shown.lane)]), step, roleWord(shown.role));
    return count == 1 ? place : tr("%1, %2 captures").arg(place).arg(count);
}

QString FaultTreeView::toolTipOf(int node) const
{
    constexpr std::size_t mostFiles = 3;
    const std::vector<int>& captures = m_tree.nodes[toIndex(node)].captures;
    QStringList parts;
    if (captures.size() > 1) {
        parts << describe(node).toHtmlEscaped();
    }
    for (std::size_t i = 0; i < std::min(captures.size(), mostFiles); ++i) {
        parts << captureText(captures[i]);
    }
    if (captures.size() > mostFiles) {
        parts << tr("and %1 more; click again for the next").arg(captures.size() - mostFiles);
    }
    return QStringLiteral("<qt>%1</qt>").arg(parts.join(QStringLiteral("<br>")));
}

} // namespace nanscope
