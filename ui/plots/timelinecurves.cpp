// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How a plot draws its curves.
#include <algorithm>
#include <cmath>

#include "ui/plots/qcp.h"
#include "ui/plots/timelineplot.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

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

} // namespace

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

void TimelinePlot::updateScale()
{
    std::optional<Interval> finite;
    std::optional<Interval> positive;
    for (const TimelineTrace& trace : drawnTraces()) {
        finite = united(finite, finiteRange(trace.buckets, stepRange()));
        positive = united(positive, positiveRange(trace.buckets, stepRange()));
    }
    m_scale = chooseScale(finite, positive, m_look.scale);
    if (m_fixedValues && (!m_scale.logarithmic || m_fixedValues->low > 0)) {
        m_scale.values = *m_fixedValues;
    }
    applyScale(m_main->axis(QCPAxis::atLeft), m_scale);
}

} // namespace nanscope
