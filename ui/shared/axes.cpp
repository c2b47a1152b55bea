// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/axes.h"

#include <cmath>
#include <vector>

#include <QFontMetrics>

#include "ui/shared/qcp.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

/// Below two decades QCustomPlot's own goes over to linear ticks, whose labels lie on each other at the upper end.
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
    /// So many labels have room on the axis.
    double room() const
    {
        const QFontMetrics metrics(m_axis.tickLabelFont());
        return m_axis.orientation() == Qt::Vertical
            ? static_cast<double>(m_axis.axisRect()->height()) / metrics.height()
            : static_cast<double>(m_axis.axisRect()->width()) / metrics.horizontalAdvance(QStringLiteral("0.0005 "));
    }

    /// 1 and 2 are the closest of 1, 2, 5; 1 and 3 of 1, 3.
    std::vector<int> partsFor(const QCPRange& range) const
    {
        const double decades = std::log10(range.upper / range.lower);
        const double labels = room() / decades;
        return labels * std::log10(2) >= 1 ? std::vector {1, 2, 5}
            : labels * std::log10(3) >= 1  ? std::vector {1, 3}
            : decades >= 1                 ? std::vector {1}
                                           : std::vector {1, 5};
    }

    const QCPAxis& m_axis;
};

} // namespace

void styleAxis(QCPAxis* axis, const QFont& font)
{
    axis->setBasePen(QPen(theme().line));
    axis->setTickPen(QPen(theme().line));
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelColor(theme().muted);
    axis->setLabelColor(theme().muted);
    axis->setTickLabelFont(font);
    axis->setLabelFont(font);
    axis->grid()->setPen(QPen(theme().line, 1, Qt::DotLine));
    axis->grid()->setSubGridVisible(false);
    axis->grid()->setZeroLinePen(Qt::NoPen);
}

QSharedPointer<QCPAxisTicker> decadeTicker(const QCPAxis& axis)
{
    return QSharedPointer<QCPAxisTicker>(new DecadeTicker(axis));
}

QCPItemStraightLine* addVerticalLine(QCustomPlot& plot, double x, const QPen& pen)
{
    auto* line = new QCPItemStraightLine(&plot);
    // Both points have a place on a logarithmic axis, too.
    line->point1->setCoords(x, 1);
    line->point2->setCoords(x, 10);
    line->setPen(pen);
    return line;
}

QCPItemStraightLine* addHorizontalLine(QCustomPlot& plot, double y, const QPen& pen)
{
    auto* line = new QCPItemStraightLine(&plot);
    line->point1->setCoords(0, y);
    line->point2->setCoords(1, y);
    line->setPen(pen);
    return line;
}

QCPItemText* addWords(
    QCustomPlot& plot, const QString& text, const QColor& color, double x, double y, Qt::Alignment alignment)
{
    auto* item = new QCPItemText(&plot);
    item->position->setCoords(x, y);
    item->setPositionAlignment(alignment);
    item->setText(text);
    item->setColor(color);
    item->setFont(plot.xAxis->tickLabelFont());
    return item;
}

} // namespace nanscope
