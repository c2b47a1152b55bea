// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/panes/paneframe.h"
#include "ui/plots/gaugeplot.h"

namespace nanscope {

/// Gauges of the shown cell, step by step, and the exact numbers of the step under the mouse.
class GaugesPane : public PaneFrame
{
    Q_OBJECT

public:
    explicit GaugesPane(QWidget* parent = nullptr);

    void setCell(const Cell* cell);
    void setIteration(int iteration);

    GaugePlot* plot() { return m_plot; }

private:
    GaugePlot* m_plot;
    ElidedLabel* m_readout;
};

} // namespace nanscope
