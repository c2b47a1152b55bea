// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelineplot.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QContextMenuEvent>
#include <QEvent>
#include <QPainter>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "ui/shared/axes.h"
#include "ui/shared/marks.h"
#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/timeline/timelineinput.h"
#include "ui/timeline/timelinelane.h"
#include "ui/timeline/timelinemarkers.h"

namespace nanscope {

namespace {

constexpr std::size_t mostPlottedLines = 16;
constexpr int laneColumnWidth = 4;

constexpr Qt::PenStyle rankStyles[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine};
constexpr std::size_t sparsePoints = 60;

QVector<double> vectorOf(const std::vector<double>& values)
{
    return QVector<double>(values.begin(), values.end());
}

/// How far up and down a line goes, in pixels.
double climbOf(const Polyline& line, const QCPAxis* axis)
{
    double climb = 0;
    double before = Bucket::none;
    for (const double value : line.values) {
        const double at = axis->coordToPixel(value);
        climb += std::isnan(at - before) ? 0 : std::abs(at - before);
        before = at;
    }
    return climb;
}

void setLine(QCPGraph* graph, const Polyline& line, const QPen& pen, int columns)
{
    graph->setData(vectorOf(line.steps), vectorOf(line.values), true);
    // A handful of points is easier to read with its points marked.
    const bool sparse = line.steps.size() <= sparsePoints;
    graph->setScatterStyle(sparse ? QCPScatterStyle(QCPScatterStyle::ssDisc, 3) : QCPScatterStyle::ssNone);
    // Where noise fills every column, dashes and soft edges say nothing and cost a hundred times the drawing.
    constexpr double calm = 8;
    const bool noisy = climbOf(line, graph->valueAxis()) > calm * columns;
    graph->setPen(noisy ? QPen(pen.color(), 1) : pen);
    graph->setAntialiased(!noisy);
}

QColor faded(QColor color, float alpha)
{
    color.setAlphaF(alpha);
    return color;
}

std::vector<double> stepsLookedAt(const TimelineView& view)
{
    std::vector<double> steps;
    for (const auto& step :
        {view.cursor(), view.marker(TimelineView::Marker::a), view.marker(TimelineView::Marker::b)}) {
        if (step) {
            steps.push_back(*step);
        }
    }
    return steps;
}

} // namespace

TimelinePlot::TimelinePlot(QWidget* parent, TimelineView* view)
    : QWidget(parent)
    , m_plot(new QCustomPlot(this))
    , m_view(view ? view : new TimelineView(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 1, 1, 1); // room for the frame of the focus
    layout->addWidget(m_plot);
    setFocusPolicy(Qt::WheelFocus);
    m_plot->setFocusPolicy(Qt::NoFocus);
    // QCustomPlot sets it, and with it a right click on a curve asks nobody for a menu.
    m_plot->setAttribute(Qt::WA_NoMousePropagation, false);
    buildAxes();
    m_input = new TimelineInput(*this, *m_plot);
    setMinimumSize(200, 64);
    connect(m_view, &TimelineView::stepsChanged, this, &TimelinePlot::redraw);
    connect(m_view, &TimelineView::valuesChanged, this, &TimelinePlot::redraw);
    connect(m_view, &TimelineView::cursorChanged, this, &TimelinePlot::updateMarkers);
    connect(m_view, &TimelineView::markersChanged, this, &TimelinePlot::updateMarkers);
    // Only now the axes know their width; what is being drawn is drawn on for now.
    connect(m_plot, &QCustomPlot::afterLayout, this, &TimelinePlot::fitColumns, Qt::QueuedConnection);
    restyle();
}

TimelinePlot::~TimelinePlot()
{
    if (m_view) {
        m_view->disconnect(this);
        m_view->setExtent(this, std::nullopt);
        m_view->forgetValues(this);
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
    const QFont small = smallerFont(font(), 1, 7);
    m_plot->setBackground(QBrush(theme().surface));
    styleAxis(m_main->axis(QCPAxis::atBottom), small);
    styleAxis(m_main->axis(QCPAxis::atLeft), small);
    m_main->axis(QCPAxis::atBottom)->grid()->setVisible(false);
    m_lane->restyle(small);
    m_overlay->restyle(small);
    styleGraphs();
}

bool TimelinePlot::drawsBand() const
{
    return m_look.ranks == RankChoice::band
        || (m_look.ranks == RankChoice::automatic && m_traces.size() > mostPlottedLines);
}

std::span<const TimelineTrace> TimelinePlot::drawnTraces() const
{
    return std::span(m_traces).first(drawsBand() ? m_traces.size() : std::min(m_traces.size(), mostPlottedLines));
}

std::size_t TimelinePlot::hiddenLines() const
{
    return m_traces.size() - drawnTraces().size();
}

void TimelinePlot::setTraces(std::vector<TimelineTrace> traces)
{
    m_view->forgetValues(this);
    m_traces = std::move(traces);
    m_exact.clear();
    m_callsForLogarithm.reset();
    m_lane->setFirst(std::nullopt);
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
    m_view->forgetValues(this);
    m_look = look;
    rebuildGraphs();
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

void TimelinePlot::fitColumns()
{
    if (columns() != m_drawnColumns) {
        redraw();
    }
    // Something else may have been the first to draw on them.
    if (std::exchange(m_toldColumns, columns()) != columns()) {
        Q_EMIT columnsChanged();
    }
}

void TimelinePlot::redraw()
{
    m_drawnColumns = columns();
    const QCPRange steps(stepRange().low, stepRange().high);
    for (auto* rect : {m_lane->rect(), m_main}) {
        rect->axis(QCPAxis::atBottom)->setRange(steps);
    }
    updateScale();
    m_lines.clear();
    m_band = {};
    drawsBand() ? redrawBand() : redrawLines();
    redrawLane();
    updateCounts();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
    Q_EMIT redrawn();
}

/// A row each for a few lines, once one of them is not finite; many would leave the curves no room.
std::vector<std::span<const TimelineTrace>> TimelinePlot::laneRows() const
{
    constexpr std::size_t most = 3;
    const std::span<const TimelineTrace> all(m_traces);
    std::vector<std::span<const TimelineTrace>> rows;
    for (std::size_t begin = 0; begin < all.size();) {
        std::size_t end = begin + 1;
        while (end < all.size() && all[end].style == all[begin].style) {
            ++end;
        }
        rows.push_back(all.subspan(begin, end - begin));
        begin = end;
    }
    const bool bad = std::ranges::any_of(all, [](const TimelineTrace& trace) {
        return std::ranges::any_of(trace.buckets, [](const Bucket& bucket) { return nonFiniteCount(bucket) > 0; });
    });
    return bad && rows.size() > 1 && rows.size() <= most ? rows : std::vector {all};
}

void TimelinePlot::redrawLane()
{
    const auto rows = laneRows();
    QStringList names;
    m_marks.clear();
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (const TimelineTrace& trace : rows[row]) {
            for (NonFiniteMark mark :
                nonFiniteMarks(trace.buckets, stepRange(), std::max(columns() / laneColumnWidth, 8))) {
                mark.row = row;
                m_marks.push_back(mark);
            }
        }
        if (rows.size() > 1) {
            names << rows[row].front().label;
        }
    }
    m_lane->setRows(names);
    m_lane->setMarks(m_marks);
    // What is seen of a part begins where the part does.
    if (m_view->showsAll()) {
        const auto first = std::ranges::min_element(m_marks, {}, &NonFiniteMark::position);
        m_lane->setFirst(first == m_marks.end() ? std::nullopt : std::optional(first->position));
    }
    for (const PointState state : {PointState::nan, PointState::posInf, PointState::negInf}) {
        std::vector<std::vector<Interval>> stretches;
        std::ranges::transform(rows, std::back_inserter(stretches),
            [&](const auto& traces) { return nonFiniteStretches(traces, stepRange(), state); });
        m_lane->setStretches(state, stretches);
    }
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
        m_counts.exact = m_counts.exact && own.exact;
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
    constexpr int widest = 96; // of a step's number, with the room around it
    m_main->axis(QCPAxis::atBottom)->ticker()->setTickCount(std::clamp(width() / widest, 2, 6));
    redraw();
}

void TimelinePlot::contextMenuEvent(QContextMenuEvent* event)
{
    Q_EMIT menuRequested(event->globalPos());
}

void TimelinePlot::paintEvent(QPaintEvent* event)
{
    QWidget::paintEvent(event);
    QPainter painter(this);
    drawFocusFrame(painter, *this);
}

// How a plot draws its curves.

void TimelinePlot::styleGraphs()
{
    if (drawsBand() && m_graphs.size() == 3) {
        const QColor color = theme().ranks[0];
        m_graphs[0]->setPen(QPen(faded(color, 0.5F), 1));
        m_graphs[1]->setPen(QPen(faded(color, 0.5F), 1));
        m_graphs[1]->setBrush(faded(color, 0.22F));
        m_graphs[2]->setPen(QPen(color, 1.4));
    }
    redraw();
}

QPen TimelinePlot::penOf(std::size_t line) const
{
    const auto style = static_cast<std::size_t>(m_traces[line].style);
    return QPen(theme().ranks[style % theme().ranks.size()], 1.4, rankStyles[style % std::size(rankStyles)]);
}

QCPGraph* TimelinePlot::addGraph()
{
    auto* graph = m_plot->addGraph(m_main->axis(QCPAxis::atBottom), m_main->axis(QCPAxis::atLeft));
    graph->setAdaptiveSampling(false);
    return graph;
}

void TimelinePlot::rebuildGraphs()
{
    for (auto* graphs : {&m_graphs, &m_behind}) {
        for (auto* graph : *graphs) {
            m_plot->removeGraph(graph);
        }
        graphs->clear();
    }
    const std::size_t lines = drawsBand() ? 3 : drawnTraces().size();
    for (std::size_t i = 0; m_look.smooth && !drawsBand() && i < lines; ++i) {
        m_behind.push_back(addGraph());
    }
    for (std::size_t i = 0; i < lines; ++i) {
        m_graphs.push_back(addGraph());
    }
    if (drawsBand()) {
        m_graphs[1]->setChannelFillGraph(m_graphs[0]);
    }
    restyle();
}

void TimelinePlot::redrawLines()
{
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        const auto columns = columnsOf(m_traces[i].buckets, stepRange(), this->columns());
        m_lines.push_back(polylineOf(columns, logarithmic()));
        if (m_behind.empty()) {
            setLine(m_graphs[i], m_lines.back(), penOf(i), this->columns());
            continue;
        }
        setLine(m_behind[i], m_lines.back(), QPen(faded(penOf(i).color(), 0.35F), 1), this->columns());
        constexpr int partOfWidth = 40;
        const int half = std::max(2, static_cast<int>(columns.size()) / partOfWidth);
        setLine(m_graphs[i], smoothed(columns, half, logarithmic()), penOf(i), this->columns());
        m_graphs[i]->setScatterStyle(QCPScatterStyle::ssNone);
    }
}

void TimelinePlot::redrawBand()
{
    m_band = bandOf(m_traces, stepRange(), columns(), logarithmic());
    const std::vector<double>* curves[] = {&m_band.low, &m_band.high, &m_band.median};
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        m_graphs[i]->setData(vectorOf(m_band.steps), vectorOf(*curves[i]), true);
    }
}

/// By the whole of it: a zoom does not change the kind of axis.
bool TimelinePlot::choosesLogarithm(std::optional<Interval> finite)
{
    if (finite && (!m_callsForLogarithm || m_view->showsAll())) {
        m_callsForLogarithm = callForLogarithm(*finite);
    }
    return m_look.scale == ScaleChoice::automatic ? m_callsForLogarithm.value_or(false)
                                                  : m_look.scale == ScaleChoice::logarithmic;
}

void TimelinePlot::updateScale()
{
    std::optional<Interval> finite;
    std::optional<Interval> positive;
    for (const TimelineTrace& trace : drawnTraces()) {
        finite = united(finite, finiteRange(trace.buckets, stepRange()));
        positive = united(positive, positiveRange(trace.buckets, stepRange()));
    }
    m_scale = chooseScale(finite, positive, choosesLogarithm(finite));
    if (const auto narrowed = m_view->values(this); narrowed && (!m_scale.logarithmic || narrowed->low > 0)) {
        m_scale.values = drawable(*narrowed);
    }
    applyScale(m_main->axis(QCPAxis::atLeft), m_scale);
}

// What a plot says about the steps somebody looks at.

void TimelinePlot::updateMarkers()
{
    m_overlay->show(*m_view);
    Q_EMIT readoutChanged(readout());
}

StepSamples TimelinePlot::samplesAt(double step) const
{
    const StepSamples own = samplesOf(m_traces, step);
    const auto known = std::ranges::find(m_exact, step, &StepSamples::asked);
    return own.exact || known == m_exact.end() ? own : *known;
}

std::vector<double> TimelinePlot::inexactSteps() const
{
    std::vector<double> steps = stepsLookedAt(*m_view);
    std::erase_if(steps, [this](double step) { return samplesAt(step).exact; });
    return steps;
}

void TimelinePlot::setExact(std::vector<StepSamples> samples)
{
    const auto looked = stepsLookedAt(*m_view);
    std::erase_if(
        m_exact, [&](const StepSamples& old) { return std::ranges::find(looked, old.asked) == looked.end(); });
    std::ranges::move(samples, std::back_inserter(m_exact));
    Q_EMIT readoutChanged(readout());
}

QString TimelinePlot::readout() const
{
    return m_view->cursor() ? readoutText(m_traces, samplesAt(*m_view->cursor())) : QString();
}

QString TimelinePlot::delta() const
{
    const auto a = m_view->marker(TimelineView::Marker::a);
    const auto b = m_view->marker(TimelineView::Marker::b);
    return a && b ? deltaText(m_traces, samplesAt(*a), samplesAt(*b)) : QString();
}

void TimelinePlot::drawBoxNext()
{
    m_input->drawBoxNext();
}

QString TimelinePlot::tipAt(const QPointF& at) const
{
    const TimelineEvent* event = eventAt(at);
    if (!event) {
        return m_view->cursor() ? samplesTip(m_traces, samplesAt(*m_view->cursor())) : QString();
    }
    const QString place = event->line > 0 ? QStringLiteral("%1:%2").arg(event->source).arg(event->line) : event->source;
    return QStringList {event->text, place, event->capture}
        .filter(QRegularExpression(QStringLiteral(".")))
        .join(QLatin1Char('\n'));
}

void TimelinePlot::stepCursor(int direction)
{
    const Interval steps = stepRange();
    const double from = m_view->cursor().value_or(direction > 0 ? std::floor(steps.low) : std::ceil(steps.high));
    const NextSample next = nextSample(m_traces, from, direction);
    if (next.hidden) {
        Q_EMIT sampleWanted(from, direction);
    } else if (next.step) {
        m_view->setCursor(static_cast<double>(*next.step));
        m_view->reveal(static_cast<double>(*next.step));
    }
}

void TimelinePlot::jumpCursor(int direction)
{
    const double from = m_view->cursor().value_or(direction > 0 ? stepRange().low : stepRange().high);
    std::optional<double> next;
    const auto consider = [&](double at) {
        const bool ahead = direction > 0 ? at > from : at < from;
        if (ahead && (!next || (direction > 0 ? at < *next : at > *next))) {
            next = at;
        }
    };
    std::ranges::for_each(m_marks, consider, &NonFiniteMark::position);
    std::ranges::for_each(m_events, consider, &TimelineEvent::position);
    if (next) {
        m_view->setCursor(next);
        m_view->reveal(*next);
    }
}

void TimelinePlot::activateEvent(const TimelineEvent& event)
{
    m_view->setCursor(event.position);
    Q_EMIT eventActivated(event);
}

} // namespace nanscope
