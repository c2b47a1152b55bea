// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>

#include <QFont>
#include <QObject>

#include "ui/timeline/trace.h"

class QCPAxisRect;
class QCPItemRect;
class QCPItemStraightLine;
class QCPItemText;
class QCustomPlot;

namespace nanscope {

class TimelineView;

/// Cursor, the steps marked A and B, and the box of a zoom: a layer of its own, so that moving them redraws no curve.
class TimelineMarkers : public QObject
{
    Q_OBJECT

public:
    TimelineMarkers(QCustomPlot* plot, QCPAxisRect* rect);

    void restyle(const QFont& font);
    void show(const TimelineView& view);
    void showBox(std::optional<Interval> steps);

private:
    void redraw();

    QCustomPlot* m_plot;
    QCPAxisRect* m_rect;
    std::array<QCPItemStraightLine*, 3> m_lines {}; ///< cursor, A, B
    std::array<QCPItemText*, 2> m_names {};
    QCPItemRect* m_box;
};

} // namespace nanscope
