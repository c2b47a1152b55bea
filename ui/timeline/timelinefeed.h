// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <QObject>
#include <QThreadPool>

#include "ui/jobs/background.h"
#include "ui/timeline/timelinerows.h"
#include "ui/timeline/timelineseries.h"
#include "ui/timeline/timelinestore.h"

namespace nanscope {

class TimelineChart;
class TimelineView;

/// Keeps the charts supplied with as many points as their pixels can show. A session is read on a thread of its own,
/// one request at a time, the latest wish next; points in memory are taken at once.
class TimelineFeed : public QObject
{
    Q_OBJECT

public:
    explicit TimelineFeed(TimelineView& view, QObject* parent = nullptr);
    ~TimelineFeed() override;

    void setStore(std::shared_ptr<TimelineStore> store, bool threaded);
    /// Those that are visible.
    void setCharts(std::vector<TimelineChart*> charts);
    /// A chart that has become wider may need more points than it has.
    void fit(const TimelineChart& chart);
    /// Nothing is being read and nothing is waiting to be.
    bool settled() const { return m_running == 0; }

    /// To the next sample of a chart when what is drawn does not tell it.
    void stepCursor(TimelineChart& chart, double from, int direction);
    struct Rows
    {
        std::vector<TimelineRow> rows;
        bool cut = false; ///< there are more
        QString problem;
    };
    /// The values a chart shows now.
    void collectRows(const TimelineChart& chart, const std::function<void(Rows)>& done);

    /// All values within the steps, to a file; meanwhile charts are supplied as ever. `store` is used by nothing else.
    void saveRows(std::shared_ptr<TimelineStore> store, std::vector<TimelineLine> lines, Interval steps,
        const QString& path, const std::function<void(const Result<std::int64_t>&)>& done);

    /// Lines of one log, ascending, and the series that tell where in it they stand.
    struct LogLines
    {
        std::vector<std::size_t> parts;
        std::vector<std::int64_t> lines;
    };
    /// Of each log as many as it has lines; where it cannot be read, places nobody knows.
    void placeLines(std::vector<LogLines> logs, const std::function<void(std::vector<std::vector<LineSteps>>)>& done);

    static constexpr std::size_t mostRows = 100'000;

private:
    template <class Work, class Done>
    void ask(Work work, Done done);
    void onStepsChanged();
    void refresh();
    void refreshCursor();
    void readCursor();

    TimelineView& m_view;
    std::shared_ptr<TimelineStore> m_store;
    bool m_threaded = false;
    std::vector<TimelineChart*> m_charts;
    std::map<const TimelineChart*, int> m_columns; ///< that its points were read for last
    JobTracker m_generation;
    int m_current = 0;
    int m_running = 0;
    bool m_refreshing = false;
    bool m_refreshAgain = false;
    bool m_cursorReading = false;
    bool m_cursorAgain = false;
    QThreadPool m_saving;
    QThreadPool m_pool; ///< like the one above behind all others: its thread ends before anything it uses
};

} // namespace nanscope
