// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cliff/cliffstrip.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalBlocker>
#include <QToolTip>

#include "ui/cliff/cliffpicture.h"
#include "ui/shared/marks.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int margin = grid(4);
constexpr int stripMarkSize = 8;
constexpr int laneHeight = 11;
constexpr int axisY = 2 * laneHeight + 5;
constexpr int stripHeight = axisY + 17;
constexpr int widestOctaves = 20;

int sliderStep(double scale)
{
    return static_cast<int>(std::lround(std::log2(scale) * CliffStrip::perOctave));
}

QString octaveLabel(int octave)
{
    const QString power = QString::number(std::exp2(std::abs(octave)), 'g', 7);
    return octave < 0 ? QStringLiteral("1/") + power : power;
}

bool staysFinite(const replay::ReplayedCliff& cliff)
{
    return cliff.replays.front().cell.outcome == Outcome::finite;
}

} // namespace

CliffStrip::CliffStrip(QWidget* parent)
    : QAbstractSlider(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setSingleStep(1);
    setPageStep(perOctave / 16);
    resetRange();
    setAccessibleName(tr("Scale of the normalised input"));
    connect(this, &QAbstractSlider::valueChanged, this, [this](int value) {
        m_scale = std::exp2(static_cast<double>(value) / perOctave);
        update();
        Q_EMIT scaleChosen(m_scale);
    });
}

QSize CliffStrip::sizeHint() const
{
    return {320, stripHeight};
}

QSize CliffStrip::minimumSizeHint() const
{
    return {160, stripHeight};
}

void CliffStrip::resetRange()
{
    const QSignalBlocker quietly(this);
    setRange(-2 * perOctave, 2 * perOctave);
}

void CliffStrip::include(double scale)
{
    const double octave = std::clamp(std::log2(scale), -1.0 * widestOctaves, 1.0 * widestOctaves);
    const int low = static_cast<int>(std::floor(octave)) * perOctave;
    const int high = static_cast<int>(std::ceil(octave)) * perOctave;
    setRange(std::min(minimum(), low), std::max(maximum(), high));
}

void CliffStrip::setScale(double scale)
{
    const QSignalBlocker quietly(this);
    include(scale);
    setValue(sliderStep(scale));
    m_scale = scale;
    update();
}

void CliffStrip::setReplays(std::vector<SharedCliff> replays)
{
    m_replays = std::move(replays);
    update();
}

void CliffStrip::setExpected(std::optional<double> scale)
{
    m_expected = scale;
    if (scale) {
        const QSignalBlocker quietly(this);
        include(1.3 * *scale);
    }
    update();
}

double CliffStrip::xOf(double scale) const
{
    const double part = (std::log2(scale) * perOctave - minimum()) / (maximum() - minimum());
    return margin + part * (width() - 2 * margin);
}

int CliffStrip::valueAt(double x) const
{
    const double part = std::clamp((x - margin) / std::max(1, width() - 2 * margin), 0.0, 1.0);
    return static_cast<int>(std::lround(minimum() + part * (maximum() - minimum())));
}

void CliffStrip::drawAxis(QPainter& painter) const
{
    const int first = minimum() / perOctave;
    const int last = maximum() / perOctave;
    const int every = std::max(1, (last - first) * grid(12) / std::max(1, width() - 2 * margin) + 1);
    painter.setPen(theme().line);
    painter.drawLine(QPointF(xOf(std::exp2(first)), axisY), QPointF(xOf(std::exp2(last)), axisY));
    for (int octave = first; octave <= last; ++octave) {
        const double x = xOf(std::exp2(octave));
        painter.setPen(theme().line);
        painter.drawLine(QPointF(x, axisY - 3), QPointF(x, axisY + 3));
        if (octave % every == 0) {
            painter.setPen(theme().muted);
            painter.drawText(QRectF(x - 40, axisY + 4, 80, 16), Qt::AlignHCenter | Qt::AlignTop, octaveLabel(octave));
        }
    }
}

void CliffStrip::drawExpected(QPainter& painter) const
{
    if (!m_expected || sliderStep(*m_expected) > maximum() || sliderStep(*m_expected) < minimum()) {
        return;
    }
    const double x = xOf(*m_expected);
    painter.setPen(QPen(theme().bad, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, 0), QPointF(x, axisY + 4));
}

// A mark is left out where one of its kind would cover it; the ends of a run of equal outcomes, where something
// changes, come first. The tick below the lane stays in any case.
void CliffStrip::drawReplays(QPainter& painter) const
{
    std::vector<std::pair<double, Outcome>> drawn;
    const auto draw = [&](std::size_t i) {
        const Outcome outcome = m_replays[i]->replays.front().cell.outcome;
        const double x = xOf(m_replays[i]->scale);
        const bool covered = std::ranges::any_of(drawn, [&](const auto& other) {
            return std::abs(other.first - x) < stripMarkSize + 2
                && (other.second == Outcome::finite) == (outcome == Outcome::finite);
        });
        if (!covered) {
            const double y = outcome == Outcome::finite ? laneHeight + 1 : 1;
            drawOutcomeMark(painter, QRectF(x - stripMarkSize / 2.0, y, stripMarkSize, stripMarkSize), outcome);
            drawn.emplace_back(x, outcome);
        }
    };
    const auto outcomeOf = [this](std::size_t i) { return m_replays[i]->replays.front().cell.outcome; };
    for (std::size_t i = 0; i < m_replays.size(); ++i) {
        const double x = xOf(m_replays[i]->scale);
        painter.setPen(staysFinite(*m_replays[i]) ? theme().good : theme().nan);
        painter.drawLine(QPointF(x, axisY - 4), QPointF(x, axisY));
        const bool turns =
            i == 0 || i + 1 == m_replays.size() || outcomeOf(i) != outcomeOf(i - 1) || outcomeOf(i) != outcomeOf(i + 1);
        if (turns) {
            draw(i);
        }
    }
    for (std::size_t i = 0; i < m_replays.size(); ++i) {
        draw(i);
    }
}

void CliffStrip::drawHandle(QPainter& painter) const
{
    const double x = xOf(m_scale);
    painter.setPen(QPen(theme().accent, 1.5));
    painter.drawLine(QPointF(x, 0), QPointF(x, axisY));
    painter.setPen(QPen(hasFocus() ? theme().text : theme().surface, 1.5));
    painter.setBrush(isEnabled() ? theme().accent : theme().muted);
    painter.drawEllipse(QPointF(x, axisY), 6, 6);
}

void CliffStrip::paint(QPainter& painter) const
{
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(scaledFont(font(), 0.9));
    drawAxis(painter);
    drawExpected(painter);
    drawReplays(painter);
}

Picture CliffStrip::picture() const
{
    return {size(), [this](const PictureCanvas& canvas) { paint(canvas.painter()); }};
}

void CliffStrip::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    paint(painter);
    if (isEnabled()) {
        drawHandle(painter);
    }
}

void CliffStrip::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton) {
        setValue(valueAt(event->position().x()));
    }
}

void CliffStrip::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() & Qt::LeftButton) {
        setValue(valueAt(event->position().x()));
    }
}

QString CliffStrip::toolTipAt(double x) const
{
    const auto nearest = std::ranges::min_element(
        m_replays, {}, [&](const SharedCliff& each) { return std::abs(xOf(each->scale) - x); });
    if (nearest != m_replays.end() && std::abs(xOf((*nearest)->scale) - x) <= stripMarkSize) {
        return tr("replayed at %1: %2").arg(roundNumber((*nearest)->scale, 6), cliffOutcomeText(**nearest));
    }
    if (m_expected && std::abs(xOf(*m_expected) - x) <= stripMarkSize) {
        return tr("theory: the curve expects the limit at %1").arg(roundNumber(*m_expected, 6));
    }
    return tr("Drag or use the arrow keys: every setting is replayed. Marks are replays: tick finite, triangle Inf, "
              "cross NaN, ring all zero, diamond degenerate");
}

bool CliffStrip::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        QToolTip::showText(help->globalPos(), toolTipAt(help->pos().x()), this);
        return true;
    }
    return QAbstractSlider::event(event);
}

} // namespace nanscope
