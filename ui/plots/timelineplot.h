// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <QWidget>

#include "ui/plots/trace.h"

class QCustomPlot;
class QCPAxisRect;
class QCPItemStraightLine;
class QCPGraph;

namespace nanscope {

/// Traces of one value of all ranks below a lane of marks: events in its upper row, NaN and the infinities in its
/// lower one. Ranges come from finite values only; the plot library sees nothing but finite, decimated points.
class TimelinePlot : public QWidget
{
    Q_OBJECT

public:
    explicit TimelinePlot(QWidget* parent = nullptr);
    ~TimelinePlot() override;

    void setTraces(std::vector<Trace> traces);
    void setEvents(std::vector<TimelineEvent> events);

    /// Steps shown; linked plots are kept equal by their pane.
    void setStepRange(Interval steps);
    Interval stepRange() const { return m_steps; }
    bool showsAll() const { return m_steps == fullRange(); }
    Interval valueRange() const { return m_values; }
    bool logarithmic() const { return m_logarithmic; }
    /// All steps that traces and events cover, with a margin.
    Interval fullRange() const;

    /// The marks of the lower row as drawn, over all traces.
    const std::vector<NonFiniteMark>& marks() const { return m_marks; }
    /// Where a step lies, in widget coordinates.
    double pixelOfStep(double step) const;

Q_SIGNALS:
    void stepRangeChanged(nanscope::Interval steps);
    /// Exact values at the step under the mouse; empty when it left.
    void readoutChanged(const QString& text);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildLane();
    void restyle();
    void rebuildGraphs();
    void redraw();
    void redrawTraces();
    void redrawLane();
    void updateValueAxis();
    void onRangeDragged(double low, double high);
    QString readoutAt(double step) const;

    QCustomPlot* m_plot;
    QCPAxisRect* m_lane = nullptr;
    QCPAxisRect* m_main = nullptr;
    QCPItemStraightLine* m_birthLine = nullptr;
    std::vector<QCPGraph*> m_graphs;
    std::vector<QCPGraph*> m_nonFiniteGraphs; ///< NaN, +Inf, −Inf
    std::vector<QCPGraph*> m_eventGraphs; ///< birth, capture, other
    std::vector<Trace> m_traces;
    std::vector<TimelineEvent> m_events;
    std::vector<NonFiniteMark> m_marks;
    Interval m_steps {0, 1};
    Interval m_values {0, 1};
    bool m_logarithmic = false;
};

} // namespace nanscope
