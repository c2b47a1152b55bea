// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include <QFont>
#include <QObject>
#include <QStringList>

#include "ui/timeline/timelinelines.h"
#include "ui/timeline/trace.h"

class QCPAxisRect;
class QCPCurve;
class QCPGraph;
class QCPItemStraightLine;
class QCustomPlot;

namespace nanscope {

/// The rows above the curves: events, and below them NaN and the infinities, of all lines in one row or of each in its
/// own. Never part of the value axis.
class TimelineLane : public QObject
{
    Q_OBJECT

public:
    /// Takes the row above the plot's main axis rect.
    explicit TimelineLane(QCustomPlot* plot);

    QCPAxisRect* rect() const { return m_rect; }
    void restyle(const QFont& font);
    /// A row for each of the names; of one that is not named where there are none.
    void setRows(const QStringList& names);
    void setMarks(std::span<const NonFiniteMark> marks);
    /// The first step of the run with a value that is not finite.
    void setFirst(std::optional<double> step);
    /// For each row where every sample is of the state, drawn as one bar.
    void setStretches(PointState state, std::span<const std::vector<Interval>> rows);
    void setEvents(std::span<const TimelineEvent> events);
    /// The event whose mark lies under a point of the plot.
    const TimelineEvent* eventAt(std::span<const TimelineEvent> events, const QPointF& at) const;

private:
    void placeStart();
    void nameRows();

    QCustomPlot* m_plot;
    QCPAxisRect* m_rect;
    std::array<QCPGraph*, 3> m_nonFinite {}; ///< NaN, +Inf, −Inf
    std::array<QCPCurve*, 3> m_stretches {}; ///< the same
    std::array<QCPGraph*, 3> m_events {}; ///< birth, capture, other
    QCPItemStraightLine* m_start = nullptr; ///< where it began: the first birth, else the first that is not finite
    QStringList m_rows;
    std::optional<double> m_birth;
    std::optional<double> m_firstBad;
};

} // namespace nanscope
