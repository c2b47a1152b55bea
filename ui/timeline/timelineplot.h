// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include <QPen>
#include <QPointer>
#include <QWidget>

#include "ui/shared/keys.h"
#include "ui/timeline/timelineaxis.h"
#include "ui/timeline/timelinelines.h"
#include "ui/timeline/timelinereadout.h"
#include "ui/timeline/timelineview.h"
#include "ui/timeline/trace.h"

class QCustomPlot;
class QCPAxisRect;
class QCPGraph;

namespace nanscope {

class TimelineInput;
class TimelineLane;
class TimelineMarkers;

enum class RankChoice { automatic, lines, band };

/// How the user wants one plot drawn.
struct TimelineLook
{
    ScaleChoice scale = ScaleChoice::automatic;
    RankChoice ranks = RankChoice::automatic;
    bool smooth = false;
    bool operator==(const TimelineLook&) const = default;
};

/// Traces of one value of all ranks below a lane of marks: events in its upper row, NaN and the infinities in its
/// lower one. Ranges come from finite values only; the plot library sees nothing but finite, decimated points.
class TimelinePlot : public QWidget, public KeyUser
{
    Q_OBJECT

public:
    /// Without a view of others it has its own.
    explicit TimelinePlot(QWidget* parent = nullptr, TimelineView* view = nullptr);
    ~TimelinePlot() override;

    QString keysTitle() const override;
    std::vector<KeyHint> keyHints() const override;

    void setTraces(std::vector<TimelineTrace> traces);
    /// The same lines with finer or more points.
    void refineTraces(std::vector<TimelineTrace> traces);
    const std::vector<TimelineTrace>& traces() const { return m_traces; }
    void setEvents(std::vector<TimelineEvent> events);
    const std::vector<TimelineEvent>& events() const { return m_events; }
    void setLook(const TimelineLook& look);
    const TimelineLook& look() const { return m_look; }

    TimelineView* view() const { return m_view; }
    Interval stepRange() const { return m_view->steps(); }
    Interval valueRange() const { return m_scale.values; }
    bool logarithmic() const { return m_scale.logarithmic; }
    bool drawsBand() const;

    /// As drawn.
    const std::vector<NonFiniteMark>& marks() const { return m_marks; }
    const std::vector<Polyline>& lines() const { return m_lines; }
    const Band& band() const { return m_band; }
    const SampleCounts& counts() const { return m_counts; }
    std::size_t hiddenLines() const;
    /// How many columns a line is reduced to.
    int columns() const;

    double pixelOfStep(double step) const;
    double stepOfPixel(double x) const;
    bool isOverValueAxis(const QPointF& at) const;
    double valueOfPixel(double y) const;
    const TimelineEvent* eventAt(const QPointF& at) const;
    /// The one nearest to a step, no further than a mark is wide.
    const TimelineEvent* eventNear(double step) const;
    void showBox(std::optional<Interval> steps);

    StepSamples samplesAt(double step) const;
    /// Steps somebody looks at whose values only the session knows.
    std::vector<double> inexactSteps() const;
    void setExact(std::vector<StepSamples> samples);
    QString readout() const;
    QString delta() const;
    QString tipAt(const QPointF& at) const;
    /// Moves the cursor to the next (1) or previous (-1) sample, in this plot's own samples.
    void stepCursor(int direction);
    /// To the next mark of the lane.
    void jumpCursor(int direction);
    void activateEvent(const TimelineEvent& event);
    /// The next drag draws a box to zoom to, also without Shift.
    void drawBoxNext();

    QCustomPlot* canvas() const { return m_plot; }

Q_SIGNALS:
    /// The plot was laid out anew: other curves, marks or counts.
    void redrawn();
    /// A line has more or fewer columns to be drawn on.
    void columnsChanged();
    /// Exact values at the cursor; empty where there is none.
    void readoutChanged(const QString& text);
    void sampleWanted(double from, int direction);
    void eventActivated(const nanscope::TimelineEvent& event);
    void menuRequested(const QPoint& global);
    void copyRequested();

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void buildAxes();
    void restyle();
    void styleGraphs();
    QPen penOf(std::size_t line) const;
    void rebuildGraphs();
    QCPGraph* addGraph();
    void redraw();
    void fitColumns();
    void redrawLane();
    std::vector<std::span<const TimelineTrace>> laneRows() const;
    void redrawLines();
    void redrawBand();
    bool choosesLogarithm(std::optional<Interval> finite);
    void updateScale();
    void updateCounts();
    void updateMarkers();
    std::span<const TimelineTrace> drawnTraces() const;
    void updateExtent();

    QCustomPlot* m_plot;
    QPointer<TimelineView> m_view;
    QCPAxisRect* m_main = nullptr;
    TimelineLane* m_lane = nullptr;
    TimelineMarkers* m_overlay = nullptr;
    TimelineInput* m_input = nullptr;
    std::vector<QCPGraph*> m_graphs; ///< lines, or low, high and median of the band
    std::vector<QCPGraph*> m_behind; ///< what was not smoothed
    std::vector<TimelineTrace> m_traces;
    std::vector<TimelineEvent> m_events;
    std::vector<NonFiniteMark> m_marks;
    std::vector<Polyline> m_lines;
    Band m_band;
    SampleCounts m_counts;
    int m_drawnColumns = 0;
    int m_toldColumns = 0;
    std::vector<StepSamples> m_exact;
    TimelineLook m_look;
    ValueScale m_scale;
    std::optional<bool> m_callsForLogarithm; ///< once a value is known
};

} // namespace nanscope
