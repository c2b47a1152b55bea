// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/stepplot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QKeyEvent>

#include "ui/shared/axes.h"
#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

StepPlot::StepPlot(QWidget* parent)
    : SmallPlot(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    const QSharedPointer<QCPAxisTickerFixed> whole(new QCPAxisTickerFixed);
    whole->setTickStep(1);
    plot().xAxis->setTicker(whole);
}

void StepPlot::nameSteps(const QString& name)
{
    constexpr int low = grid(28);
    m_steps = name;
    plot().xAxis->setLabel(height() < low ? QString() : m_steps);
}

void StepPlot::resizeEvent(QResizeEvent* event)
{
    SmallPlot::resizeEvent(event);
    if (!m_steps.isEmpty()) {
        nameSteps(m_steps);
    }
}

void StepPlot::setLogarithmic()
{
    plot().yAxis->setScaleType(QCPAxis::stLogarithmic);
    plot().yAxis->setTicker(decadeTicker(*plot().yAxis));
    plot().yAxis->setNumberFormat(QStringLiteral("eb"));
    plot().yAxis->setNumberPrecision(0);
}

QCPItemStraightLine* StepPlot::addMarker(int step)
{
    auto* marker = addVerticalLine(plot(), step, QPen(theme().accent, 1, Qt::DashLine));
    moveMarker(*marker, step);
    return marker;
}

void StepPlot::moveMarker(QCPItemStraightLine& marker, int step)
{
    marker.setVisible(step > 0);
    marker.point1->setCoords(step, 1);
    marker.point2->setCoords(step, 10);
    plot().replot(QCustomPlot::rpQueuedReplot);
}

bool StepPlot::addLine(const StepValues& values, const QColor& color, int shape, double width)
{
    QVector<double> keys;
    QVector<double> numbers;
    for (const auto& [step, value] : values) {
        keys << step;
        numbers << drawable(value).value_or(std::numeric_limits<double>::quiet_NaN());
    }
    if (std::ranges::all_of(numbers, [](double number) { return std::isnan(number); })) {
        return false;
    }
    auto* graph = plot().addGraph();
    graph->setPen(QPen(color, width));
    graph->setScatterStyle(
        QCPScatterStyle(static_cast<QCPScatterStyle::ScatterShape>(shape), color, theme().surface, 7));
    graph->setData(keys, numbers, true);
    return true;
}

void StepPlot::addNamedLine(const QString& name, const StepValues& values, const QColor& color, int shape)
{
    if (addLine(values, color, shape, 1.5)) {
        addLegend(name, color);
    }
}

void StepPlot::clearLegend()
{
    m_legend.clear();
    m_legendHtml.clear();
}

void StepPlot::addLegend(const QString& name, const std::optional<QColor>& color)
{
    const QString joint = m_legend.isEmpty() ? QString() : QStringLiteral(" · ");
    const QString words = unbroken(name);
    const qsizetype mark = color ? 1 : 0;
    m_legend += joint + words;
    m_legendHtml += joint;
    if (color) {
        m_legendHtml +=
            QStringLiteral("<span style='color:%1'>%2</span>").arg(color->name(), words.left(mark).toHtmlEscaped());
    }
    m_legendHtml += words.mid(mark).toHtmlEscaped();
}

void StepPlot::pointAt(double x, bool pressed)
{
    const int step = static_cast<int>(std::lround(x));
    const QString text = textOf(step);
    if (text.isEmpty()) {
        return;
    }
    Q_EMIT readoutChanged(text);
    if (pressed) {
        setFocus(Qt::MouseFocusReason);
        Q_EMIT stepChosen(step);
    }
}

QString StepPlot::keysTitle() const
{
    return tr("Gauges and cliff");
}

std::vector<KeyHint> StepPlot::keyHints() const
{
    return {{{Qt::Key_Left, Qt::Key_Right}, tr("the step before or after"), {}},
        {{Qt::Key_Home, Qt::Key_End}, tr("the first and the last step"), {}}, {{}, tr("choose a step"), tr("click")}};
}

void StepPlot::keyPressEvent(QKeyEvent* event)
{
    const auto target = placeAfter(*event, step(), 1, steps());
    if (!target) {
        QWidget::keyPressEvent(event);
    } else if (steps() > 0 && *target != step()) {
        Q_EMIT stepChosen(*target);
        Q_EMIT readoutChanged(textOf(*target));
    }
}

std::optional<double> drawable(std::optional<double> value)
{
    return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

} // namespace nanscope
