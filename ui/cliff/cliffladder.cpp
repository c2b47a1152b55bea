// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cliff/cliffladder.h"

#include <algorithm>

#include "ui/shared/axes.h"
#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr double highestPercent = 150; ///< per cent
constexpr double edge = 136; ///< marks of what lies above

} // namespace

CliffLadder::CliffLadder(QWidget* parent)
    : StepPlot(parent)
{
    plot().axisRect()->setMinimumMargins({0, 4, 8, 0});
    const QSharedPointer<QCPAxisTickerFixed> halves(new QCPAxisTickerFixed);
    halves->setTickStep(50);
    plot().yAxis->setTicker(halves);
    plot().xAxis->setLabel(tr("σ_max in % of each step's limit"));
    setMinimumSize(140, 84);
    setAccessibleName(tr("σ_max of every step as a share of its limit"));
    setToolTip(tr("Choose the step whose curve is shown with a click or the arrow keys"));
    restyle();
}

void CliffLadder::setPicture(const CliffPicture& picture, int step)
{
    m_picture = picture;
    m_step = step;
    rebuild();
}

QString CliffLadder::textOf(int step) const
{
    return step >= 1 && step <= steps() ? cliffStepText(m_picture, m_picture.steps[static_cast<std::size_t>(step) - 1])
                                        : QString();
}

void CliffLadder::addMark(int step, double share, int shape, const QColor& color, bool filled)
{
    auto* graph = plot().addGraph();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(QCPScatterStyle(
        static_cast<QCPScatterStyle::ScatterShape>(shape), QPen(color, 1.5), filled ? color : theme().surface, 9));
    graph->addData(step, share);
}

void CliffLadder::addStep(const CliffStep& step)
{
    if (!step.replayed) {
        return;
    }
    if (!step.own) {
        addMark(step.step, edge, QCPScatterStyle::ssCross, theme().nan, false);
        return;
    }
    const double share = 100 * *step.own / step.limit;
    if (share > edge) {
        addMark(step.step, edge, QCPScatterStyle::ssTriangle, theme().bad, m_picture.current);
        return;
    }
    auto* bar = new QCPItemLine(&plot());
    bar->start->setCoords(step.step, 100 * step.range->low / step.limit);
    bar->end->setCoords(step.step, std::min(100 * step.range->high / step.limit, highestPercent));
    bar->setPen(QPen(theme().accent, 4, Qt::SolidLine, Qt::FlatCap));
    addMark(step.step, share, QCPScatterStyle::ssCircle, share > 100 ? theme().bad : theme().accent, m_picture.current);
}

void CliffLadder::rebuild()
{
    plot().clearItems();
    plot().clearGraphs();
    plot().xAxis->setRange(0.5, std::max(1, steps()) + 0.5);
    plot().yAxis->setRange(0, highestPercent);
    addHorizontalLine(plot(), 100, QPen(theme().bad, 1.5));
    addMarker(m_step);
    QStringList lines;
    for (const CliffStep& step : m_picture.steps) {
        addStep(step);
        lines << cliffStepText(m_picture, step);
    }
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    plot().replot(QCustomPlot::rpQueuedReplot);
}

} // namespace nanscope
