// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/instruments/outcomelanes.h"

#include <algorithm>
#include <array>

#include <QCoreApplication>
#include <QPainterPath>

#include "ui/shared/axes.h"
#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

struct LanesWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::OutcomeLanes)
};

constexpr double laneMarkSize = 9;
constexpr double halfLane = 0.6;

/// As in the rest of the window: tick, diamond, ring, triangle, cross.
struct Lane
{
    Outcome outcome;
    QCPScatterStyle::ScatterShape shape;
    bool filled;
    QColor Theme::*color;
};
constexpr std::array lanes {Lane {Outcome::finite, QCPScatterStyle::ssCustom, false, &Theme::good},
    Lane {Outcome::degenerate, QCPScatterStyle::ssDiamond, true, &Theme::warning},
    Lane {Outcome::zero, QCPScatterStyle::ssCircle, false, &Theme::bad},
    Lane {Outcome::inf, QCPScatterStyle::ssTriangle, true, &Theme::posInf},
    Lane {Outcome::nan, QCPScatterStyle::ssCross, false, &Theme::nan}};
static_assert(lanes.size() == static_cast<std::size_t>(silentLane));

std::size_t indexOf(Outcome outcome)
{
    return static_cast<std::size_t>(std::ranges::find(lanes, outcome, &Lane::outcome) - lanes.begin());
}

QPainterPath tick()
{
    QPainterPath path;
    path.moveTo(-0.5 * laneMarkSize, 0);
    path.lineTo(-0.15 * laneMarkSize, 0.4 * laneMarkSize);
    path.lineTo(0.5 * laneMarkSize, -0.45 * laneMarkSize);
    return path;
}

QCPScatterStyle markOf(std::optional<Outcome> outcome)
{
    const QPen pen(laneColor(outcome), 1.8);
    if (!outcome) {
        return {QCPScatterStyle::ssPlus, pen, Qt::NoBrush, laneMarkSize};
    }
    const Lane& lane = lanes[indexOf(*outcome)];
    if (lane.shape == QCPScatterStyle::ssCustom) {
        constexpr double asItIs = 6; // any other size would scale the pen, too
        return {tick(), pen, Qt::NoBrush, asItIs};
    }
    return {lane.shape, pen, lane.filled ? QBrush(pen.color()) : QBrush(theme().surface), laneMarkSize};
}

} // namespace

QString outcomeText(std::optional<Outcome> outcome)
{
    return outcome ? outcomeWord(*outcome) : LanesWords::tr("no output");
}

double laneOf(std::optional<Outcome> outcome)
{
    return outcome ? static_cast<double>(indexOf(*outcome)) : silentLane;
}

QColor laneColor(std::optional<Outcome> outcome)
{
    return outcome ? theme().*lanes[indexOf(*outcome)].color : theme().muted;
}

void setOutcomeLanes(QCPAxis& axis, bool silence)
{
    const QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
    for (const Lane& lane : lanes) {
        names->addTick(laneOf(lane.outcome), outcomeWord(lane.outcome));
    }
    if (silence) {
        names->addTick(silentLane, LanesWords::tr("no output"));
    }
    axis.setTicker(names);
    axis.setTickLength(0);
    axis.setRangeReversed(true);
    axis.setRange(-halfLane, (silence ? silentLane : lowestLane) + halfLane);
}

void addOutcomeMarks(QCustomPlot& plot, std::optional<Outcome> outcome, const QVector<double>& places)
{
    auto* graph = plot.addGraph();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(markOf(outcome));
    graph->setData(places, QVector<double>(places.size(), laneOf(outcome)));
}

void addHatched(QCustomPlot& plot, double from, double to)
{
    auto* part = new QCPItemRect(&plot);
    part->setLayer(QStringLiteral("background"));
    part->topLeft->setCoords(from, -1);
    part->bottomRight->setCoords(to, silentLane + 1);
    part->setPen(Qt::NoPen);
    QColor color = theme().muted;
    constexpr int faint = 110;
    color.setAlpha(faint);
    part->setBrush(QBrush(color, Qt::BDiagPattern));
}

void addOwnPlace(QCustomPlot& plot, double at, const QString& words)
{
    addVerticalLine(plot, at, QPen(theme().accent, 1.5));
    addWords(plot, QStringLiteral(" %1 ").arg(words), theme().accent, at, plot.yAxis->range().upper,
        Qt::AlignLeft | Qt::AlignBottom);
}

} // namespace nanscope
