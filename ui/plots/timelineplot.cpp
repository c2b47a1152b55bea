// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/timelineplot.h"

#include <algorithm>
#include <cmath>

#include <QContextMenuEvent>
#include <QEvent>
#include <QVBoxLayout>

#include "ui/plots/axisstyle.h"
#include "ui/plots/qcp.h"
#include "ui/plots/timelineinput.h"
#include "ui/plots/timelinelane.h"
#include "ui/plots/timelinemarkers.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr std::size_t mostLines = 16;
constexpr int laneColumnWidth = 4;

} // namespace

TimelinePlot::TimelinePlot(QWidget* parent, TimelineView* view)
    : QWidget(parent)
    , m_plot(new QCustomPlot(this))
    , m_view(view ? view : new TimelineView(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    setFocusPolicy(Qt::StrongFocus);
    m_plot->setFocusPolicy(Qt::NoFocus);
    buildAxes();
    m_input = new TimelineInput(*this, *m_plot);
    setMinimumSize(200, 64);
    connect(m_view, &TimelineView::stepsChanged, this, &TimelinePlot::redraw);
    connect(m_view, &TimelineView::cursorChanged, this, &TimelinePlot::updateMarkers);
    connect(m_view, &TimelineView::markersChanged, this, &TimelinePlot::updateMarkers);
    restyle();
}

TimelinePlot::~TimelinePlot()
{
    if (m_view) {
        m_view->disconnect(this);
        m_view->setExtent(this, std::nullopt);
    }
}

void TimelinePlot::buildAxes()
{
    m_main = m_plot->axisRect();
    m_lane = new TimelineLane(m_plot);
    m_overlay = new TimelineMarkers(m_plot, m_main);
    m_main->setMinimumMargins({0, 0, 12, 0});
    const QSharedPointer<QCPAxisTickerFixed> wholeSteps(new QCPAxisTickerFixed);
    wholeSteps->setTickStep(1);
    wholeSteps->setTickCount(6);
    wholeSteps->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
    m_main->axis(QCPAxis::atBottom)->setTicker(wholeSteps);
    m_main->axis(QCPAxis::atBottom)->setNumberFormat(QStringLiteral("gb"));
    m_main->axis(QCPAxis::atBottom)->setNumberPrecision(9);
}

void TimelinePlot::restyle()
{
    QFont small = font();
    small.setPointSizeF(std::max(7.0, small.pointSizeF() - 1));
    m_plot->setBackground(QBrush(theme().surface));
    styleAxis(m_main->axis(QCPAxis::atBottom), small);
    styleAxis(m_main->axis(QCPAxis::atLeft), small);
    m_main->axis(QCPAxis::atBottom)->grid()->setVisible(false);
    if (hasFocus()) {
        m_main->axis(QCPAxis::atBottom)->setBasePen(QPen(theme().accent, 2));
    }
    m_lane->restyle(small);
    m_overlay->restyle(small);
    styleGraphs();
}

bool TimelinePlot::drawsBand() const
{
    return m_look.ranks == RankChoice::band || (m_look.ranks == RankChoice::automatic && m_traces.size() > mostLines);
}

std::span<const TimelineTrace> TimelinePlot::drawnTraces() const
{
    return std::span(m_traces).first(drawsBand() ? m_traces.size() : std::min(m_traces.size(), mostLines));
}

std::size_t TimelinePlot::hiddenLines() const
{
    return m_traces.size() - drawnTraces().size();
}

void TimelinePlot::setTraces(std::vector<TimelineTrace> traces)
{
    m_traces = std::move(traces);
    m_exact.clear();
    m_fixedValues.reset();
    rebuildGraphs();
    updateExtent();
}

void TimelinePlot::refineTraces(std::vector<TimelineTrace> traces)
{
    const bool same = traces.size() == m_traces.size();
    m_traces = std::move(traces);
    if (!same) {
        rebuildGraphs();
    }
    updateExtent();
    redraw();
}

void TimelinePlot::setEvents(std::vector<TimelineEvent> events)
{
    m_events = std::move(events);
    m_lane->setEvents(m_events);
    updateExtent();
    redraw();
}

void TimelinePlot::setLook(const TimelineLook& look)
{
    if (m_look == look) {
        return;
    }
    m_look = look;
    m_fixedValues.reset();
    rebuildGraphs();
}

void TimelinePlot::setValueRange(std::optional<Interval> values)
{
    m_fixedValues = values ? std::optional(drawable(*values)) : std::nullopt;
    redraw();
}

void TimelinePlot::updateExtent()
{
    std::optional<Interval> range;
    for (const TimelineTrace& trace : m_traces) {
        range = united(range, nanscope::stepRange(trace.buckets));
    }
    for (const TimelineEvent& event : m_events) {
        range = united(range, Interval {event.position, event.position});
    }
    m_view->setExtent(this, range);
}

int TimelinePlot::columns() const
{
    return std::max(m_main->width(), 16);
}

void TimelinePlot::redraw()
{
    const QCPRange steps(stepRange().low, stepRange().high);
    for (auto* rect : {m_lane->rect(), m_main}) {
        rect->axis(QCPAxis::atBottom)->setRange(steps);
    }
    updateScale();
    m_lines.clear();
    m_band = {};
    drawsBand() ? redrawBand() : redrawLines();
    m_marks.clear();
    for (const TimelineTrace& trace : m_traces) {
        std::ranges::copy(nonFiniteMarks(trace.buckets, stepRange(), std::max(columns() / laneColumnWidth, 8)),
            std::back_inserter(m_marks));
    }
    m_lane->setMarks(m_marks);
    updateCounts();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
    Q_EMIT redrawn();
}

void TimelinePlot::updateCounts()
{
    m_counts = {};
    for (const TimelineTrace& trace : m_traces) {
        const SampleCounts own = countSamples(trace.buckets, stepRange(), columns());
        m_counts.all += own.all;
        m_counts.drawn += own.drawn;
        m_counts.nonFinite += own.nonFinite;
        m_counts.nonPositive += own.nonPositive;
        m_counts.nonPositiveExact = m_counts.nonPositiveExact && own.nonPositiveExact;
    }
}

double TimelinePlot::pixelOfStep(double step) const
{
    return m_main->axis(QCPAxis::atBottom)->coordToPixel(step);
}

double TimelinePlot::stepOfPixel(double x) const
{
    return m_main->axis(QCPAxis::atBottom)->pixelToCoord(x);
}

double TimelinePlot::valueOfPixel(double y) const
{
    return m_main->axis(QCPAxis::atLeft)->pixelToCoord(y);
}

bool TimelinePlot::isOverValueAxis(const QPointF& at) const
{
    return at.x() < m_main->left() && at.y() >= m_main->top() && at.y() <= m_main->bottom();
}

const TimelineEvent* TimelinePlot::eventAt(const QPointF& at) const
{
    return m_lane->eventAt(m_events, at);
}

const TimelineEvent* TimelinePlot::eventNear(double step) const
{
    const TimelineEvent* nearest = nullptr;
    double least = 7;
    for (const TimelineEvent& event : m_events) {
        const double away = std::abs(pixelOfStep(event.position) - pixelOfStep(step));
        if (away < least || (nearest && away == least && event.kind < nearest->kind)) {
            nearest = &event;
            least = away;
        }
    }
    return nearest;
}

void TimelinePlot::showBox(std::optional<Interval> steps)
{
    m_overlay->showBox(steps);
}

void TimelinePlot::changeEvent(QEvent* event)
{
    if (isThemeChange(event) || event->type() == QEvent::FontChange) {
        restyle();
    }
    QWidget::changeEvent(event);
}

void TimelinePlot::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    redraw();
}

void TimelinePlot::contextMenuEvent(QContextMenuEvent* event)
{
    Q_EMIT menuRequested(event->globalPos());
}

void TimelinePlot::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    restyle();
}

void TimelinePlot::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    restyle();
}

} // namespace nanscope
