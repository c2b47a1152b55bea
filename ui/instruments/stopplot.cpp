// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/instruments/stopplot.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>

#include "ui/shared/axes.h"
#include "ui/shared/qcp.h"
#include "ui/shared/theme.h"

namespace nanscope {

StopPlot::StopPlot(QWidget* parent)
    : SmallPlot(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    plot().axisRect()->setMinimumMargins({0, 4, 12, 0});
}

void StopPlot::setStop(int stop)
{
    m_stop = std::clamp(stop, -1, stopCount() - 1);
    moveCursor();
}

void StopPlot::addCursor()
{
    m_cursor = addVerticalLine(plot(), 0, QPen(theme().accent, 1, Qt::DashLine));
    m_stop = std::min(m_stop, stopCount() - 1);
    moveCursor();
}

void StopPlot::moveCursor()
{
    if (!m_cursor) {
        return;
    }
    m_cursor->setVisible(m_stop >= 0);
    if (m_stop >= 0) {
        const double x = stops()[static_cast<std::size_t>(m_stop)];
        m_cursor->point1->setCoords(x, 0);
        m_cursor->point2->setCoords(x, 1);
    }
    plot().replot(QCustomPlot::rpQueuedReplot);
}

int StopPlot::nearestStop(double x) const
{
    const double pixel = plot().xAxis->coordToPixel(x);
    const auto away = [&](double stop) { return std::abs(plot().xAxis->coordToPixel(stop) - pixel); };
    const auto nearest = std::ranges::min_element(stops(), {}, away);
    return nearest == stops().end() ? -1 : static_cast<int>(nearest - stops().begin());
}

QString StopPlot::textAt(double x) const
{
    const int nearest = nearestStop(x);
    return nearest < 0 ? QString() : textOf(nearest);
}

void StopPlot::pointAt(double x, bool pressed)
{
    if (pressed) {
        setFocus(Qt::MouseFocusReason);
        setStop(nearestStop(x));
        Q_EMIT stopChosen(m_stop);
    }
    Q_EMIT readoutChanged(pressed ? stopText() : textAt(x));
}

QString StopPlot::keysTitle() const
{
    return tr("Instruments");
}

std::vector<KeyHint> StopPlot::keyHints() const
{
    return {{{Qt::Key_Left, Qt::Key_Right}, tr("the place before or after"), {}},
        {{Qt::Key_Home, Qt::Key_End}, tr("the first and the last place"), {}},
        {{}, tr("choose the nearest place"), tr("click")}};
}

void StopPlot::keyPressEvent(QKeyEvent* event)
{
    const int last = stopCount() - 1;
    const bool back = event->key() == Qt::Key_Left;
    const auto target = placeAfter(*event, m_stop < 0 && back ? last + 1 : m_stop, 0, last);
    if (!target) {
        QWidget::keyPressEvent(event);
    } else if (last >= 0) {
        setStop(*target);
        Q_EMIT stopChosen(m_stop);
        Q_EMIT readoutChanged(stopText());
    }
}

} // namespace nanscope
