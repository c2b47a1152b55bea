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

/// What linked timelines share: the steps they show and how they got there, the cursor, and the two marked steps.
/// A plot that is added later finds it all here.
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
    /// Clamped to what there is; undo leads back to before the gesture.
    void zoomTo(Interval steps, Gesture gesture);
    void zoomBy(double factor, double center, Gesture gesture);
    void panBy(double steps, Gesture gesture);
    void showAll() { zoomTo(whole(), Gesture::fresh); }

    bool canUndo() const { return m_history.canGoBack(); }
    bool canRedo() const { return m_history.canGoForward(); }
    void undo();
    void redo();
    void forgetHistory();

    /// Where the mouse is, else where the cursor was put.
    std::optional<double> cursor() const { return m_hover ? m_hover : m_cursor; }
    void setHover(std::optional<double> step);
    void setCursor(std::optional<double> step);
    /// Moves the steps shown by as much as the cursor needs.
    void reveal(double step);

    std::optional<double> marker(Marker which) const { return m_markers[static_cast<std::size_t>(which)]; }
    void setMarker(Marker which, std::optional<double> step);
    void clearMarkers();

Q_SIGNALS:
    void stepsChanged();
    void cursorChanged();
    void markersChanged();
    /// What undo and redo lead to.
    void historyChanged();

private:
    Interval clamped(Interval steps) const;
    void go(Interval steps);

    Interval m_steps {0, 1};
    std::map<const QObject*, Interval> m_extents;
    ViewHistory<Interval> m_history;
    std::optional<double> m_hover;
    std::optional<double> m_cursor;
    std::array<std::optional<double>, 2> m_markers;
};

} // namespace nanscope
