// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/timelineplot.h"

#include <algorithm>
#include <cmath>

#include <QEvent>
#include <QMouseEvent>
#include <QVBoxLayout>

#include "ui/plots/qcp.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr double eventRow = 1;
constexpr double nonFiniteRow = 0;
constexpr int laneHeight = 36;
constexpr Qt::PenStyle rankStyles[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine};

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

QCPGraph* addMarks(QCustomPlot* plot, QCPAxisRect* lane)
{
    auto* graph = plot->addGraph(lane->axis(QCPAxis::atBottom), lane->axis(QCPAxis::atLeft));
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setAdaptiveSampling(false);
    return graph;
}

void quiet(QCPAxis* axis, const QFont& font)
{
    axis->setBasePen(QPen(theme().line));
    axis->setTickPen(QPen(theme().line));
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelColor(theme().muted);
    axis->setLabelColor(theme().muted);
    axis->setTickLabelFont(font);
    axis->setLabelFont(font);
    axis->grid()->setPen(QPen(theme().line, 1, Qt::DotLine));
    axis->grid()->setZeroLinePen(Qt::NoPen);
}

/// QCPRange refuses spans below 1e-280 and values beyond 1e250.
Interval drawable(Interval range)
{
    constexpr double largest = 1e200;
    range.low = std::clamp(range.low, -largest, largest);
    range.high = std::clamp(range.high, -largest, largest);
    const double least = std::max(1e-200, 1e-9 * std::max(std::abs(range.low), std::abs(range.high)));
    if (range.high - range.low < least) {
        const double pad = range.low == 0 ? 1 : std::abs(range.low) * 0.05 + least;
        return {range.low - pad, range.high + pad};
    }
    return range;
}

Interval padded(Interval range)
{
    const double pad = 0.06 * (range.high - range.low);
    return {range.low - pad, range.high + pad};
}

Interval united(std::optional<Interval> a, const Interval& b)
{
    return a ? Interval {std::min(a->low, b.low), std::max(a->high, b.high)} : b;
}

} // namespace

TimelinePlot::TimelinePlot(QWidget* parent)
    : QWidget(parent)
    , m_plot(new QCustomPlot(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    buildLane();
    m_plot->installEventFilter(this);
    m_plot->setMouseTracking(true);
    m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    m_plot->setNoAntialiasingOnDrag(true);
    setMinimumSize(200, 112);
    restyle();
}

TimelinePlot::~TimelinePlot() = default;

void TimelinePlot::buildLane()
{
    m_main = m_plot->axisRect();
    m_plot->plotLayout()->insertRow(0);
    m_lane = new QCPAxisRect(m_plot);
    m_plot->plotLayout()->addElement(0, 0, m_lane);
    m_plot->plotLayout()->setRowSpacing(0);
    m_lane->setMinimumSize(0, laneHeight);
    m_lane->setMaximumSize(QWIDGETSIZE_MAX, laneHeight);
    m_lane->setMinimumMargins({0, 0, 0, 0});
    auto* margins = new QCPMarginGroup(m_plot);
    m_lane->setMarginGroup(QCP::msLeft | QCP::msRight, margins);
    m_main->setMarginGroup(QCP::msLeft | QCP::msRight, margins);
    m_main->setMinimumMargins({0, 0, 12, 0});
    m_lane->axis(QCPAxis::atBottom)->setTicks(false);
    m_lane->axis(QCPAxis::atBottom)->setTickLabels(false);
    m_lane->axis(QCPAxis::atLeft)->setRange(-0.75, 1.75);
    const QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
    names->addTick(eventRow, tr("events"));
    names->addTick(nonFiniteRow, tr("NaN ±Inf"));
    m_lane->axis(QCPAxis::atLeft)->setTicker(names);
    m_lane->axis(QCPAxis::atLeft)->setTickLength(0);
    for (auto* rect : {m_lane, m_main}) {
        rect->setRangeDrag(Qt::Horizontal);
        rect->setRangeZoom(Qt::Horizontal);
        rect->setRangeZoomFactor(0.85);
        const auto changed = qOverload<const QCPRange&>(&QCPAxis::rangeChanged);
        connect(rect->axis(QCPAxis::atBottom), changed, this,
            [this](const QCPRange& range) { onRangeDragged(range.lower, range.upper); });
    }
    for (int i = 0; i < 3; ++i) {
        m_nonFiniteGraphs.push_back(addMarks(m_plot, m_lane));
        m_eventGraphs.push_back(addMarks(m_plot, m_lane));
    }
    m_birthLine = new QCPItemStraightLine(m_plot);
    for (auto* end : {m_birthLine->point1, m_birthLine->point2}) {
        end->setAxes(m_main->axis(QCPAxis::atBottom), m_main->axis(QCPAxis::atLeft));
        end->setTypeX(QCPItemPosition::ptPlotCoords);
        end->setTypeY(QCPItemPosition::ptAxisRectRatio);
        end->setAxisRect(m_main);
    }
    m_birthLine->setClipAxisRect(m_main);
    m_birthLine->setVisible(false);
    const QSharedPointer<QCPAxisTickerFixed> wholeSteps(new QCPAxisTickerFixed);
    wholeSteps->setTickStep(1);
    wholeSteps->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
    m_main->axis(QCPAxis::atBottom)->setTicker(wholeSteps);
    m_main->axis(QCPAxis::atBottom)->setLabel(tr("step"));
    m_main->axis(QCPAxis::atBottom)->setLabelPadding(1);
}

void TimelinePlot::restyle()
{
    QFont small = font();
    small.setPointSizeF(std::max(7.0, small.pointSizeF() - 1));
    m_plot->setBackground(QBrush(theme().surface));
    for (auto* rect : {m_lane, m_main}) {
        quiet(rect->axis(QCPAxis::atBottom), small);
        quiet(rect->axis(QCPAxis::atLeft), small);
    }
    m_lane->axis(QCPAxis::atLeft)->setBasePen(Qt::NoPen);
    m_lane->axis(QCPAxis::atLeft)->grid()->setVisible(false);
    m_lane->axis(QCPAxis::atBottom)->grid()->setVisible(false);
    m_main->axis(QCPAxis::atBottom)->grid()->setVisible(false);
    m_nonFiniteGraphs[0]->setScatterStyle(barMark(theme().nan));
    m_nonFiniteGraphs[1]->setScatterStyle(mark(QCPScatterStyle::ssTriangle, theme().posInf, 8));
    m_nonFiniteGraphs[2]->setScatterStyle(mark(QCPScatterStyle::ssTriangleInverted, theme().negInf, 8));
    m_eventGraphs[0]->setScatterStyle(mark(QCPScatterStyle::ssDisc, theme().birth, 9));
    m_eventGraphs[1]->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme().muted, 1.2), QBrush(theme().surface), 6));
    m_eventGraphs[2]->setScatterStyle(mark(QCPScatterStyle::ssSquare, theme().muted, 5));
    m_birthLine->setPen(QPen(theme().birth, 1));
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        m_graphs[i]->setPen(QPen(theme().ranks[i % theme().ranks.size()], 1.4, rankStyles[i % std::size(rankStyles)]));
    }
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void TimelinePlot::setTraces(std::vector<Trace> traces)
{
    m_traces = std::move(traces);
    rebuildGraphs();
    setStepRange(fullRange());
}

void TimelinePlot::setEvents(std::vector<TimelineEvent> events)
{
    m_events = std::move(events);
    redraw();
}

void TimelinePlot::rebuildGraphs()
{
    for (auto* graph : m_graphs) {
        m_plot->removeGraph(graph);
    }
    m_graphs.clear();
    for (std::size_t i = 0; i < m_traces.size(); ++i) {
        auto* graph = m_plot->addGraph(m_main->axis(QCPAxis::atBottom), m_main->axis(QCPAxis::atLeft));
        graph->setAdaptiveSampling(false);
        m_graphs.push_back(graph);
    }
    restyle();
}

Interval TimelinePlot::fullRange() const
{
    std::optional<Interval> range;
    for (const Trace& trace : m_traces) {
        if (const auto own = nanscope::stepRange(trace.points)) {
            range = united(range, *own);
        }
    }
    for (const TimelineEvent& event : m_events) {
        range = united(range, {event.position, event.position});
    }
    const Interval whole = range.value_or(Interval {0, 1});
    const double pad = std::max(0.5, 0.02 * (whole.high - whole.low));
    return {whole.low - pad, whole.high + pad};
}

void TimelinePlot::setStepRange(Interval steps)
{
    m_steps = drawable(steps);
    redraw();
}

void TimelinePlot::onRangeDragged(double low, double high)
{
    const Interval whole = fullRange();
    const double span = std::min(high - low, whole.high - whole.low);
    low = std::clamp(low, whole.low, whole.high - span);
    const Interval steps = drawable({low, low + span});
    if (!(steps == m_steps)) {
        m_steps = steps;
        Q_EMIT stepRangeChanged(steps);
    }
    redraw();
}

void TimelinePlot::redraw()
{
    const QCPRange steps(m_steps.low, m_steps.high);
    for (auto* rect : {m_lane, m_main}) {
        const QSignalBlocker quietly(rect->axis(QCPAxis::atBottom));
        rect->axis(QCPAxis::atBottom)->setRange(steps);
    }
    redrawTraces();
    redrawLane();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void TimelinePlot::redrawTraces()
{
    const int columns = std::max(m_main->width(), 16);
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        const DecimatedTrace drawn = decimate(m_traces[i].points, m_steps, columns);
        m_graphs[i]->setData(QVector<double>(drawn.steps.begin(), drawn.steps.end()),
            QVector<double>(drawn.values.begin(), drawn.values.end()), true);
        // A handful of points is easier to read with its points marked.
        const bool sparse = drawn.steps.size() <= 60;
        m_graphs[i]->setScatterStyle(sparse ? QCPScatterStyle(QCPScatterStyle::ssDisc, 3) : QCPScatterStyle::ssNone);
    }
    updateValueAxis();
}

void TimelinePlot::updateValueAxis()
{
    std::optional<Interval> range;
    for (const Trace& trace : m_traces) {
        if (const auto own = finiteRange(trace.points, m_steps)) {
            range = united(range, *own);
        }
    }
    const Interval values = range.value_or(Interval {0, 1});
    constexpr double wide = 1e3;
    m_logarithmic = values.low > 0 && values.high / values.low > wide;
    auto* axis = m_main->axis(QCPAxis::atLeft);
    if (m_logarithmic) {
        m_values = {values.low / 1.5, values.high * 1.5};
        axis->setScaleType(QCPAxis::stLogarithmic);
        axis->setTicker(QSharedPointer<QCPAxisTicker>(new QCPAxisTickerLog));
        axis->setNumberFormat(QStringLiteral("eb"));
        axis->setNumberPrecision(0);
    } else {
        m_values = padded(drawable(values));
        axis->setScaleType(QCPAxis::stLinear);
        const QSharedPointer<QCPAxisTicker> ticker(new QCPAxisTicker);
        ticker->setTickCount(4);
        axis->setTicker(ticker);
        axis->setNumberFormat(QStringLiteral("gb"));
        axis->setNumberPrecision(4);
    }
    axis->setRange(m_values.low, m_values.high);
}

void TimelinePlot::redrawLane()
{
    const int columns = std::max(m_lane->width() / 4, 8);
    m_marks.clear();
    for (const Trace& trace : m_traces) {
        std::ranges::copy(nonFiniteMarks(trace.points, m_steps, columns), std::back_inserter(m_marks));
    }
    QVector<double> positions[3];
    for (const NonFiniteMark& mark : m_marks) {
        positions[static_cast<int>(mark.state) - static_cast<int>(PointState::nan)] << mark.position;
    }
    QVector<double> events[3];
    m_birthLine->setVisible(false);
    for (const TimelineEvent& event : m_events) {
        events[static_cast<int>(event.kind)] << event.position;
        if (event.kind == TimelineEvent::Kind::birth && !m_birthLine->visible()) {
            m_birthLine->point1->setCoords(event.position, 0);
            m_birthLine->point2->setCoords(event.position, 1);
            m_birthLine->setVisible(true);
        }
    }
    for (int i = 0; i < 3; ++i) {
        const auto at = static_cast<std::size_t>(i);
        m_nonFiniteGraphs[at]->setData(positions[i], QVector<double>(positions[i].size(), nonFiniteRow));
        m_eventGraphs[at]->setData(events[i], QVector<double>(events[i].size(), eventRow));
    }
}

double TimelinePlot::pixelOfStep(double step) const
{
    return m_main->axis(QCPAxis::atBottom)->coordToPixel(step);
}

QString TimelinePlot::readoutAt(double step) const
{
    constexpr int mostTraces = 4;
    QStringList parts;
    std::optional<std::int64_t> shown;
    for (const Trace& trace : m_traces) {
        const TracePoint* point = nearestPoint(trace.points, shown ? static_cast<double>(*shown) : step);
        if (!point || (shown && point->step != *shown) || parts.size() >= mostTraces) {
            continue;
        }
        shown = point->step;
        const QString value = point->state == PointState::reported ? tr("not given") : exactNumber(point->value);
        parts << QStringLiteral("%1: %2").arg(trace.label, value);
    }
    return shown ? tr("step %1 · %2").arg(QString::number(*shown), parts.join(QStringLiteral(" · "))) : QString();
}

bool TimelinePlot::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::MouseMove) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        Q_EMIT readoutChanged(readoutAt(m_main->axis(QCPAxis::atBottom)->pixelToCoord(mouse->position().x())));
    } else if (event->type() == QEvent::Leave) {
        Q_EMIT readoutChanged({});
    } else if (event->type() == QEvent::MouseButtonDblClick) {
        const Interval whole = fullRange();
        onRangeDragged(whole.low, whole.high);
    }
    return QWidget::eventFilter(watched, event);
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

} // namespace nanscope
