// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/cliff/cliffpicture.h"
#include "ui/shared/stepplot.h"

namespace nanscope {

/// σ_max on entry of every step as a share of that step's limit: dots with the range of the roundings as a bar, all as
/// replayed, under one line at 100 %. What lies above the plot is a triangle at its edge, a step whose iterate is not
/// finite a cross.
class CliffLadder : public StepPlot
{
    Q_OBJECT

public:
    explicit CliffLadder(QWidget* parent = nullptr);

    void setPicture(const CliffPicture& picture, int step);
    QString textOf(int step) const override;

protected:
    void rebuild() override;
    int step() const override { return m_step; }
    int steps() const override { return static_cast<int>(m_picture.steps.size()); }

private:
    void addStep(const CliffStep& step);
    void addMark(int step, double share, int shape, const QColor& color, bool filled);

    CliffPicture m_picture;
    int m_step = 1;
};

} // namespace nanscope
