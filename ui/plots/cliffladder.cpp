// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/cliffladder.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QVBoxLayout>

#include "ui/plots/qcp.h"
#include "ui/plots/timelineaxis.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr double highest = 150; ///< per cent
constexpr double edge = 136; ///< marks of what lies above

} // namespace

CliffLadder::CliffLadder(QWidget* parent)
    : QWidget(parent)
    , m_plot(new QCustomPlot(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    m_plot->installEventFilter(this);
    m_plot->setMouseTracking(true);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->axisRect()->setMinimumMargins({0, 4, 8, 0});
    const QSharedPointer<QCPAxisTickerFixed> whole(new QCPAxisTickerFixed);
    whole->setTickStep(1);
    m_plot->xAxis->setTicker(whole);
    const QSharedPointer<QCPAxisTickerFixed> halves(new QCPAxisTickerFixed);
    halves->setTickStep(50);
    m_plot->yAxis->setTicker(halves);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(140, 84);
    setAccessibleName(tr("σ_max of every step as a share of its limit"));
    setToolTip(tr("Choose the step whose curve is shown with a click or the arrow keys"));
    restyle();
}

CliffLadder::~CliffLadder() = default;

void CliffLadder::setPicture(const CliffPicture& picture, int step)
{
    m_picture = picture;
    m_step = step;
    rebuild();
}

QPixmap CliffLadder::picture() const
{
    return m_plot->toPixmap();
}

void CliffLadder::addMark(int step, double share, int shape, const QColor& color, bool filled)
{
    auto* graph = m_plot->addGraph();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(QCPScatterStyle(
        static_cast<QCPScatterStyle::ScatterShape>(shape), QPen(color, 1.5), filled ? color : theme().surface, 9));
    graph->addData(step, share);
}

void CliffLadder::addStep(const CliffStep& step)
{
    if (!step.replayed) {
        return;
    }
    if (!step.own) {
        addMark(step.step, edge, QCPScatterStyle::ssCross, theme().nan, false);
        return;
    }
    const double share = 100 * *step.own / step.limit;
    if (share > edge) {
        addMark(step.step, edge, QCPScatterStyle::ssTriangle, theme().bad, m_picture.current);
        return;
    }
    auto* bar = new QCPItemLine(m_plot);
    bar->start->setCoords(step.step, 100 * step.range->low / step.limit);
    bar->end->setCoords(step.step, std::min(100 * step.range->high / step.limit, highest));
    bar->setPen(QPen(theme().accent, 4, Qt::SolidLine, Qt::FlatCap));
    addMark(step.step, share, QCPScatterStyle::ssCircle, share > 100 ? theme().bad : theme().accent, m_picture.current);
}

void CliffLadder::rebuild()
{
    m_plot->clearItems();
    m_plot->clearGraphs();
    m_plot->xAxis->setRange(0.5, std::max(1, steps()) + 0.5);
    m_plot->yAxis->setRange(0, highest);
    auto* limit = new QCPItemStraightLine(m_plot);
    limit->point1->setCoords(0, 100);
    limit->point2->setCoords(1, 100);
    limit->setPen(QPen(theme().bad, 1.5));
    auto* marker = new QCPItemStraightLine(m_plot);
    marker->point1->setCoords(m_step, 0);
    marker->point2->setCoords(m_step, 1);
    marker->setPen(QPen(theme().accent, 1, Qt::DashLine));
    QStringList lines;
    for (const CliffStep& step : m_picture.steps) {
        addStep(step);
        lines << cliffStepText(m_picture, step);
    }
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void CliffLadder::restyle()
{
    QFont small(font());
    small.setPointSizeF(font().pointSizeF() * 0.9);
    m_plot->setBackground(QBrush(theme().surface));
    styleAxis(m_plot->xAxis, small);
    styleAxis(m_plot->yAxis, small);
    m_plot->xAxis->setLabel(tr("σ_max in % of each step's limit"));
    rebuild();
}

void CliffLadder::changeEvent(QEvent* event)
{
    if (isThemeChange(event)) {
        restyle();
    }
    QWidget::changeEvent(event);
}

void CliffLadder::keyPressEvent(QKeyEvent* event)
{
    const int key = event->key();
    const int target = key == Qt::Key_Left ? m_step - 1
        : key == Qt::Key_Right             ? m_step + 1
        : key == Qt::Key_Home              ? 1
        : key == Qt::Key_End               ? steps()
                                           : 0;
    if (target >= 1 && target <= steps()) {
        Q_EMIT stepChosen(target);
    } else {
        QWidget::keyPressEvent(event);
    }
}

bool CliffLadder::eventFilter(QObject* watched, QEvent* event)
{
    const bool press = event->type() == QEvent::MouseButtonPress;
    if (event->type() == QEvent::Leave) {
        Q_EMIT readoutChanged({});
    } else if (press || event->type() == QEvent::MouseMove) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        const int step = static_cast<int>(std::lround(m_plot->xAxis->pixelToCoord(mouse->position().x())));
        if (step >= 1 && step <= steps()) {
            Q_EMIT readoutChanged(cliffStepText(m_picture, m_picture.steps[static_cast<std::size_t>(step) - 1]));
            if (press) {
                setFocus(Qt::MouseFocusReason);
                Q_EMIT stepChosen(step);
            }
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace nanscope
