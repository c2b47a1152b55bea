// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/timelinepane.h"

#include <algorithm>
#include <map>

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/plots/timelineplot.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr std::size_t mostRanks = 16;

std::vector<TracePoint> pointsOf(const std::vector<const Series*>& segments)
{
    std::vector<TracePoint> points;
    for (const Series* series : segments) {
        for (const Point& point : series->points) {
            points.push_back({point.step, point.value, point.state});
        }
    }
    std::ranges::stable_sort(points, {}, &TracePoint::step);
    return points;
}

std::int64_t countOf(const std::vector<const Series*>& segments)
{
    std::int64_t count = 0;
    for (const Series* series : segments) {
        count += series->pointCount > 0 ? series->pointCount : static_cast<std::int64_t>(series->points.size());
    }
    return count;
}

TimelineEvent::Kind kindOf(Role role)
{
    return role == Role::birth || role == Role::upstream ? TimelineEvent::Kind::birth : TimelineEvent::Kind::capture;
}

} // namespace

std::vector<Trace> tracesOf(const RunData& run, std::string_view name)
{
    std::map<int, std::map<std::string, std::vector<const Series*>>> bySource;
    for (const Series& series : run.series) {
        if (series.name == name && !series.points.empty()) {
            bySource[series.rank.value_or(-1)][series.source].push_back(&series);
        }
    }
    // A log without ranks repeats what the ranks' own logs say.
    if (bySource.size() > 1) {
        bySource.erase(-1);
    }
    std::vector<Trace> traces;
    for (const auto& [rank, sources] : bySource) {
        const auto richest =
            std::ranges::max_element(sources, {}, [](const auto& source) { return countOf(source.second); });
        Trace trace;
        trace.rank = rank >= 0 ? std::optional<int>(rank) : std::nullopt;
        trace.label = rank >= 0 ? TimelinePane::tr("rank %1").arg(rank) : qstr(richest->first);
        trace.points = pointsOf(richest->second);
        traces.push_back(std::move(trace));
    }
    return traces;
}

std::vector<TimelineEvent> eventsOf(const RunData& run, const Diagnosis* diagnosis)
{
    std::vector<TimelineEvent> events;
    if (diagnosis) {
        for (const CaptureVerdict& verdict : diagnosis->captures) {
            if (verdict.step) {
                const double middle = 0.5 * static_cast<double>(verdict.step->first + verdict.step->second);
                events.push_back({middle, kindOf(verdict.role),
                    QStringLiteral("%1, %2").arg(roleWord(verdict.role), stepSentence(verdict))});
            }
        }
    }
    for (const Event& event : run.events) {
        if (event.step && (event.kind != EventKind::captureDumped || !diagnosis)) {
            events.push_back({static_cast<double>(*event.step), TimelineEvent::Kind::other, qstr(event.text)});
        }
    }
    return events;
}

TimelinePane::TimelinePane(QWidget* parent)
    : QWidget(parent)
{
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(2));
    const QString titles[] = {tr("Loss"), tr("Gradient norm")};
    for (std::size_t i = 0; i < m_plots.size(); ++i) {
        build(m_plots[i], titles[i]);
        layout->addWidget(m_plots[i].frame, 1);
    }
    connect(lossPlot(), &TimelinePlot::stepRangeChanged, gradNormPlot(), &TimelinePlot::setStepRange);
    connect(gradNormPlot(), &TimelinePlot::stepRangeChanged, lossPlot(), &TimelinePlot::setStepRange);
}

void TimelinePane::build(Plot& plot, const QString& title)
{
    plot.frame = new PaneFrame(title, this);
    plot.legend = new QLabel(plot.frame);
    plot.legend->setTextFormat(Qt::RichText);
    plot.frame->header()->insertWidget(1, plot.legend);
    plot.plot = new TimelinePlot(plot.frame);
    plot.plot->setAccessibleName(title);
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(grid(2), 0, grid(2), grid(1));
    inner->addWidget(plot.plot);
    plot.frame->body()->addLayout(inner, 1);
    connect(plot.plot, &TimelinePlot::readoutChanged, this,
        [&plot](const QString& text) { plot.frame->setNote(text.isEmpty() ? plot.note : text); });
}

void TimelinePane::fill(Plot& plot, const RunData& run, std::string_view name)
{
    std::vector<Trace> traces = tracesOf(run, name);
    const std::size_t all = traces.size();
    traces.resize(std::min(all, mostRanks));
    std::int64_t nonFinite = 0;
    plot.labels.clear();
    for (const Trace& trace : traces) {
        plot.labels.push_back(trace.label);
        nonFinite += std::ranges::count_if(trace.points, [](const TracePoint& point) {
            return point.state != PointState::finite && point.state != PointState::reported;
        });
    }
    QStringList note;
    if (all > mostRanks) {
        note << tr("showing %1 of %2 ranks").arg(mostRanks).arg(all);
    }
    if (nonFinite > 0) {
        note << (nonFinite == 1 ? tr("1 value is not finite") : tr("%1 values are not finite").arg(nonFinite));
    }
    plot.note = note.join(QStringLiteral(" · "));
    plot.frame->setNote(plot.note);
    plot.frame->setVisible(all > 0);
    plot.plot->setTraces(std::move(traces));
    plot.plot->setAccessibleDescription(plot.note);
    updateLegend(plot);
}

void TimelinePane::updateLegend(Plot& plot)
{
    constexpr const char16_t* strokes[] = {u"━━", u"╍╍", u"┈┈"};
    constexpr std::size_t mostLabels = 4;
    QStringList parts;
    for (std::size_t i = 0; i < std::min(plot.labels.size(), mostLabels); ++i) {
        parts << QStringLiteral("<span style='color:%1'>%2</span>&nbsp;<span style='color:%3'>%4</span>")
                     .arg(theme().ranks[i % theme().ranks.size()].name(),
                         QString::fromUtf16(strokes[i % std::size(strokes)]), theme().muted.name(),
                         plot.labels[i].toHtmlEscaped());
    }
    if (plot.labels.size() > mostLabels) {
        parts << QStringLiteral("…");
    }
    plot.legend->setText(parts.join(QStringLiteral("&nbsp;&nbsp;")));
}

void TimelinePane::setRun(const RunData* run, const Diagnosis* diagnosis)
{
    const RunData none;
    const RunData& shown = run ? *run : none;
    const bool sameRun = run && run == m_run;
    const bool fitted = !sameRun || lossPlot()->showsAll();
    m_run = run;
    if (!sameRun) {
        fill(m_plots[0], shown, "loss");
        fill(m_plots[1], shown, "grad_norm");
    }
    // What the logs do not hold takes no room.
    setVisible(std::ranges::any_of(m_plots, [](const Plot& plot) { return !plot.frame->isHidden(); }));
    const std::vector<TimelineEvent> events = eventsOf(shown, diagnosis);
    Interval whole {0, 1};
    for (std::size_t i = 0; i < m_plots.size(); ++i) {
        m_plots[i].plot->setEvents(events);
        const Interval own = m_plots[i].plot->fullRange();
        whole = i == 0 ? own : Interval {std::min(whole.low, own.low), std::max(whole.high, own.high)};
    }
    // A new diagnosis is no reason to leave the steps the user looks at.
    for (Plot& plot : m_plots) {
        if (fitted) {
            plot.plot->setStepRange(whole);
        }
    }
}

void TimelinePane::changeEvent(QEvent* event)
{
    if (isThemeChange(event)) {
        for (Plot& plot : m_plots) {
            if (plot.legend) {
                updateLegend(plot);
            }
        }
    }
    QWidget::changeEvent(event);
}

} // namespace nanscope
