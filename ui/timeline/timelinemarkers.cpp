// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinemarkers.h"

#include "ui/shared/qcp.h"
#include "ui/shared/theme.h"
#include "ui/timeline/timelineview.h"

namespace nanscope {

namespace {

constexpr const char* overlay = "overlay";

void tie(QCPItemPosition* position, QCPAxisRect* rect)
{
    position->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
    position->setTypeX(QCPItemPosition::ptPlotCoords);
    position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    position->setAxisRect(rect);
}

template <class Item>
Item* addItem(QCustomPlot* plot, QCPAxisRect* rect)
{
    auto* item = new Item(plot);
    item->setLayer(QLatin1String(overlay));
    item->setClipAxisRect(rect);
    item->setVisible(false);
    return item;
}

void place(QCPItemStraightLine* line, std::optional<double> step)
{
    line->setVisible(step.has_value());
    if (step) {
        line->point1->setCoords(*step, 0);
        line->point2->setCoords(*step, 1);
    }
}

} // namespace

TimelineMarkers::TimelineMarkers(QCustomPlot* plot, QCPAxisRect* rect)
    : QObject(plot)
    , m_plot(plot)
    , m_rect(rect)
    , m_box(addItem<QCPItemRect>(plot, rect))
{
    for (auto*& line : m_lines) {
        line = addItem<QCPItemStraightLine>(plot, rect);
        tie(line->point1, rect);
        tie(line->point2, rect);
    }
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        m_names[i] = addItem<QCPItemText>(plot, rect);
        tie(m_names[i]->position, rect);
        m_names[i]->setText(i == 0 ? tr("A") : tr("B"));
        m_names[i]->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
        m_names[i]->setPadding({3, 0, 3, 0});
    }
    tie(m_box->topLeft, rect);
    tie(m_box->bottomRight, rect);
}

void TimelineMarkers::restyle(const QFont& font)
{
    m_lines[0]->setPen(QPen(theme().muted, 1));
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        m_lines[i + 1]->setPen(QPen(theme().accent, 1, Qt::DashLine));
        m_names[i]->setFont(font);
        m_names[i]->setColor(theme().accentText);
        m_names[i]->setBrush(theme().accent);
    }
    QColor tint = theme().accent;
    tint.setAlphaF(0.15F);
    m_box->setPen(QPen(theme().accent, 1));
    m_box->setBrush(tint);
}

void TimelineMarkers::show(const TimelineView& view)
{
    const std::optional<double> steps[] = {
        view.cursor(), view.marker(TimelineView::Marker::a), view.marker(TimelineView::Marker::b)};
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        place(m_lines[i], steps[i]);
    }
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        m_names[i]->setVisible(steps[i + 1].has_value());
        m_names[i]->position->setCoords(steps[i + 1].value_or(0), 0);
    }
    redraw();
}

void TimelineMarkers::showBox(std::optional<Interval> steps)
{
    m_box->setVisible(steps.has_value());
    if (steps) {
        m_box->topLeft->setCoords(steps->low, 0);
        m_box->bottomRight->setCoords(steps->high, 1);
    }
    redraw();
}

void TimelineMarkers::redraw()
{
    // Before the first full replot the layer has nothing to paint on.
    if (m_rect->width() > 1) {
        m_plot->layer(QLatin1String(overlay))->replot();
    }
}

} // namespace nanscope
