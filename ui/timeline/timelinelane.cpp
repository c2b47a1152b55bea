// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinelane.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/shared/axes.h"
#include "ui/shared/qcp.h"
#include "ui/shared/theme.h"
#include "ui/timeline/timelineaxis.h"

namespace nanscope {

namespace {

constexpr double eventRow = 1;
constexpr int rowHeight = 18;
constexpr int widestName = 84; ///< the curves below have that much less room
constexpr double stretchHeight = 4; ///< half a mark's: where it begins and ends a mark stands out

QCPScatterStyle barMark(const QColor& color)
{
    QPainterPath path;
    path.addRect(-0.5, -4, 1, 8);
    constexpr double unscaled = 6;
    return QCPScatterStyle(path, QPen(color, 1), QBrush(color), unscaled);
}

QCPScatterStyle mark(QCPScatterStyle::ScatterShape shape, const QColor& color, double size)
{
    return QCPScatterStyle(shape, QPen(color, 1), QBrush(color), size);
}

QCPGraph* addMarks(QCustomPlot* plot, QCPAxisRect* rect)
{
    auto* graph = plot->addGraph(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setAdaptiveSampling(false);
    return graph;
}

QCPItemStraightLine* addVertical(QCustomPlot* plot, QCPAxisRect* rect)
{
    auto* line = new QCPItemStraightLine(plot);
    for (auto* end : {line->point1, line->point2}) {
        end->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
        end->setTypeX(QCPItemPosition::ptPlotCoords);
        end->setTypeY(QCPItemPosition::ptAxisRectRatio);
        end->setAxisRect(rect);
    }
    line->setClipAxisRect(rect);
    line->setVisible(false);
    return line;
}

/// Events are above the first of them.
double placeOfRow(std::size_t row)
{
    return eventRow - 1 - static_cast<double>(row);
}

} // namespace

TimelineLane::TimelineLane(QCustomPlot* plot)
    : QObject(plot)
    , m_plot(plot)
    , m_rect(new QCPAxisRect(plot))
{
    QCPAxisRect* below = plot->axisRect();
    plot->plotLayout()->insertRow(0);
    plot->plotLayout()->addElement(0, 0, m_rect);
    plot->plotLayout()->setRowSpacing(0);
    m_rect->setMinimumMargins({0, 0, 0, 0});
    auto* margins = new QCPMarginGroup(plot);
    m_rect->setMarginGroup(QCP::msLeft | QCP::msRight, margins);
    below->setMarginGroup(QCP::msLeft | QCP::msRight, margins);
    m_rect->axis(QCPAxis::atBottom)->setTicks(false);
    m_rect->axis(QCPAxis::atBottom)->setTickLabels(false);
    m_rect->axis(QCPAxis::atLeft)->setTickLength(0);
    nameRows();
    for (std::size_t i = 0; i < m_events.size(); ++i) {
        // A graph would sort by steps, of whatever row.
        m_stretches[i] = new QCPCurve(m_rect->axis(QCPAxis::atBottom), m_rect->axis(QCPAxis::atLeft));
        m_stretches[i]->setAntialiased(false);
        m_nonFinite[i] = addMarks(plot, m_rect);
        m_events[i] = addMarks(plot, m_rect);
    }
    // A bar one pixel wide has to have its own colour, wherever between two pixels it falls.
    m_nonFinite[0]->setAntialiasedScatters(false);
    m_start = addVertical(plot, below);
}

void TimelineLane::restyle(const QFont& font)
{
    styleAxis(m_rect->axis(QCPAxis::atBottom), font);
    styleAxis(m_rect->axis(QCPAxis::atLeft), font);
    m_rect->axis(QCPAxis::atLeft)->setBasePen(Qt::NoPen);
    m_rect->axis(QCPAxis::atLeft)->grid()->setVisible(false);
    m_rect->axis(QCPAxis::atBottom)->grid()->setVisible(false);
    m_nonFinite[0]->setScatterStyle(barMark(theme().nan));
    m_nonFinite[1]->setScatterStyle(mark(QCPScatterStyle::ssTriangle, theme().posInf, 8));
    m_nonFinite[2]->setScatterStyle(mark(QCPScatterStyle::ssTriangleInverted, theme().negInf, 8));
    m_events[0]->setScatterStyle(mark(QCPScatterStyle::ssDisc, theme().birth, 9));
    m_events[1]->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme().muted, 1.2), QBrush(theme().surface), 6));
    m_events[2]->setScatterStyle(mark(QCPScatterStyle::ssSquare, theme().muted, 5));
    const QColor colors[] = {theme().nan, theme().posInf, theme().negInf};
    for (std::size_t i = 0; i < m_stretches.size(); ++i) {
        m_stretches[i]->setPen(QPen(colors[i], stretchHeight, Qt::SolidLine, Qt::FlatCap));
    }
    placeStart();
}

void TimelineLane::placeStart()
{
    const std::optional<double> at = m_birth ? m_birth : m_firstBad;
    m_start->setVisible(at.has_value());
    m_start->setPen(m_birth ? QPen(theme().birth, 1) : QPen(theme().nan, 1, Qt::DashLine));
    if (at) {
        m_start->point1->setCoords(*at, 0);
        m_start->point2->setCoords(*at, 1);
    }
}

void TimelineLane::setRows(const QStringList& names)
{
    if (names != m_rows) {
        m_rows = names;
        nameRows();
    }
}

void TimelineLane::nameRows()
{
    const std::size_t rows = std::max<std::size_t>(1, static_cast<std::size_t>(m_rows.size()));
    QCPAxis* axis = m_rect->axis(QCPAxis::atLeft);
    const QFontMetrics metrics(axis->tickLabelFont());
    const QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
    names->addTick(eventRow, tr("events"));
    for (std::size_t i = 0; i < rows; ++i) {
        names->addTick(placeOfRow(i),
            m_rows.isEmpty() ? tr("NaN ±Inf")
                             : metrics.elidedText(m_rows[static_cast<qsizetype>(i)], Qt::ElideMiddle, widestName));
    }
    axis->setTicker(names);
    axis->setRange(placeOfRow(rows) + 0.25, eventRow + 0.75);
    const int height = rowHeight * static_cast<int>(1 + rows);
    m_rect->setMinimumSize(0, height);
    m_rect->setMaximumSize(QWIDGETSIZE_MAX, height);
}

void TimelineLane::setMarks(std::span<const NonFiniteMark> marks)
{
    std::array<QVector<double>, 3> positions;
    std::array<QVector<double>, 3> rows;
    for (const NonFiniteMark& mark : marks) {
        const std::size_t which = static_cast<std::size_t>(mark.state) - static_cast<std::size_t>(PointState::nan);
        positions[which] << mark.position;
        rows[which] << placeOfRow(mark.row);
    }
    for (std::size_t i = 0; i < positions.size(); ++i) {
        m_nonFinite[i]->setData(positions[i], rows[i]);
    }
}

void TimelineLane::setFirst(std::optional<double> step)
{
    m_firstBad = step;
    placeStart();
}

void TimelineLane::setStretches(PointState state, std::span<const std::vector<Interval>> rows)
{
    QVector<double> order;
    QVector<double> steps;
    QVector<double> places;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (const Interval& stretch : rows[row]) {
            steps << stretch.low << stretch.high << stretch.high;
            places << placeOfRow(row) << placeOfRow(row) << std::numeric_limits<double>::quiet_NaN();
        }
    }
    for (qsizetype i = 0; i < steps.size(); ++i) {
        order << static_cast<double>(i);
    }
    m_stretches[static_cast<std::size_t>(state) - static_cast<std::size_t>(PointState::nan)]->setData(
        order, steps, places, true);
}

void TimelineLane::setEvents(std::span<const TimelineEvent> events)
{
    std::array<QVector<double>, 3> positions;
    m_birth.reset();
    for (const TimelineEvent& event : events) {
        positions[static_cast<std::size_t>(event.kind)] << event.position;
        if (event.kind == TimelineEvent::Kind::birth && !m_birth) {
            m_birth = event.position;
        }
    }
    placeStart();
    for (std::size_t i = 0; i < positions.size(); ++i) {
        m_events[i]->setData(positions[i], QVector<double>(positions[i].size(), eventRow));
    }
}

const TimelineEvent* TimelineLane::eventAt(std::span<const TimelineEvent> events, const QPointF& at) const
{
    constexpr double reach = 7;
    const TimelineEvent* nearest = nullptr;
    double least = reach;
    if (std::abs(at.y() - m_rect->axis(QCPAxis::atLeft)->coordToPixel(eventRow)) > 2 * reach) {
        return nullptr;
    }
    for (const TimelineEvent& event : events) {
        const double away = std::abs(m_rect->axis(QCPAxis::atBottom)->coordToPixel(event.position) - at.x());
        // Of marks on the same place the one that says most is on top.
        const bool above = nearest && away == least && event.kind < nearest->kind;
        if (away < least || above) {
            nearest = &event;
            least = away;
        }
    }
    return nearest;
}

} // namespace nanscope
