// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a plot says about the steps somebody looks at.
#include <algorithm>
#include <cmath>

#include <QRegularExpression>

#include "ui/plots/timelinemarkers.h"
#include "ui/plots/timelineplot.h"
#include "ui/text.h"

namespace nanscope {

namespace {

std::vector<double> stepsLookedAt(const TimelineView& view)
{
    std::vector<double> steps;
    for (const auto& step :
        {view.cursor(), view.marker(TimelineView::Marker::a), view.marker(TimelineView::Marker::b)}) {
        if (step) {
            steps.push_back(*step);
        }
    }
    return steps;
}

} // namespace

void TimelinePlot::updateMarkers()
{
    m_overlay->show(*m_view);
    Q_EMIT readoutChanged(readout());
}

StepSamples TimelinePlot::samplesAt(double step) const
{
    const StepSamples own = samplesOf(m_traces, step);
    const auto known = std::ranges::find(m_exact, step, &StepSamples::asked);
    return own.exact || known == m_exact.end() ? own : *known;
}

std::vector<double> TimelinePlot::inexactSteps() const
{
    std::vector<double> steps = stepsLookedAt(*m_view);
    std::erase_if(steps, [this](double step) { return samplesAt(step).exact; });
    return steps;
}

void TimelinePlot::setExact(std::vector<StepSamples> samples)
{
    const auto looked = stepsLookedAt(*m_view);
    std::erase_if(
        m_exact, [&](const StepSamples& old) { return std::ranges::find(looked, old.asked) == looked.end(); });
    std::ranges::move(samples, std::back_inserter(m_exact));
    Q_EMIT readoutChanged(readout());
}

QString TimelinePlot::readout() const
{
    return m_view->cursor() ? readoutText(m_traces, samplesAt(*m_view->cursor())) : QString();
}

QString TimelinePlot::delta() const
{
    const auto a = m_view->marker(TimelineView::Marker::a);
    const auto b = m_view->marker(TimelineView::Marker::b);
    return a && b ? deltaText(m_traces, samplesAt(*a), samplesAt(*b)) : QString();
}

QString TimelinePlot::tipAt(const QPointF& at) const
{
    const TimelineEvent* event = eventAt(at);
    if (!event) {
        return m_view->cursor() ? samplesTip(m_traces, samplesAt(*m_view->cursor())) : QString();
    }
    const QString place = event->line > 0 ? QStringLiteral("%1:%2").arg(event->source).arg(event->line) : event->source;
    return QStringList {event->text, place, event->capture}
        .filter(QRegularExpression(QStringLiteral(".")))
        .join(QLatin1Char('\n'));
}

void TimelinePlot::stepCursor(int direction)
{
    const Interval steps = stepRange();
    const double from = m_view->cursor().value_or(direction > 0 ? std::floor(steps.low) : std::ceil(steps.high));
    const NextSample next = nextSample(m_traces, from, direction);
    if (next.hidden) {
        Q_EMIT sampleWanted(from, direction);
    } else if (next.step) {
        m_view->setCursor(static_cast<double>(*next.step));
        m_view->reveal(static_cast<double>(*next.step));
    }
}

void TimelinePlot::jumpCursor(int direction)
{
    const double from = m_view->cursor().value_or(direction > 0 ? stepRange().low : stepRange().high);
    std::optional<double> next;
    const auto consider = [&](double at) {
        const bool ahead = direction > 0 ? at > from : at < from;
        if (ahead && (!next || (direction > 0 ? at < *next : at > *next))) {
            next = at;
        }
    };
    std::ranges::for_each(m_marks, consider, &NonFiniteMark::position);
    std::ranges::for_each(m_events, consider, &TimelineEvent::position);
    if (next) {
        m_view->setCursor(next);
        m_view->reveal(*next);
    }
}

void TimelinePlot::activateEvent(const TimelineEvent& event)
{
    m_view->setCursor(event.position);
    Q_EMIT eventActivated(event);
}

} // namespace nanscope
