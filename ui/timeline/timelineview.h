// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <map>
#include <optional>

#include <QObject>

#include "ui/shared/viewhistory.h"
#include "ui/timeline/trace.h"

namespace nanscope {

/// What linked timelines share: the steps they show, the values that single ones were narrowed to, how they got there,
/// the cursor, and the two marked steps. A plot that is added later finds it all here.
class TimelineView : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    using Gesture = nanscope::Gesture;
    enum class Marker { a, b };

    Interval steps() const { return m_steps; }
    /// All that any plot has, with a margin.
    Interval whole() const;
    bool showsAll() const { return m_steps == whole(); }
    /// What one plot has. A view that shows everything goes on doing so.
    void setExtent(const QObject* plot, std::optional<Interval> steps);

    /// Goes there without a trace in the history.
    void show(Interval steps);
    /// The same, of steps that were kept. What does not meet what there is changes nothing.
    void showAgain(Interval steps);
    /// Clamped to what there is; undo leads back to before the gesture.
    void zoomTo(Interval steps, Gesture gesture);
    void zoomBy(double factor, double center, Gesture gesture);
    void panBy(double steps, Gesture gesture);
    /// All steps, and no plot narrowed to some values.
    void showAll();

    /// The values one plot was narrowed to; none: those of its curves.
    std::optional<Interval> values(const QObject* plot) const;
    void zoomValues(const QObject* plot, Interval values, Gesture gesture);
    /// In the history, too: the plot has other curves now, or goes away.
    void forgetValues(const QObject* plot);

    bool canUndo() const { return m_history.canGoBack(); }
    bool canRedo() const { return m_history.canGoForward(); }
    void undo();
    void redo();
    void forgetHistory();

    /// Where the mouse is, else where the cursor was put.
    std::optional<double> cursor() const { return m_hover ? m_hover : m_cursor; }
    /// Where it was put, whatever the mouse is over.
    std::optional<double> placed() const { return m_cursor; }
    void setHover(std::optional<double> step);
    void setCursor(std::optional<double> step);
    /// Moves the steps shown by as much as the cursor needs.
    void reveal(double step);

    std::optional<double> marker(Marker which) const { return m_markers[static_cast<std::size_t>(which)]; }
    void setMarker(Marker which, std::optional<double> step);
    /// B, with A where the cursor was put, unless that is marked already: the two steps are compared.
    void compareWith(double step);
    void clearMarkers();

Q_SIGNALS:
    void stepsChanged();
    void valuesChanged();
    void cursorChanged();
    void markersChanged();
    /// What undo and redo lead to.
    void historyChanged();

private:
    using Values = std::map<const QObject*, Interval>;

    /// What undo leads back to.
    struct Place
    {
        Interval steps;
        Values values;
        bool operator==(const Place&) const = default;
    };

    Interval clamped(Interval steps) const;
    Place here() const { return {m_steps, m_values}; }
    void leaveFor(const Place& next, Gesture gesture);
    void go(const Place& place);
    void goTo(Interval steps) { go({steps, m_values}); }

    Interval m_steps {0, 1};
    Values m_values;
    std::map<const QObject*, Interval> m_extents;
    ViewHistory<Place> m_history;
    std::optional<double> m_hover;
    std::optional<double> m_cursor;
    std::array<std::optional<double>, 2> m_markers;
};

} // namespace nanscope
