// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelineaxis.h"

#include <algorithm>
#include <cmath>

#include <QFontMetrics>

#include "ui/shared/qcp.h"

namespace nanscope {

namespace {

Interval padded(Interval range)
{
    const double pad = 0.06 * (range.high - range.low);
    return {range.low - pad, range.high + pad};
}

/// Four, or fewer where the axis is so short that their labels would touch.
class FewTicks : public QCPAxisTicker
{
public:
    explicit FewTicks(const QCPAxis& axis)
        : m_axis(axis)
    { }

protected:
    double getTickStep(const QCPRange& range) override
    {
        constexpr double lines = 1.3; // of text, from one label to the next
        const double room = m_axis.axisRect()->height() / (lines * QFontMetrics(m_axis.tickLabelFont()).height());
        setTickCount(std::clamp(static_cast<int>(room), 2, 4));
        return QCPAxisTicker::getTickStep(range);
    }

private:
    const QCPAxis& m_axis;
};

QSharedPointer<QCPAxisTicker> fewTicks(const QCPAxis& axis)
{
    return QSharedPointer<QCPAxisTicker>(new FewTicks(axis));
}

QSharedPointer<QCPAxisTicker> logTicks(const QCPAxis& axis, Interval values)
{
    const QSharedPointer<QCPAxisTickerLog> ticker(new QCPAxisTickerLog);
    // One label a decade is too much for many decades and too little for less than one.
    const double decades = std::log10(values.high / values.low);
    ticker->setLogBase(decades > 6 ? std::pow(10, std::ceil(decades / 5)) : 10);
    return decades < 1 ? fewTicks(axis) : QSharedPointer<QCPAxisTicker>(ticker);
}

} // namespace

Interval drawable(Interval range)
{
    constexpr double largest = 1e200;
    range.low = std::clamp(range.low, -largest, largest);
    range.high = std::clamp(range.high, -largest, largest);
    const double least = std::max(1e-200, 1e-9 * std::max(std::abs(range.low), std::abs(range.high)));
    if (range.high - range.low < least) {
        const double pad = range.low == 0 ? 1 : std::abs(range.low) * 0.05 + least;
        return {range.low - pad, range.high + pad};
    }
    return range;
}

bool callForLogarithm(Interval finite)
{
    constexpr double wide = 1e3;
    return finite.low > 0 && finite.high / finite.low > wide;
}

ValueScale chooseScale(std::optional<Interval> finite, std::optional<Interval> positive, bool logarithmic)
{
    if (logarithmic) {
        constexpr double least = 1e-200;
        constexpr double most = 1e200;
        const Interval range = positive.value_or(Interval {0.1, 10});
        const double margin = std::pow(std::max(range.high / range.low, 1.2), 0.06);
        return {{std::max(least, range.low / margin), std::clamp(range.high * margin, 2 * least, most)}, true};
    }
    return {padded(drawable(finite.value_or(Interval {0, 1}))), false};
}

void applyScale(QCPAxis* axis, const ValueScale& scale)
{
    axis->setScaleType(scale.logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    axis->setTicker(scale.logarithmic ? logTicks(*axis, scale.values) : fewTicks(*axis));
    const bool powers = scale.logarithmic && scale.values.high / scale.values.low >= 10;
    axis->setNumberFormat(powers ? QStringLiteral("eb") : QStringLiteral("gb"));
    axis->setNumberPrecision(powers ? 0 : 4);
    axis->setRange(scale.values.low, scale.values.high);
}

} // namespace nanscope
