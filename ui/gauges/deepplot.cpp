// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gauges/deepplot.h"

#include <algorithm>

#include "ui/shared/axes.h"
#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

std::optional<double> negative(const DeepGauge& step)
{
    return step.lambdaMin ? std::optional(-*step.lambdaMin) : std::nullopt;
}

QString eigenvalueText(const DeepGauge& step)
{
    if (!step.lambdaMin) {
        return DeepPlot::tr("λmin not known: R is not finite by then");
    }
    const QString value = DeepPlot::tr("λmin ≤ %1").arg(roundNumber(*step.lambdaMin));
    return *step.lambdaMin < 0 ? DeepPlot::tr("%1: R is no Gram matrix any more").arg(value) : value;
}

QString errorsText(const DeepGauge& step)
{
    QStringList parts;
    const auto add = [&](const QString& words, const std::optional<double>& value) {
        if (value) {
            parts << words.arg(roundNumber(*value));
        }
    };
    add(DeepPlot::tr("X to fp64 %1"), step.iterateDistance);
    add(DeepPlot::tr("asymmetry of R %1"), step.symmetryError);
    add(DeepPlot::tr("commutator %1"), step.commutator);
    return parts.isEmpty() ? DeepPlot::tr("not finite by then") : parts.join(QStringLiteral(" · "));
}

QString signalText(const DeepGauges& deep, const DeepGauge& step)
{
    if (step.signalGains.empty()) {
        return DeepPlot::tr("no signal direction is known here");
    }
    const auto [low, high] = std::ranges::minmax(step.signalGains);
    return DeepPlot::tr("%1 directions at %2 to %3 · published range %4 to %5")
        .arg(step.signalGains.size())
        .arg(roundNumber(low), roundNumber(high), roundNumber(deep.outputRange[0]), roundNumber(deep.outputRange[1]));
}

} // namespace

QStringList deepColumns(const DeepGauges& deep)
{
    if (deep.steps.empty()) {
        return {};
    }
    QStringList columns {QStringLiteral("iterate_distance"), QStringLiteral("lambda_min"),
        QStringLiteral("symmetry_error"), QStringLiteral("commutator")};
    for (const double share : deep.shares) {
        columns << QStringLiteral("gain_of_%1").arg(exactNumber(share));
    }
    return columns;
}

QStringList deepValues(const DeepGauges& deep, int iteration)
{
    const auto step = std::ranges::find(deep.steps, iteration, &DeepGauge::iteration);
    if (step == deep.steps.end()) {
        return {};
    }
    QStringList values;
    for (const auto& value : {step->iterateDistance, step->lambdaMin, step->symmetryError, step->commutator}) {
        values << (value ? exactNumber(*value) : QString());
    }
    for (std::size_t i = 0; i < deep.shares.size(); ++i) {
        values << (i < step->signalGains.size() ? exactNumber(step->signalGains[i]) : QString());
    }
    return values;
}

DeepPlot::DeepPlot(Kind kind, QWidget* parent)
    : StepPlot(parent)
    , m_kind(kind)
{
    setLogarithmic();
    nameSteps(tr("step of the iteration"));
    setMinimumSize(160, 84);
    setAccessibleName(title(kind));
    restyle();
}

QString DeepPlot::title(Kind kind)
{
    switch (kind) {
    case Kind::errors:
        return tr("Rounding errors");
    case Kind::eigenvalue:
        return tr("Smallest eigenvalue");
    case Kind::signal:
        return tr("Signal directions");
    }
    return {};
}

void DeepPlot::setDeep(const std::optional<DeepGauges>& deep)
{
    m_deep = deep;
    rebuild();
}

void DeepPlot::setIteration(int iteration)
{
    m_iteration = iteration;
    moveMarker(*m_marker, iteration);
}

const DeepGauge* DeepPlot::stepOf(int iteration) const
{
    if (!m_deep) {
        return nullptr;
    }
    const auto step = std::ranges::find(m_deep->steps, iteration, &DeepGauge::iteration);
    return step == m_deep->steps.end() ? nullptr : &*step;
}

QString DeepPlot::textOf(int iteration) const
{
    const DeepGauge* step = stepOf(iteration);
    if (!step) {
        return {};
    }
    const QString words = m_kind == Kind::errors ? errorsText(*step)
        : m_kind == Kind::eigenvalue             ? eigenvalueText(*step)
                                                 : signalText(*m_deep, *step);
    return tr("step %1").arg(iteration) + QStringLiteral(" · ") + words;
}

StepPlot::StepValues DeepPlot::valuesOf(const std::function<std::optional<double>(const DeepGauge&)>& value) const
{
    StepValues values;
    for (const DeepGauge& step : m_deep->steps) {
        values.emplace_back(step.iteration, value(step));
    }
    return values;
}

void DeepPlot::drawErrors()
{
    const Theme& colors = theme();
    addNamedLine(tr("■ X to fp64"), valuesOf(&DeepGauge::iterateDistance), colors.ranks[0], QCPScatterStyle::ssSquare);
    addNamedLine(tr("● asymmetry of R"), valuesOf(&DeepGauge::symmetryError), colors.warning, QCPScatterStyle::ssDisc);
    addNamedLine(
        tr("▲ commutator of R and Q"), valuesOf(&DeepGauge::commutator), colors.ranks[1], QCPScatterStyle::ssTriangle);
}

void DeepPlot::drawEigenvalue()
{
    const Theme& colors = theme();
    addNamedLine(
        tr("■ λmin of R, positive"), valuesOf(&DeepGauge::lambdaMin), colors.ranks[0], QCPScatterStyle::ssSquare);
    addNamedLine(tr("▼ negative, by magnitude"), valuesOf(negative), colors.bad, QCPScatterStyle::ssTriangleInverted);
}

void DeepPlot::addBand()
{
    for (const double edge : m_deep->outputRange) {
        if (drawable(edge)) {
            addHorizontalLine(plot(), edge, QPen(theme().good, 1, Qt::DashLine));
        }
    }
}

void DeepPlot::drawSignal()
{
    for (std::size_t i = 0; i < m_deep->shares.size(); ++i) {
        const auto gain = [i](const DeepGauge& step) {
            return i < step.signalGains.size() ? std::optional(step.signalGains[i]) : std::nullopt;
        };
        addLine(valuesOf(gain), theme().ranks[i % theme().ranks.size()], QCPScatterStyle::ssDot, 1);
    }
    if (!m_deep->shares.empty()) {
        addBand();
        addLegend(tr("‖uᵀX‖ of %1 directions").arg(m_deep->shares.size()));
        addLegend(tr("╌ published output"), theme().good);
    }
}

void DeepPlot::rebuild()
{
    plot().clearItems();
    plot().clearGraphs();
    clearLegend();
    QStringList lines;
    if (m_deep) {
        m_kind == Kind::errors ? drawErrors() : m_kind == Kind::eigenvalue ? drawEigenvalue() : drawSignal();
        for (const DeepGauge& step : m_deep->steps) {
            lines << textOf(step.iteration);
        }
        plot().rescaleAxes();
        plot().xAxis->setRange(0.5, static_cast<double>(m_deep->steps.size()) + 0.5);
    }
    QCPRange values = plot().graphCount() > 0 ? plot().yAxis->range() : QCPRange(0.1, 10);
    if (m_deep && m_kind == Kind::signal && drawable(m_deep->outputRange[0])) {
        values.expand(QCPRange(m_deep->outputRange[0], m_deep->outputRange[1]));
    }
    plot().yAxis->setRange(values.lower / 2, values.upper * 2);
    m_marker = addMarker(m_iteration);
    plot().replot(QCustomPlot::rpQueuedReplot);
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
}

} // namespace nanscope
