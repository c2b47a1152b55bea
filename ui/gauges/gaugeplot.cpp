// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gauges/gaugeplot.h"

#include <algorithm>

#include "ui/gauges/deepplot.h"
#include "ui/shared/axes.h"
#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

GaugePlot::Row rowOf(const Gauge& gauge)
{
    GaugePlot::Row row {gauge.iteration, gauge.spectralBound, gauge.spectralLimit, {}, gauge.absmaxQ,
        gauge.orthogonality, gauge.absmaxX};
    if (drawable(row.spectralBound) && drawable(row.spectralLimit)) {
        row.slackPercent = 100 * (*row.spectralLimit / *row.spectralBound - 1);
    }
    return row;
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

template <class Member>
StepPlot::StepValues GaugePlot::columnOf(Member member) const
{
    StepValues values;
    for (const Row& row : m_rows) {
        values.emplace_back(row.iteration, row.*member);
    }
    return values;
}

bool GaugePlot::drawsNothing() const
{
    return plot().graphCount() == 0;
}

void GaugePlot::addLimits()
{
    if (std::ranges::any_of(m_rows, [](const Row& row) { return drawable(row.spectralLimit).has_value(); })) {
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

/// A run that stays finite may have a bound beyond the limit: the norm itself lies below.
QString GaugePlot::boundName() const
{
    const bool beyond = std::ranges::any_of(m_rows, [](const Row& row) { return row.slackPercent.value_or(0) < 0; });
    return beyond ? tr("□ upper bound of ‖X‖₂ (beyond the limit it proves nothing)") : tr("□ upper bound of ‖X‖₂");
}

void GaugePlot::rebuild()
{
    const Theme& colors = theme();
    plot().clearItems();
    plot().clearGraphs();
    clearLegend();
    addNamedLine(tr("• largest |x|"), columnOf(&Row::absmaxX), colors.muted, QCPScatterStyle::ssDot);
    addNamedLine(boundName(), columnOf(&Row::spectralBound), colors.ranks[0], QCPScatterStyle::ssSquare);
    addNamedLine(tr("● max |Q|"), columnOf(&Row::absmaxQ), colors.warning, QCPScatterStyle::ssDisc);
    addNamedLine(tr("△ ‖XXᵀ − I‖"), columnOf(&Row::orthogonality), colors.ranks[1], QCPScatterStyle::ssTriangle);
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
        addHorizontalLine(plot(), m_formatMax, QPen(colors.bad, 1, Qt::DotLine));
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
