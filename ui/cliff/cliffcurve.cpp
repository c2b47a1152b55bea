// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cliff/cliffcurve.h"

#include <algorithm>

#include "ui/shared/axes.h"
#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

// The composed output counts as diverged from 1.5 on; a little more shows the curve on its way there.
constexpr double highestShown = 1.8;
// A dot farther out than this many limits stands at the edge with its value in words.
constexpr double farthestShown = 6;
constexpr double dotSize = 9;

} // namespace

CliffCurve::CliffCurve(QWidget* parent)
    : SmallPlot(parent)
{
    plot().axisRect()->setMinimumMargins({0, 4, 8, 0});
    const QSharedPointer<QCPAxisTickerFixed> halves(new QCPAxisTickerFixed);
    halves->setTickStep(0.5);
    plot().yAxis->setTicker(halves);
    setMinimumSize(180, 84);
    setAccessibleName(tr("Curve of the schedule with the measured σ_max"));
    restyle();
}

void CliffCurve::setPicture(const CliffPicture& picture, int step)
{
    m_picture = picture;
    m_step = step;
    rebuild();
}

const CliffStep* CliffCurve::shown() const
{
    const auto index = static_cast<std::size_t>(m_step) - 1;
    return index < m_picture.steps.size() ? &m_picture.steps[index] : nullptr;
}

std::span<const replay::Coefficients> CliffCurve::rest() const
{
    return std::span(m_picture.schedule).subspan(static_cast<std::size_t>(m_step) - 1);
}

void CliffCurve::addCurve(const CliffStep& step)
{
    const replay::ScalarCurve curve = replay::scalarCurve(rest(), step.limit, m_top);
    auto* graph = plot().addGraph();
    graph->setPen(QPen(theme().text, 1.2));
    QVector<double> keys {0};
    QVector<double> values {0};
    for (std::size_t i = 0; i < curve.sigma.size(); ++i) {
        keys << curve.sigma[i];
        // Far outside the plot, and no number that drawing would stumble over.
        values << std::clamp(curve.result[i], -10 * highestShown, 10 * highestShown);
    }
    graph->setData(keys, values, true);
}

void CliffCurve::addLimit(const CliffStep& step)
{
    auto* zone = new QCPItemRect(&plot());
    zone->setLayer(QStringLiteral("background"));
    zone->topLeft->setCoords(step.limit, highestShown);
    zone->bottomRight->setCoords(m_top, -highestShown);
    zone->setPen(Qt::NoPen);
    zone->setBrush(theme().badTint);
    addVerticalLine(plot(), step.limit, QPen(theme().bad, 1.5));
    const bool left = step.limit > m_top / 3;
    addWords(plot(), tr(" limit %1 ").arg(roundNumber(step.limit, 6)), theme().bad, step.limit, 0.1,
        (left ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignBottom);
}

void CliffCurve::addMeasured(const CliffStep& step)
{
    const QColor color = theme().accent;
    if (!step.own) {
        if (step.replayed) {
            addNote(tr("✕ not finite on entry of step %1").arg(step.step), theme().nan, {0.99, 0.02},
                Qt::AlignRight | Qt::AlignTop);
        }
        return;
    }
    if (*step.own > m_top) {
        addNote(tr("σ_max %1 ▶").arg(roundNumber(*step.own, 4)), color, {0.99, 0.3}, Qt::AlignRight | Qt::AlignTop);
        return;
    }
    const double height = std::clamp(replay::applySchedule(rest(), *step.own), 0.0, highestShown * 0.9);
    auto* bar = new QCPItemLine(&plot());
    bar->start->setCoords(step.range->low, height);
    bar->end->setCoords(step.range->high, height);
    bar->setPen(QPen(color, 4, Qt::SolidLine, Qt::FlatCap));
    bar->setHead(QCPLineEnding(QCPLineEnding::esBar, 12, 6));
    bar->setTail(QCPLineEnding(QCPLineEnding::esBar, 12, 6));
    auto* dot = plot().addGraph();
    dot->setLineStyle(QCPGraph::lsNone);
    const QColor inside = m_picture.current ? color : theme().surface;
    dot->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(color, 1.5), inside, dotSize));
    dot->addData(*step.own, height);
    const bool right = *step.own < m_top / 2;
    const double below = height > 1.2 ? -0.35 : 0.2;
    addWords(plot(), QStringLiteral(" %1 ").arg(roundNumber(*step.own, 5)), color, *step.own, height + below,
        (right ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
}

void CliffCurve::addNote(const QString& text, const QColor& color, QPointF place, Qt::Alignment alignment)
{
    auto* item = addWords(plot(), text, color, 0, 0, alignment);
    item->position->setType(QCPItemPosition::ptAxisRectRatio);
    item->position->setCoords(place);
}

void CliffCurve::rebuild()
{
    plot().clearItems();
    plot().clearGraphs();
    const CliffStep* step = shown();
    if (!step) {
        plot().replot(QCustomPlot::rpQueuedReplot);
        return;
    }
    const double farOut = std::min(step->own.value_or(0) * 1.15, farthestShown * step->limit);
    m_top = std::max(1.25 * step->limit, farOut);
    plot().xAxis->setRange(0, m_top);
    plot().yAxis->setRange(0, highestShown);
    plot().xAxis->setLabel(tr("σ entering step %1, and what step %2 leaves of it")
                               .arg(m_step)
                               .arg(static_cast<int>(m_picture.schedule.size())));
    addLimit(*step);
    addCurve(*step);
    addMeasured(*step);
    const bool left = step->limit > m_top / 3;
    addNote(tr("— theory   ● replayed"), theme().muted, left ? QPointF(0.05, 0.98) : QPointF(0.98, 0.8),
        (left ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignBottom);
    setAccessibleDescription(cliffStepText(m_picture, *step));
    plot().replot(QCustomPlot::rpQueuedReplot);
}

void CliffCurve::pointAt(double x, bool /*pressed*/)
{
    if (shown() && x > 0 && x <= m_top) {
        Q_EMIT readoutChanged(tr("theory: σ %1 becomes %2 after the last step")
                                  .arg(roundNumber(x, 4), roundNumber(replay::applySchedule(rest(), x), 4)));
    }
}

} // namespace nanscope
