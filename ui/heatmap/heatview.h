// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointF>

#include "ui/shared/viewhistory.h"

namespace nanscope {

/// Where linked heat maps look and how they got there, and where the cursor is; in fractions of the matrix, so that
/// maps of different size stay side by side. A map that is added later finds it all here.
class HeatView : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    QPointF center() const { return m_place.center; }
    double zoom() const { return m_place.zoom; }
    bool hasCursor() const { return m_hasCursor; }
    QPointF cursor() const { return m_cursor; }

    /// Goes there without a trace in the history.
    void setView(QPointF center, double zoom);
    /// Going back leads to before the gesture.
    void zoomTo(QPointF center, double zoom, Gesture gesture);
    void fit() { zoomTo({0.5, 0.5}, 1, Gesture::fresh); }
    /// For another matrix: whole, and nothing to go back to.
    void reset();

    bool canGoBack() const { return m_history.canGoBack(); }
    bool canGoForward() const { return m_history.canGoForward(); }
    void goBack();
    void goForward();

    void setCursor(QPointF at);
    void clearCursor();

    static constexpr double maxZoom = 4096;

Q_SIGNALS:
    void viewChanged();
    void cursorChanged();
    /// What going back and forward lead to.
    void historyChanged();

private:
    struct Place
    {
        QPointF center {0.5, 0.5};
        double zoom = 1;
        bool operator==(const Place&) const = default;
    };

    static Place clamped(QPointF center, double zoom);
    void go(const Place& place);

    Place m_place;
    ViewHistory<Place> m_history;
    QPointF m_cursor;
    bool m_hasCursor = false;
};

} // namespace nanscope
