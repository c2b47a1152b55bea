// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/timeline/timelineview.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanscope {

namespace {

constexpr double narrowest = 2;

} // namespace

Interval TimelineView::whole() const
{
    std::optional<Interval> all;
    for (const auto& [plot, steps] : m_extents) {
        all = united(all, steps);
    }
    const Interval range = all.value_or(Interval {0, 1});
    const double pad = std::max(0.5, 0.02 * (range.high - range.low));
    return {range.low - pad, range.high + pad};
}

void TimelineView::setExtent(const QObject* plot, std::optional<Interval> steps)
{
    const bool all = showsAll() || m_extents.empty();
    if (steps) {
        m_extents[plot] = *steps;
    } else {
        m_extents.erase(plot);
    }
    if (all) {
        goTo(whole());
    }
}

Interval TimelineView::clamped(Interval steps) const
{
    const Interval all = whole();
    const double span = std::clamp(steps.high - steps.low, std::min(narrowest, all.high - all.low), all.high - all.low);
    const double grown = 0.5 * (span - (steps.high - steps.low));
    const double low = std::clamp(steps.low - grown, all.low, all.high - span);
    // The same numbers for the same steps, so that "shows all" stays an exact comparison.
    return span == all.high - all.low ? all : Interval {low, low + span};
}

void TimelineView::go(const Place& place)
{
    const bool otherValues = std::exchange(m_values, place.values) != place.values;
    if (!(place.steps == m_steps) && std::isfinite(place.steps.low) && place.steps.high > place.steps.low) {
        m_steps = place.steps;
        Q_EMIT stepsChanged();
    }
    if (otherValues) {
        Q_EMIT valuesChanged();
    }
}

void TimelineView::leaveFor(const Place& next, Gesture gesture)
{
    m_history.leave(here(), next, gesture);
    if (!(next == here())) {
        go(next);
        Q_EMIT historyChanged();
    }
}

void TimelineView::show(Interval steps)
{
    goTo(steps);
}

void TimelineView::showAgain(Interval steps)
{
    const Interval all = whole();
    if (steps.low < steps.high && steps.low < all.high && steps.high > all.low) {
        goTo(clamped(steps));
    }
}

void TimelineView::zoomTo(Interval steps, Gesture gesture)
{
    leaveFor({clamped(steps), m_values}, gesture);
}

void TimelineView::showAll()
{
    leaveFor({whole(), {}}, Gesture::fresh);
}

std::optional<Interval> TimelineView::values(const QObject* plot) const
{
    const auto found = m_values.find(plot);
    return found == m_values.end() ? std::nullopt : std::optional(found->second);
}

void TimelineView::zoomValues(const QObject* plot, Interval values, Gesture gesture)
{
    Place next = here();
    next.values[plot] = values;
    leaveFor(next, gesture);
}

void TimelineView::forgetValues(const QObject* plot)
{
    const auto forget = [plot](Place& place) { place.values.erase(plot); };
    Place next = here();
    forget(next);
    m_history.change(forget, next);
    go(next);
    Q_EMIT historyChanged();
}

void TimelineView::zoomBy(double factor, double center, Gesture gesture)
{
    zoomTo({center - (center - m_steps.low) * factor, center + (m_steps.high - center) * factor}, gesture);
}

void TimelineView::panBy(double steps, Gesture gesture)
{
    zoomTo({m_steps.low + steps, m_steps.high + steps}, gesture);
}

void TimelineView::undo()
{
    if (const auto place = m_history.back(here())) {
        go(*place);
        Q_EMIT historyChanged();
    }
}

void TimelineView::redo()
{
    if (const auto place = m_history.forward(here())) {
        go(*place);
        Q_EMIT historyChanged();
    }
}

void TimelineView::forgetHistory()
{
    m_history.forget();
    Q_EMIT historyChanged();
}

void TimelineView::setHover(std::optional<double> step)
{
    if (m_hover != step) {
        m_hover = step;
        Q_EMIT cursorChanged();
    }
}

void TimelineView::setCursor(std::optional<double> step)
{
    m_hover.reset();
    m_cursor = step;
    Q_EMIT cursorChanged();
}

void TimelineView::reveal(double step)
{
    const double span = m_steps.high - m_steps.low;
    if (step < m_steps.low || step > m_steps.high) {
        const double margin = 0.1 * span;
        const double low = step < m_steps.low ? step - margin : step + margin - span;
        goTo(clamped({low, low + span}));
    }
}

void TimelineView::setMarker(Marker which, std::optional<double> step)
{
    m_markers[static_cast<std::size_t>(which)] = step;
    Q_EMIT markersChanged();
}

void TimelineView::compareWith(double step)
{
    auto& [a, b] = m_markers;
    a = a ? a : m_cursor;
    b = step;
    Q_EMIT markersChanged();
}

void TimelineView::clearMarkers()
{
    m_markers = {};
    Q_EMIT markersChanged();
}

} // namespace nanscope
