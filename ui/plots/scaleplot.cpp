// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/scaleplot.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QWheelEvent>

#include "ui/plots/outcomelanes.h"
#include "ui/plots/qcp.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr double barHeight = 0.34; ///< of a lane
constexpr double fewestBinades = 0.25; ///< the axis shows no less

} // namespace

ScalePlot::ScalePlot(QWidget* parent)
    : StopPlot(parent)
{
    plot().xAxis->setLabel(tr("scale in binades; 0 is the input as it was captured"));
    setMinimumSize(220, 110);
    setAccessibleName(tr("How the output ends at every scale of the input"));
    restyle();
}

void ScalePlot::setAnswer(const ScalePicture& picture)
{
    m_picture = picture;
    m_stops.clear();
    m_looks.clear();
    for (std::size_t i = 0; i < picture.looks.size(); ++i) {
        const ScaleLook& look = picture.looks[i];
        // The two sides of an edge are one place.
        if (!look.edge || look.at == picture.edges[*look.edge].at) {
            m_stops.push_back(look.at);
            m_looks.push_back(i);
        }
    }
    setStop(-1);
    showWhole();
    rebuild();
}

QString ScalePlot::legendText()
{
    return tr("marks: looked at · bars: between looks that ended alike · hatched: not looked at, or it changes "
              "somewhere in there");
}

QString ScalePlot::textOf(int stop) const
{
    return scaleLookText(m_picture, m_looks[static_cast<std::size_t>(stop)]);
}

QString ScalePlot::textAt(double x) const
{
    constexpr double reach = 6;
    const int nearest = nearestStop(x);
    if (nearest >= 0) {
        const double stop = m_stops[static_cast<std::size_t>(nearest)];
        if (std::abs(plot().xAxis->coordToPixel(stop) - plot().xAxis->coordToPixel(x)) <= reach) {
            return textOf(nearest);
        }
    }
    return scalePlaceText(m_picture, x);
}

double ScalePlot::lowestShown() const
{
    return plot().xAxis->range().lower;
}

double ScalePlot::highestShown() const
{
    return plot().xAxis->range().upper;
}

void ScalePlot::showWhole()
{
    if (m_picture.stretches.empty()) {
        return;
    }
    plot().xAxis->setRange(m_picture.stretches.front().from, m_picture.stretches.back().to);
}

void ScalePlot::zoom(double factor, double about)
{
    if (m_picture.stretches.empty()) {
        return;
    }
    const double lowest = m_picture.stretches.front().from;
    const double highest = m_picture.stretches.back().to;
    const double size = std::clamp((highestShown() - lowestShown()) * factor, fewestBinades, highest - lowest);
    const double share = (about - lowestShown()) / (highestShown() - lowestShown());
    const double low = std::max(lowest, std::min(about - share * size, highest - size));
    plot().xAxis->setRange(low, low + size);
    plot().replot(QCustomPlot::rpQueuedReplot);
}

void ScalePlot::addStretch(const ScaleStretch& stretch)
{
    if (stretch.kind != ScaleStretch::Kind::alike) {
        addHatched(plot(), stretch.from, stretch.to);
        return;
    }
    const double row = laneOf(stretch.outcome);
    auto* bar = new QCPItemRect(&plot());
    bar->topLeft->setCoords(stretch.from, row - barHeight / 2);
    bar->bottomRight->setCoords(stretch.to, row + barHeight / 2);
    bar->setPen(Qt::NoPen);
    QColor color = laneColor(stretch.outcome);
    constexpr int faint = 110;
    color.setAlpha(faint);
    bar->setBrush(color);
}

void ScalePlot::addLooks(std::optional<Outcome> outcome)
{
    QVector<double> places;
    for (const ScaleLook& look : m_picture.looks) {
        if (look.outcome == outcome) {
            places << look.at;
        }
    }
    if (!places.isEmpty()) {
        addOutcomeMarks(plot(), outcome, places);
    }
}

void ScalePlot::addEdges()
{
    for (const ScaleMark& mark : m_picture.edges) {
        const double inside = laneOf(mark.edge.inside);
        const double outside = laneOf(mark.edge.outside);
        auto* line = new QCPItemLine(&plot());
        line->start->setCoords(mark.at, inside);
        line->end->setCoords(mark.at, outside);
        line->setPen(QPen(theme().text, 1.2));
        const auto side = mark.edge.up ? Qt::AlignLeft : Qt::AlignRight; // away from the captured scale
        const QString away = QString::number(std::abs(mark.at), 'f', 1);
        addText(QStringLiteral(" %1%2 ").arg(mark.at < 0 ? QStringLiteral("−") : QStringLiteral("+"), away),
            theme().text, mark.at, (inside + outside) / 2, side | Qt::AlignVCenter);
    }
}

void ScalePlot::rebuild()
{
    plot().clearItems();
    plot().clearGraphs();
    setOutcomeLanes(*plot().yAxis, m_picture.hasSilence());
    for (const ScaleStretch& stretch : m_picture.stretches) {
        addStretch(stretch);
    }
    if (!m_picture.looks.empty()) {
        addOwnPlace(plot(), 0, tr("as captured"));
    }
    addEdges();
    for (const auto outcome : {Outcome::finite, Outcome::degenerate, Outcome::zero, Outcome::inf, Outcome::nan}) {
        addLooks(outcome);
    }
    addLooks({});
    addCursor();
    QStringList lines {scaleSummary(m_picture)};
    for (const ScaleMark& mark : m_picture.edges) {
        lines << scaleEdgeText(mark);
    }
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    plot().replot(QCustomPlot::rpQueuedReplot);
}

std::vector<KeyHint> ScalePlot::keyHints() const
{
    std::vector<KeyHint> hints = StopPlot::keyHints();
    hints.push_back({{Qt::Key_Plus, Qt::Key_Equal, Qt::Key_Minus}, tr("fewer and more binades"), {}});
    hints.push_back({{Qt::Key_0}, tr("all binades that were looked at"), {}});
    hints.push_back({{}, tr("fewer and more binades"), tr("wheel")});
    return hints;
}

void ScalePlot::keyPressEvent(QKeyEvent* event)
{
    constexpr double step = 0.5;
    const double about = stop() >= 0 ? m_stops[static_cast<std::size_t>(stop())] : 0;
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoom(step, about);
        break;
    case Qt::Key_Minus:
        zoom(1 / step, about);
        break;
    case Qt::Key_0:
        showWhole();
        plot().replot(QCustomPlot::rpQueuedReplot);
        break;
    default:
        StopPlot::keyPressEvent(event);
    }
}

bool ScalePlot::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::Wheel) {
        return StopPlot::eventFilter(watched, event);
    }
    constexpr double twoNotches = 240;
    const auto& wheel = static_cast<const QWheelEvent&>(*event);
    zoom(std::exp2(-wheel.angleDelta().y() / twoNotches), plot().xAxis->pixelToCoord(wheel.position().x()));
    return true;
}

} // namespace nanscope
