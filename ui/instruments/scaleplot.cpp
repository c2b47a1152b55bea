// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/instruments/scaleplot.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QKeyEvent>
#include <QStringList>
#include <QWheelEvent>

#include "core/instruments/scale.h"
#include "ui/instruments/outcomelanes.h"
#include "ui/shared/axes.h"
#include "ui/shared/qcp.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

struct ScaleWords
{
    Q_DECLARE_TR_FUNCTIONS(Scale)
};

/// Room beyond what was looked at, so that its end is seen.
constexpr double unseenRoom = 0.04;

QString timesText(double at)
{
    return ScaleWords::tr("×%1").arg(roundNumber(std::exp2(at), 4));
}

std::vector<ScaleLook> looksOf(const instruments::ScaleAnswer& answer)
{
    std::vector<ScaleLook> looks;
    for (const instruments::ScalePoint& point : answer.points) {
        looks.push_back({std::log2(point.scale), point.scale, point.outcome, {}});
    }
    for (std::size_t i = 0; i < answer.edges.size(); ++i) {
        const instruments::ScaleEdge& edge = answer.edges[i];
        looks.push_back({std::log2(edge.lastInside), edge.lastInside, edge.inside, i});
        looks.push_back({std::log2(edge.firstOutside), edge.firstOutside, edge.outside, i});
    }
    std::ranges::stable_sort(looks, {}, &ScaleLook::at);
    return looks;
}

std::vector<ScaleStretch> stretchesOf(const std::vector<ScaleLook>& looks)
{
    using Kind = ScaleStretch::Kind;
    if (looks.empty()) {
        return {};
    }
    const double lowest = looks.front().at;
    const double highest = looks.back().at;
    const double room = unseenRoom * std::max(1.0, highest - lowest);
    std::vector<ScaleStretch> stretches {{lowest - room, lowest, Kind::unseen, {}}};
    for (std::size_t i = 0; i + 1 < looks.size(); ++i) {
        const bool alike = looks[i].outcome == looks[i + 1].outcome;
        const ScaleStretch next {
            looks[i].at, looks[i + 1].at, alike ? Kind::alike : Kind::between, alike ? looks[i].outcome : std::nullopt};
        ScaleStretch& last = stretches.back();
        if (alike && last.kind == Kind::alike && last.outcome == next.outcome) {
            last.to = next.to;
        } else if (next.to > next.from) {
            stretches.push_back(next);
        }
    }
    stretches.push_back({highest, highest + room, Kind::unseen, {}});
    return stretches;
}

const ScaleStretch* stretchAt(const ScalePicture& picture, double at)
{
    const auto found =
        std::ranges::find_if(picture.stretches, [at](const ScaleStretch& each) { return at <= each.to; });
    return found == picture.stretches.end() ? nullptr : &*found;
}

/// "+14.5 binades", with a real minus sign.
QString binadesText(double binades)
{
    const QString number = QString::number(std::abs(binades), 'f', std::abs(binades) < 10 ? 2 : 1);
    const QString sign = binades < 0 ? QStringLiteral("−") : QStringLiteral("+");
    return ScaleWords::tr("%1 binades").arg(sign + number);
}

/// The next edge above and below a place.
QStringList nextEdges(const ScalePicture& picture, double at)
{
    const ScaleMark* below = nullptr;
    const ScaleMark* above = nullptr;
    for (const ScaleMark& mark : picture.edges) {
        const ScaleMark*& side = mark.at > at ? above : below;
        if (!side || std::abs(mark.at - at) < std::abs(side->at - at)) {
            side = &mark;
        }
    }
    QStringList parts;
    for (const ScaleMark* mark : {below, above}) {
        if (mark) {
            parts << ScaleWords::tr("edge %1 away, at %2").arg(binadesText(mark->at - at), timesText(mark->at));
        }
    }
    return parts;
}

QString headroomText(const ScaleMark& mark)
{
    const QString words = ScaleWords::tr("%1 to %2").arg(binadesText(mark.at), outcomeWord(mark.edge.outside));
    return mark.place.isEmpty() ? words : ScaleWords::tr("%1 (%2)").arg(words, mark.place);
}

constexpr double barHeight = 0.34; ///< of a lane
constexpr double fewestBinades = 0.25; ///< the axis shows no less

} // namespace

bool ScalePicture::hasSilence() const
{
    return std::ranges::any_of(looks, [](const ScaleLook& look) { return !look.outcome; });
}

std::optional<std::size_t> ScalePicture::nearestEdge(bool up) const
{
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        if (edges[i].edge.up == up && (!nearest || std::abs(edges[i].at) < std::abs(edges[*nearest].at))) {
            nearest = i;
        }
    }
    return nearest;
}

ScalePicture makeScalePicture(const instruments::ScaleAnswer& answer, std::optional<double> epsilon)
{
    ScalePicture picture;
    picture.looks = looksOf(answer);
    picture.stretches = stretchesOf(picture.looks);
    for (const instruments::ScaleEdge& edge : answer.edges) {
        picture.edges.push_back({edge, std::log2(edge.firstOutside), qstr(instruments::closedFormOf(edge, epsilon))});
    }
    if (!picture.looks.empty()) {
        picture.lowest = picture.looks.front().at;
        picture.highest = picture.looks.back().at;
    }
    return picture;
}

QString scaleEdgeText(const ScaleMark& mark)
{
    const QString what = ScaleWords::tr("%1 to %2 at %3 (%4)")
                             .arg(outcomeWord(mark.edge.inside), outcomeWord(mark.edge.outside), timesText(mark.at),
                                 binadesText(mark.at));
    const QString why = mark.place.isEmpty() ? ScaleWords::tr("no end of a number format lies there") : mark.place;
    return QStringLiteral("%1: %2 · %3 · %4")
        .arg(what, why,
            ScaleWords::tr("largest element %1, norm %2")
                .arg(roundNumber(mark.edge.absmax, 6), roundNumber(mark.edge.frobenius, 6)),
            ScaleWords::tr("known to %1").arg(roundNumber(mark.edge.width(), 1)));
}

QString scalePlaceText(const ScalePicture& picture, double at)
{
    const ScaleStretch* stretch = stretchAt(picture, at);
    if (!stretch) {
        return {};
    }
    const QString place = ScaleWords::tr("%1 (%2)").arg(timesText(at), binadesText(at));
    if (stretch->kind == ScaleStretch::Kind::unseen) {
        return ScaleWords::tr("%1: not looked at, no number of the input's type lies there").arg(place);
    }
    if (stretch->kind == ScaleStretch::Kind::between) {
        return ScaleWords::tr("%1: not known, the outcome changes somewhere in here").arg(place);
    }
    const QString what = ScaleWords::tr("%1: between looks that ended %2").arg(place, outcomeText(stretch->outcome));
    return (QStringList {what} + nextEdges(picture, at)).join(QStringLiteral(" · "));
}

QString scaleSummary(const ScalePicture& picture)
{
    const auto own = std::ranges::find_if(picture.looks, [](const ScaleLook& look) { return look.at == 0; });
    if (own == picture.looks.end()) {
        return {};
    }
    QStringList parts {ScaleWords::tr("as captured: %1").arg(outcomeText(own->outcome))};
    for (const bool up : {false, true}) {
        if (const auto edge = picture.nearestEdge(up)) {
            parts << headroomText(picture.edges[*edge]);
        } else {
            parts << ScaleWords::tr("no edge found %1 to %2")
                         .arg(up ? ScaleWords::tr("up") : ScaleWords::tr("down"),
                             binadesText(up ? picture.highest : picture.lowest));
        }
    }
    return parts.join(QStringLiteral(" · "));
}

QString scaleTsv(const ScalePicture& picture)
{
    QStringList lines {QStringLiteral("kind\tscale\tbinades\toutcome\tlast_inside\tabsmax\tnorm\tclosed_form")};
    for (const ScaleLook& look : picture.looks) {
        if (!look.edge) {
            lines << QStringLiteral("look\t%1\t%2\t%3\t\t\t\t")
                         .arg(exactNumber(look.scale), exactNumber(look.at),
                             look.outcome ? qstr(name(*look.outcome)) : QString());
        }
    }
    for (const ScaleMark& mark : picture.edges) {
        const instruments::ScaleEdge& edge = mark.edge;
        lines << QStringLiteral("edge\t%1\t%2\t%3\t%4\t%5\t%6\t%7")
                     .arg(exactNumber(edge.firstOutside), exactNumber(mark.at), qstr(name(edge.outside)),
                         exactNumber(edge.lastInside), exactNumber(edge.absmax), exactNumber(edge.frobenius),
                         mark.place);
    }
    return lines.join(QLatin1Char('\n'));
}

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
    const ScaleLook& here = m_picture.looks[m_looks[static_cast<std::size_t>(stop)]];
    if (here.edge) {
        return scaleEdgeText(m_picture.edges[*here.edge]);
    }
    QStringList parts {here.at == 0 ? ScaleWords::tr("as captured: %1").arg(outcomeText(here.outcome))
                                    : ScaleWords::tr("looked at %1 (%2): %3")
                                          .arg(timesText(here.at), binadesText(here.at), outcomeText(here.outcome))};
    return (parts + nextEdges(m_picture, here.at)).join(QStringLiteral(" · "));
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
        addWords(plot(), QStringLiteral(" %1%2 ").arg(mark.at < 0 ? QStringLiteral("−") : QStringLiteral("+"), away),
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
