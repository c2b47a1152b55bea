// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointF>

namespace nanscope {

/// Where linked heat maps look, and where the cursor is; in fractions of the matrix, so that maps of different
/// size stay side by side.
class HeatView : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    QPointF center() const { return m_center; }
    double zoom() const { return m_zoom; }
    bool hasCursor() const { return m_hasCursor; }
    QPointF cursor() const { return m_cursor; }

    void setView(QPointF center, double zoom);
    void fit() { setView({0.5, 0.5}, 1); }
    void setCursor(QPointF at);
    void clearCursor();

    static constexpr double maxZoom = 4096;

Q_SIGNALS:
    void viewChanged();
    void cursorChanged();

private:
    QPointF m_center {0.5, 0.5};
    double m_zoom = 1;
    QPointF m_cursor;
    bool m_hasCursor = false;
};

} // namespace nanscope
