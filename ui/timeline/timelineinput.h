// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QObject>
#include <QPointF>

class QCustomPlot;
class QKeyEvent;
class QMouseEvent;
class QWheelEvent;

namespace nanscope {

class TimelinePlot;

/// Mouse and keys of one timeline: wheel zooms at the cursor (over the value axis: that axis), drag moves, Shift+drag
/// zooms to a box, double click shows all. Every one of them has a key as well.
class TimelineInput : public QObject
{
    Q_OBJECT

public:
    TimelineInput(TimelinePlot& plot, QCustomPlot& canvas);

    bool eventFilter(QObject* watched, QEvent* event) override;
    /// The next drag draws a box to zoom to, also without Shift.
    void drawBoxNext();

private:
    bool onCanvas(QEvent* event);
    bool onPlot(QEvent* event);
    void press(const QMouseEvent& event);
    void move(const QMouseEvent& event);
    void release(const QMouseEvent& event);
    void wheel(const QWheelEvent& event);
    void showTip(const QPointF& at, const QPoint& global);
    bool key(const QKeyEvent& event);
    bool navigate(int key, Qt::KeyboardModifiers modifiers);
    bool mark(int key);
    void zoomByKey(double factor);
    void showReach(Qt::KeyboardModifiers modifiers);

    struct Drag
    {
        QPointF from;
        double step = 0;
        bool box = false;
        bool moved = false;
    };

    TimelinePlot& m_plot;
    std::optional<Drag> m_drag;
    bool m_boxNext = false;
};

} // namespace nanscope
