// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shared/smallplot.h"

#include <algorithm>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/shared/axes.h"
#include "ui/shared/marks.h"
#include "ui/shared/qcp.h"
#include "ui/shared/theme.h"

namespace nanscope {

SmallPlot::SmallPlot(QWidget* parent)
    : QWidget(parent)
    , m_plot(new QCustomPlot(this))
{
    // QCustomPlot sets it, and with it a right click on a curve asks nobody for a menu.
    m_plot->setAttribute(Qt::WA_NoMousePropagation, false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 1, 1, 1); // room for the frame of the focus
    layout->addWidget(m_plot);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->setMouseTracking(true);
    m_plot->installEventFilter(this);
    onThemeChange(*this, [this] { restyle(); });
}

SmallPlot::~SmallPlot() = default;

Picture SmallPlot::picture() const
{
    return pictureOf(*m_plot);
}

void SmallPlot::restyle()
{
    m_plot->setBackground(QBrush(theme().surface));
    styleAxis(m_plot->xAxis, scaledFont(font(), 0.9));
    styleAxis(m_plot->yAxis, scaledFont(font(), 0.9));
    rebuild();
}

std::optional<int> SmallPlot::placeAfter(const QKeyEvent& event, int place, int first, int last)
{
    const auto within = [&](int target) { return std::clamp(target, first, std::max(first, last)); };
    switch (event.key()) {
    case Qt::Key_Left:
        return within(place - 1);
    case Qt::Key_Right:
        return within(place + 1);
    case Qt::Key_Home:
        return first;
    case Qt::Key_End:
        return within(last);
    default:
        return std::nullopt;
    }
}

void SmallPlot::paintEvent(QPaintEvent* event)
{
    QWidget::paintEvent(event);
    QPainter painter(this);
    drawFocusFrame(painter, *this);
}

bool SmallPlot::eventFilter(QObject* watched, QEvent* event)
{
    const bool pressed = event->type() == QEvent::MouseButtonPress;
    if (event->type() == QEvent::Leave) {
        Q_EMIT readoutChanged({});
    } else if (pressed || event->type() == QEvent::MouseMove) {
        pointAt(m_plot->xAxis->pixelToCoord(static_cast<QMouseEvent*>(event)->position().x()), pressed);
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace nanscope
