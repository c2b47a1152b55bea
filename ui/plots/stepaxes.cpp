// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/stepaxes.h"

#include <cmath>

#include "ui/plots/qcp.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

void styleAxis(QCPAxis& axis, const Theme& colors, const QFont& font)
{
    axis.setBasePen(QPen(colors.line));
    axis.setTickPen(QPen(colors.line));
    axis.setSubTickPen(Qt::NoPen);
    axis.setTickLabelColor(colors.muted);
    axis.setLabelColor(colors.muted);
    axis.setTickLabelFont(font);
    axis.setLabelFont(font);
    axis.grid()->setPen(QPen(colors.line, 1, Qt::DotLine));
    axis.grid()->setSubGridVisible(false);
    axis.grid()->setZeroLinePen(Qt::NoPen);
}

} // namespace

void prepareStepAxes(QCustomPlot& plot)
{
    plot.yAxis->setScaleType(QCPAxis::stLogarithmic);
    plot.yAxis->setTicker(QSharedPointer<QCPAxisTickerLog>(new QCPAxisTickerLog));
    plot.yAxis->setNumberFormat(QStringLiteral("eb"));
    plot.yAxis->setNumberPrecision(0);
    const QSharedPointer<QCPAxisTickerFixed> whole(new QCPAxisTickerFixed);
    whole->setTickStep(1);
    plot.xAxis->setTicker(whole);
}

void styleStepAxes(QCustomPlot& plot, const QFont& font)
{
    const Theme& colors = theme();
    QFont small(font);
    small.setPointSizeF(font.pointSizeF() * 0.9);
    plot.setBackground(QBrush(colors.surface));
    styleAxis(*plot.xAxis, colors, small);
    styleAxis(*plot.yAxis, colors, small);
    plot.xAxis->setLabel(QObject::tr("step of the iteration"));
}

std::optional<double> drawable(std::optional<double> value)
{
    return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

QCPItemStraightLine* addStepMarker(QCustomPlot& plot, int iteration)
{
    auto* marker = new QCPItemStraightLine(&plot);
    marker->setPen(QPen(theme().accent, 1, Qt::DashLine));
    moveStepMarker(*marker, iteration);
    return marker;
}

void moveStepMarker(QCPItemStraightLine& marker, int iteration)
{
    marker.setVisible(iteration > 0);
    marker.point1->setCoords(iteration, 1);
    marker.point2->setCoords(iteration, 10);
}

int stepAt(const QCustomPlot& plot, double x)
{
    return static_cast<int>(std::lround(plot.xAxis->pixelToCoord(x)));
}

} // namespace nanscope
