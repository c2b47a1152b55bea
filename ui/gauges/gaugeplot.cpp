// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gauges/gaugeplot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/gauges/deepplot.h"
#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

using Values = std::vector<std::optional<double>>;

GaugePlot::Row rowOf(const Gauge& gauge)
{
    GaugePlot::Row row {gauge.iteration, gauge.spectralBound, gauge.spectralLimit, {}, gauge.absmaxQ,
        gauge.orthogonality, gauge.absmaxX};
    if (drawable(row.spectralBound) && drawable(row.spectralLimit)) {
        row.slackPercent = 100 * (*row.spectralLimit / *row.spectralBound - 1);
    }
    return row;
}

template <class Member>
Values columnOf(const std::vector<GaugePlot::Row>& rows, Member member)
{
    Values values;
    for (const auto& row : rows) {
        values.push_back(drawable(row.*member));
    }
    return values;
}

QString rowText(const GaugePlot::Row& row)
{
    QStringList parts {GaugePlot::tr("step %1").arg(row.iteration)};
    if (row.spectralBound) {
        parts << GaugePlot::tr("‖X‖₂ ≤ %1").arg(roundNumber(*row.spectralBound, 4));
    }
    // An upper bound beyond the limit says nothing: the norm itself may lie well below.
    if (row.slackPercent && *row.slackPercent > 0) {
        parts << GaugePlot::tr("limit %1, slack at least %2 %")
                     .arg(roundNumber(*row.spectralLimit, 4), roundNumber(*row.slackPercent));
    } else if (row.spectralLimit) {
        const QString limit = roundNumber(*row.spectralLimit, 4);
        parts << (row.spectralBound ? GaugePlot::tr("limit %1 (an upper bound beyond it proves nothing)").arg(limit)
                                    : GaugePlot::tr("limit %1").arg(limit));
    }
    if (row.absmaxQ) {
        parts << GaugePlot::tr("max |Q| %1").arg(roundNumber(*row.absmaxQ, 4));
    }
    if (row.orthogonality) {
        parts << GaugePlot::tr("‖XXᵀ − I‖ %1").arg(roundNumber(*row.orthogonality));
    }
    parts << GaugePlot::tr("largest |x| %1").arg(roundNumber(row.absmaxX, 4));
    return parts.join(QStringLiteral(" · "));
}

} // namespace

GaugePlot::GaugePlot(QWidget* parent)
    : StepPlot(parent)
{
    setLogarithmic();
    nameSteps(tr("step of the iteration"));
    setMinimumSize(160, 84);
    setAccessibleName(tr("Gauges per step"));
    restyle();
}

void GaugePlot::setCell(const Cell* cell)
{
    m_rows.clear();
    m_formatMax = 0;
    m_deep.reset();
    if (cell) {
        m_deep = cell->deep;
        m_formatMax = largestFinite(cell->precision);
        m_format = qstr(name(cell->precision));
        for (const Gauge& gauge : cell->gauges) {
            if (gauge.iteration > 0) {
                m_rows.push_back(rowOf(gauge));
            }
        }
    }
    rebuild();
}

void GaugePlot::setIteration(int iteration)
{
    m_iteration = iteration;
    if (m_marker) {
        moveMarker(*m_marker, iteration);
    }
}

void GaugePlot::addLine(const QString& name, const QColor& color, int shape, const Values& values)
{
    QVector<double> keys;
    QVector<double> numbers;
    for (std::size_t i = 0; i < values.size(); ++i) {
        keys << m_rows[i].iteration;
        numbers << values[i].value_or(std::numeric_limits<double>::quiet_NaN());
    }
    if (std::ranges::none_of(values, [](const auto& value) { return value.has_value(); })) {
        return;
    }
    auto* graph = plot().addGraph();
    graph->setName(name);
    graph->setPen(QPen(color, 1.5));
    graph->setScatterStyle(
        QCPScatterStyle(static_cast<QCPScatterStyle::ScatterShape>(shape), color, theme().surface, 7));
    graph->setData(keys, numbers, true);
    addLegend(name, color);
}

bool GaugePlot::drawsNothing() const
{
    return plot().graphCount() == 0;
}

void GaugePlot::addLimits()
{
    const auto limits = columnOf(m_rows, &Row::spectralLimit);
    if (std::ranges::any_of(limits, [](const auto& limit) { return limit.has_value(); })) {
        addLegend(tr("▬ divergence limit"), theme().bad);
    }
    for (const Row& row : m_rows) {
        if (const auto limit = drawable(row.spectralLimit)) {
            auto* line = new QCPItemLine(&plot());
            line->start->setCoords(row.iteration - 0.3, *limit);
            line->end->setCoords(row.iteration + 0.3, *limit);
            line->setPen(QPen(theme().bad, 2));
        }
    }
}

void GaugePlot::rebuild()
{
    const Theme& colors = theme();
    plot().clearItems();
    plot().clearGraphs();
    clearLegend();
    addLine(tr("• largest |x|"), colors.muted, QCPScatterStyle::ssDot, columnOf(m_rows, &Row::absmaxX));
    addLine(tr("□ ‖X‖₂ bound"), colors.ranks[0], QCPScatterStyle::ssSquare, columnOf(m_rows, &Row::spectralBound));
    addLine(tr("● max |Q|"), colors.warning, QCPScatterStyle::ssDisc, columnOf(m_rows, &Row::absmaxQ));
    addLine(tr("△ ‖XXᵀ − I‖"), colors.ranks[1], QCPScatterStyle::ssTriangle, columnOf(m_rows, &Row::orthogonality));
    addLimits();
    plot().rescaleAxes();
    QCPRange values = plot().yAxis->range();
    for (const Row& row : m_rows) {
        if (const auto limit = drawable(row.spectralLimit)) {
            values.expand(QCPRange(*limit, *limit));
        }
    }
    if (m_formatMax > 0 && values.upper * 100 > m_formatMax) {
        values.expand(QCPRange(m_formatMax, m_formatMax));
        auto* ceiling = new QCPItemStraightLine(&plot());
        ceiling->point1->setCoords(0, m_formatMax);
        ceiling->point2->setCoords(1, m_formatMax);
        ceiling->setPen(QPen(colors.bad, 1, Qt::DotLine));
        addLegend(tr("┈ largest %1 %2").arg(m_format, roundNumber(m_formatMax, 5)), colors.bad);
    }
    plot().yAxis->setRange(values.lower / 2, values.upper * 2);
    const double last = m_rows.empty() ? 1 : m_rows.back().iteration;
    plot().xAxis->setRange(0.5, last + 0.5);
    m_marker = addMarker(m_iteration);
    plot().replot(QCustomPlot::rpQueuedReplot);
    QStringList lines;
    for (const Row& row : m_rows) {
        lines << rowText(row);
    }
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
}

QString GaugePlot::textOf(int step) const
{
    const auto row = std::ranges::find(m_rows, step, &Row::iteration);
    return row == m_rows.end() ? QString() : rowText(*row);
}

QString GaugePlot::table() const
{
    const auto cell = [](std::optional<double> value) { return value ? exactNumber(*value) : QString(); };
    const DeepGauges deep = m_deep.value_or(DeepGauges {});
    const QStringList heading {QStringLiteral("iteration"), QStringLiteral("spectral_bound"), QStringLiteral("limit"),
        QStringLiteral("absmax_q"), QStringLiteral("orthogonality"), QStringLiteral("absmax")};
    QStringList lines {(heading + deepColumns(deep)).join(QLatin1Char('\t'))};
    for (const Row& row : m_rows) {
        const QStringList values {QString::number(row.iteration), cell(row.spectralBound), cell(row.spectralLimit),
            cell(row.absmaxQ), cell(row.orthogonality), cell(row.absmaxX)};
        lines << (values + deepValues(deep, row.iteration)).join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace nanscope
