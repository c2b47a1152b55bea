// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <QWidget>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "ui/timeline/timelinechart.h"
#include "ui/timeline/timelineseries.h"
#include "ui/timeline/timelineview.h"

class QActionGroup;
class QGridLayout;
class QLabel;
class QMenu;
class QScrollArea;

namespace nanscope {

class LinesDialog;
class TimelineFeed;
class TimelineStore;

/// The series somebody chose, each of all ranks in a chart of its own, on linked steps with a linked cursor.
class TimelinePane : public QWidget
{
    Q_OBJECT

public:
    explicit TimelinePane(QWidget* parent = nullptr);
    ~TimelinePane() override;

    /// With a session its points are read from there as they are needed; without one those in `run` are drawn. `run`
    /// must outlive the next call.
    void setRun(const RunData* run, const Diagnosis* diagnosis, const std::filesystem::path& session = {});

    /// Words in the place of "rank 0" and so on.
    void nameRanks(std::vector<QString> names) { m_rankNames = std::move(names); }

    QSize sizeHint() const override;

    TimelineView* view() { return m_view; }
    TimelineChart* chart(std::string_view name);
    TimelinePlot* lossPlot() { return chart("loss")->plot(); }
    TimelinePlot* gradNormPlot() { return chart("grad_norm")->plot(); }

    /// In the order of the run's list; a name the run does not have is kept for the next run.
    void showSeries(std::vector<std::string> names);
    const std::vector<std::string>& chosenSeries() const { return m_chosen; }
    std::vector<TimelineChart*> visibleCharts() const;
    /// A checkable entry for every series of the run; filled when it opens.
    QMenu* seriesMenu() { return m_seriesMenu; }

    /// Of what the run has of the shown series. A log or a rank that only another run has changes nothing.
    void chooseLines(const LineChoice& choice);
    /// An entry for every log and rank the shown series come from; filled when it opens.
    QMenu* linesMenu() { return m_linesMenu; }

    /// Chosen series, logs, axes and looks, for the window to remember.
    QByteArray saveState() const;
    void restoreState(const QByteArray& state);

    /// The steps in sight and the cursor, for who comes back to the run; empty where all is shown.
    QByteArray savePlace() const;
    /// Of the run that comes next. What no longer meets its steps changes nothing.
    void setNextPlace(const QByteArray& place) { m_nextPlace = place; }

    /// What was asked for is drawn.
    bool settled() const;

Q_SIGNALS:
    /// Somebody wants to see what an event is: its `capture` names a dump, `source` and `line` its place in the log.
    void eventActivated(const nanscope::TimelineEvent& event);
    void readoutChanged(const QString& text);
    void problem(const QString& sentence);
    /// saveState() would give something else now.
    void stateChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    TimelineChart* makeChart(const std::string& name);
    std::shared_ptr<TimelineStore> makeStore() const;
    void forgetRun();
    std::vector<std::string> shownNames() const;
    std::vector<TimelineLine> linesFor(const std::string& name) const;
    void placeEvents();
    void onPlaced(const std::vector<SteplessEvents>& logs, const std::vector<std::vector<LineSteps>>& places);
    void showEvents();
    void refill();
    void arrange();
    void fillSeriesMenu(QMenu& menu);
    void showChosenLines();
    void fillLinesMenu();
    LinesDialog* chooseAmongAll();
    bool namesLogs() const;
    LineChoice choiceOfLine(const LineOrigin& origin) const;
    void addLinesEntry(QActionGroup& group, const QString& text, const LineChoice& choice);
    void toggleSeries(const std::string& name, bool on);
    void saveRows(const TimelineChart& chart);
    void useRows(TimelineChart& chart, RowsUse use);
    void restorePlace();

    TimelineView* m_view;
    TimelineFeed* m_feed;
    QMenu* m_seriesMenu;
    QMenu* m_linesMenu;
    QScrollArea* m_scroll;
    QLabel* m_empty = nullptr; ///< in its place
    QGridLayout* m_grid;
    std::map<std::string, TimelineChart*, std::less<>> m_charts;
    std::map<std::string, TimelineLook, std::less<>> m_looks;
    std::vector<std::string> m_chosen {"loss", "grad_norm"};
    LineChoice m_lineChoice;
    std::vector<LineOrigin> m_origins; ///< of the shown series
    std::vector<TimelineEvent> m_stepped; ///< events whose step is known
    std::vector<TimelineEvent> m_placed; ///< those whose lines stand among the lines of steps
    std::vector<TimelineEvent> m_events; ///< all of them
    QString m_unplaced; ///< what is to be said of the others
    std::vector<QString> m_rankNames;
    QByteArray m_nextPlace;
    std::filesystem::path m_session;
    const RunData* m_run = nullptr;
};

} // namespace nanscope
