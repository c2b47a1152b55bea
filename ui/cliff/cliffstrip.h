// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include <QAbstractSlider>

#include "ui/cliff/cliffhistory.h"
#include "ui/shared/picture.h"

namespace nanscope {

/// A logarithmic slider over scales, with a mark for every scale that was replayed: finite ones in the lower lane, the
/// others above, each outcome with its own shape. The dashed line is where the curve expects the limit: theory.
class CliffStrip : public QAbstractSlider
{
    Q_OBJECT

public:
    static constexpr int perOctave = 1024; ///< steps of the slider

    explicit CliffStrip(QWidget* parent = nullptr);

    /// The exact scale, which need not be one of the slider's steps. Widens the strip where it lies outside.
    void setScale(double scale);
    double scale() const { return m_scale; }
    /// By ascending scale.
    void setReplays(std::vector<SharedCliff> replays);
    void setExpected(std::optional<double> scale);
    /// Back to 1/4 … 4.
    void resetRange();

    Picture picture() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    /// The user moved it.
    void scaleChosen(double scale);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    void include(double scale);
    double xOf(double scale) const;
    int valueAt(double x) const;
    void paint(QPainter& painter) const;
    void drawAxis(QPainter& painter) const;
    void drawExpected(QPainter& painter) const;
    void drawReplays(QPainter& painter) const;
    void drawHandle(QPainter& painter) const;
    QString toolTipAt(double x) const;

    double m_scale = 1;
    std::vector<SharedCliff> m_replays;
    std::optional<double> m_expected;
};

} // namespace nanscope
