// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/cliff/cliffpicture.h"
#include "ui/shared/smallplot.h"

namespace nanscope {

/// What the rest of a schedule makes of one singular value, as a curve up to its limit (theory), and the σ_max
/// that a replay measured there as a dot with the range of the roundings as a bar. The dot's height is the curve's.
class CliffCurve : public SmallPlot
{
    Q_OBJECT

public:
    explicit CliffCurve(QWidget* parent = nullptr);

    /// `step` counts from 1.
    void setPicture(const CliffPicture& picture, int step);

    /// Right end of the axis.
    double top() const { return m_top; }

protected:
    void rebuild() override;
    void pointAt(double x, bool pressed) override;

private:
    const CliffStep* shown() const;
    std::span<const replay::Coefficients> rest() const;
    void addCurve(const CliffStep& step);
    void addLimit(const CliffStep& step);
    void addMeasured(const CliffStep& step);
    /// At a share of the width and of the height.
    void addNote(const QString& text, const QColor& color, QPointF place, Qt::Alignment alignment);

    CliffPicture m_picture;
    int m_step = 1;
    double m_top = 1;
};

} // namespace nanscope
