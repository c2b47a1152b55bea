// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelinefeed.h"

#include <algorithm>

#include "ui/shared/text.h"
#include "ui/timeline/timelinechart.h"

namespace nanscope {

namespace {

using LineParts = std::vector<std::vector<std::size_t>>;

LineParts partsOf(const TimelineChart& chart)
{
    LineParts parts;
    for (const TimelineLine& line : chart.lines()) {
        parts.push_back(line.parts);
    }
    return parts;
}

struct Drawing
{
    std::vector<std::vector<Bucket>> lines;
    QString problem;
};

/// Many ranks share what one line may take.
int columnsPerLine(int columns, std::size_t lines)
{
    constexpr int most = 32768;
    return std::clamp(most / static_cast<int>(std::max<std::size_t>(lines, 1)), std::min(columns, 200), columns);
}

Drawing drawingOf(TimelineStore& store, const LineParts& parts, Interval focus, int columns)
{
    Drawing drawing;
    for (const auto& line : parts) {
        auto buckets = store.line(line, focus, columnsPerLine(columns, parts.size()));
        if (!buckets) {
            drawing.problem = qstr(sentence(buckets.error()));
            return drawing;
        }
        drawing.lines.push_back(std::move(*buckets));
    }
    return drawing;
}

MaybePoints pointsAt(TimelineStore& store, const LineParts& parts, double step, int direction)
{
    MaybePoints points;
    for (const auto& line : parts) {
        const auto point = store.point(line, step, direction);
        points.push_back(point ? *point : std::nullopt);
    }
    return points;
}

struct Looked
{
    LineParts parts;
    std::vector<double> steps;
};

std::vector<StepSamples> samplesOf(TimelineStore& store, const Looked& looked)
{
    std::vector<StepSamples> samples;
    for (const double step : looked.steps) {
        samples.push_back(alignSamples(step, pointsAt(store, looked.parts, step, 0)));
    }
    return samples;
}

} // namespace

TimelineFeed::TimelineFeed(TimelineView& view, QObject* parent)
    : QObject(parent)
    , m_view(view)
{
    m_pool.setMaxThreadCount(1);
    m_saving.setMaxThreadCount(1);
    connect(&view, &TimelineView::stepsChanged, this, &TimelineFeed::onStepsChanged);
    connect(&view, &TimelineView::cursorChanged, this, &TimelineFeed::refreshCursor);
    connect(&view, &TimelineView::markersChanged, this, &TimelineFeed::refreshCursor);
}

TimelineFeed::~TimelineFeed() = default;

template <class Work, class Done>
void TimelineFeed::ask(Work work, Done done)
{
    if (!m_threaded) {
        done(work(*m_store));
        return;
    }
    ++m_running;
    const int generation = m_current;
    background(
        m_pool, this, [store = m_store, work = std::move(work)] { return work(*store); },
        [this, generation, done = std::move(done)](auto answer) {
            --m_running;
            if (m_generation.isCurrent(generation)) {
                done(std::move(answer));
            }
        });
}

void TimelineFeed::setStore(std::shared_ptr<TimelineStore> store, bool threaded)
{
    m_current = m_generation.begin();
    m_store = std::move(store);
    m_threaded = threaded;
    m_charts.clear();
    m_refreshing = m_refreshAgain = m_cursorReading = m_cursorAgain = false;
}

void TimelineFeed::setCharts(std::vector<TimelineChart*> charts)
{
    m_charts = std::move(charts);
    m_refreshAgain = m_refreshing;
    if (!m_refreshing) {
        refresh();
    }
}

void TimelineFeed::onStepsChanged()
{
    m_refreshAgain = m_refreshAgain || m_refreshing;
    if (!m_refreshing && !std::ranges::all_of(m_charts, &TimelineChart::isComplete)) {
        refresh();
    }
}

void TimelineFeed::fit(const TimelineChart& chart)
{
    if (const auto read = m_columns.find(&chart); read != m_columns.end()) {
        // There are two points for each column: labels of an axis that take a little less room need no other ones.
        const int served = read->second + read->second / 8;
        if (std::ranges::find(m_charts, &chart) != m_charts.end() && chart.plot()->columns() > served) {
            onStepsChanged();
        }
    }
}

void TimelineFeed::refresh()
{
    if (!m_store) {
        return;
    }
    m_refreshing = true;
    std::vector<std::pair<LineParts, int>> wanted;
    for (const TimelineChart* chart : m_charts) {
        m_columns[chart] = chart->plot()->columns();
        wanted.emplace_back(partsOf(*chart), m_columns[chart]);
    }
    const auto read = [wanted = std::move(wanted), focus = m_view.steps()](TimelineStore& store) {
        std::vector<Drawing> drawings;
        for (const auto& [parts, columns] : wanted) {
            drawings.push_back(drawingOf(store, parts, focus, columns));
        }
        return drawings;
    };
    ask(read, [this, charts = m_charts](std::vector<Drawing> drawings) {
        for (std::size_t i = 0; i < charts.size(); ++i) {
            if (drawings[i].problem.isEmpty()) {
                charts[i]->refine(std::move(drawings[i].lines));
            } else {
                charts[i]->setProblem(drawings[i].problem);
            }
        }
        m_refreshing = false;
        if (std::exchange(m_refreshAgain, false)) {
            onStepsChanged();
        }
        // A chart that came with these points was not asked yet what it has at the cursor.
        refreshCursor();
    });
}

void TimelineFeed::refreshCursor()
{
    m_cursorAgain = m_cursorReading;
    if (m_store && !m_cursorReading) {
        readCursor();
    }
}

void TimelineFeed::readCursor()
{
    std::vector<TimelineChart*> charts;
    std::vector<Looked> looked;
    for (TimelineChart* chart : m_charts) {
        if (const auto steps = chart->plot()->inexactSteps(); !steps.empty()) {
            charts.push_back(chart);
            looked.push_back({partsOf(*chart), steps});
        }
    }
    if (charts.empty()) {
        return;
    }
    m_cursorReading = true;
    const auto read = [looked = std::move(looked)](TimelineStore& store) {
        std::vector<std::vector<StepSamples>> all;
        for (const Looked& one : looked) {
            all.push_back(samplesOf(store, one));
        }
        return all;
    };
    ask(read, [this, charts](std::vector<std::vector<StepSamples>> all) {
        for (std::size_t i = 0; i < charts.size(); ++i) {
            charts[i]->plot()->setExact(std::move(all[i]));
        }
        m_cursorReading = false;
        if (m_cursorAgain) {
            refreshCursor();
        }
    });
}

void TimelineFeed::stepCursor(TimelineChart& chart, double from, int direction)
{
    const auto read = [parts = partsOf(chart), from, direction](
                          TimelineStore& store) { return pointsAt(store, parts, from, direction); };
    ask(read, [this, from](const MaybePoints& points) {
        if (const auto step = alignSamples(from, points).step) {
            m_view.setCursor(static_cast<double>(*step));
            m_view.reveal(static_cast<double>(*step));
        }
    });
}

void TimelineFeed::placeLines(
    std::vector<LogLines> logs, const std::function<void(std::vector<std::vector<LineSteps>>)>& done)
{
    const auto read = [logs = std::move(logs)](TimelineStore& store) {
        std::vector<std::vector<LineSteps>> places;
        for (const LogLines& log : logs) {
            auto around = store.stepsAround(log.parts, log.lines);
            places.push_back(around ? std::move(*around) : std::vector<LineSteps>(log.lines.size()));
        }
        return places;
    };
    ask(read, done);
}

void TimelineFeed::collectRows(const TimelineChart& chart, const std::function<void(Rows)>& done)
{
    if (!m_store) {
        return;
    }
    const auto read = [lines = chart.lines(), steps = m_view.steps()](TimelineStore& store) {
        Rows rows;
        for (const TimelineLine& line : lines) {
            const auto points = store.points(line.parts, steps, mostRows + 1 - rows.rows.size());
            if (!points) {
                rows.problem = qstr(sentence(points.error()));
                return rows;
            }
            for (const TracePoint& point : *points) {
                rows.rows.push_back({point, line.label, line.source});
            }
        }
        rows.cut = rows.rows.size() > mostRows;
        rows.rows.resize(std::min(rows.rows.size(), mostRows));
        return rows;
    };
    ask(read, done);
}

void TimelineFeed::saveRows(std::shared_ptr<TimelineStore> store, std::vector<TimelineLine> lines, Interval steps,
    const QString& path, const std::function<void(const Result<std::int64_t>&)>& done)
{
    background(
        m_saving, this,
        [store = std::move(store), lines = std::move(lines), steps, path] {
            return nanscope::saveRows(*store, lines, steps, path);
        },
        done);
}

} // namespace nanscope
