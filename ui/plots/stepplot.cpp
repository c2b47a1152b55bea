// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/stepplot.h"

#include <algorithm>
#include <cmath>

#include <QFontMetrics>
#include <QKeyEvent>

#include "ui/plots/qcp.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

/// Below two decades QCustomPlot's own goes over to linear ticks, whose labels lie on each other at the upper end. This
/// one takes 1, 2 and 5, or fewer where the axis is short.
class DecadeTicker : public QCPAxisTickerLog
{
public:
    explicit DecadeTicker(const QCPAxis& axis)
        : m_axis(axis)
    { }

protected:
    QVector<double> createTickVector(double tickStep, const QCPRange& range) override
    {
        constexpr double fewDecades = 100;
        if (!(range.lower > 0) || range.upper / range.lower >= fewDecades) {
            return QCPAxisTickerLog::createTickVector(tickStep, range);
        }
        QVector<double> ticks;
        const std::vector<int> parts = partsFor(range);
        for (double decade = std::pow(10, std::floor(std::log10(range.lower))); decade <= range.upper; decade *= 10) {
            for (const int part : parts) {
                if (range.contains(part * decade)) {
                    ticks << part * decade;
                }
            }
        }
        return ticks;
    }

private:
    /// 1 and 2 are the closest of 1, 2, 5; 1 and 3 of 1, 3.
    std::vector<int> partsFor(const QCPRange& range) const
    {
        const double decades = std::log10(range.upper / range.lower);
        const double labels = m_axis.axisRect()->height() / decades / QFontMetrics(m_axis.tickLabelFont()).height();
        return labels * std::log10(2) >= 1 ? std::vector {1, 2, 5}
            : labels * std::log10(3) >= 1  ? std::vector {1, 3}
            : decades >= 1                 ? std::vector {1}
                                           : std::vector {1, 5};
    }

    const QCPAxis& m_axis;
};

} // namespace

StepPlot::StepPlot(QWidget* parent)
    : SmallPlot(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    const QSharedPointer<QCPAxisTickerFixed> whole(new QCPAxisTickerFixed);
    whole->setTickStep(1);
    plot().xAxis->setTicker(whole);
}

void StepPlot::setLogarithmic()
{
    plot().yAxis->setScaleType(QCPAxis::stLogarithmic);
    plot().yAxis->setTicker(QSharedPointer<QCPAxisTickerLog>(new DecadeTicker(*plot().yAxis)));
    plot().yAxis->setNumberFormat(QStringLiteral("eb"));
    plot().yAxis->setNumberPrecision(0);
}

QCPItemStraightLine* StepPlot::addMarker(int step)
{
    auto* marker = new QCPItemStraightLine(&plot());
    marker->setPen(QPen(theme().accent, 1, Qt::DashLine));
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
    int target = 0;
    switch (event->key()) {
    case Qt::Key_Left:
        target = step() - 1;
        break;
    case Qt::Key_Right:
        target = step() + 1;
        break;
    case Qt::Key_Home:
        target = 1;
        break;
    case Qt::Key_End:
        target = steps();
        break;
    default:
        QWidget::keyPressEvent(event);
        return;
    }
    target = std::clamp(target, 1, std::max(1, steps()));
    if (steps() > 0 && target != step()) {
        Q_EMIT stepChosen(target);
        Q_EMIT readoutChanged(textOf(target));
    }
}

std::optional<double> drawable(std::optional<double> value)
{
    return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

} // namespace nanscope
