// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/shared/keys.h"
#include "ui/shared/smallplot.h"

class QCPItemStraightLine;

namespace nanscope {

/// A plot with places that are worth stopping at: the arrow keys go from one to the next, a click chooses the nearest,
/// and each is told in words.
class StopPlot : public SmallPlot, public KeyUser
{
    Q_OBJECT

public:
    explicit StopPlot(QWidget* parent = nullptr);

    /// Of stops(); -1 where none is chosen.
    int stop() const { return m_stop; }
    void setStop(int stop);
    int stopCount() const { return static_cast<int>(stops().size()); }
    QString stopText() const { return m_stop < 0 ? QString() : textOf(m_stop); }

    virtual QString textOf(int stop) const = 0;

    QString keysTitle() const override;
    std::vector<KeyHint> keyHints() const override;

Q_SIGNALS:
    void stopChosen(int stop);

protected:
    /// Ascending, on the x axis.
    virtual const std::vector<double>& stops() const = 0;
    /// Of a place under the mouse; that of the nearest stop unless more is known.
    virtual QString textAt(double x) const;
    int nearestStop(double x) const;
    /// For rebuild(): the dashed line at the stop.
    void addCursor();

    void pointAt(double x, bool pressed) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void moveCursor();

    QCPItemStraightLine* m_cursor = nullptr;
    int m_stop = -1;
};

} // namespace nanscope
