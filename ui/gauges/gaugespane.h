// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <functional>

#include "core/replay/engine/capturecells.h"
#include "ui/gauges/deepplot.h"
#include "ui/gauges/gaugeplot.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/paneframe.h"

class QComboBox;
class QPushButton;

namespace nanscope {

/// Gauges of the shown cell, step by step, and the exact numbers of the step under the mouse. Deep ones are measured
/// when asked for; from then on one of their plots, or all side by side, can be looked at.
class GaugesPane : public PaneFrame
{
    Q_OBJECT

public:
    explicit GaugesPane(QWidget* parent = nullptr);

    /// `planted`: of a replay with a fault, of which there are no deep ones.
    void setCell(const Cell* cell, const replay::CellRequest& request = {}, bool planted = false);
    void setIteration(int iteration);
    /// What deep gauges of the shown cell would take, or why they are refused: said before anybody asks for them.
    void setDeepOffer(const QString& sentence);
    void setMeasuring(bool measuring);
    void showProgress(int done, int total);

    GaugePlot* plot() { return m_plot; }
    const std::array<DeepPlot*, 3>& deepPlots() const { return m_deepPlots; }
    QComboBox* views() { return m_views; }
    QPushButton* deepButton() { return m_deepButton; }
    QLabel* legend() { return m_legend; }
    QString readoutText() const { return m_readout->fullText(); }
    const ElidedLabel& readout() const { return *m_readout; }

Q_SIGNALS:
    void iterationActivated(int iteration);
    void deepRequested();
    void deepCancelled();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void addPlot(StepPlot& plot, const QString& title, const std::function<QString()>& legend);
    void chooseView();
    void showReadout(const QString& text);
    void showLegend();
    void fitLegend();
    /// The plot of which the legend is shown.
    const StepPlot& explained() const;
    QString emptyText() const;

    GaugePlot* m_plot;
    std::array<DeepPlot*, 3> m_deepPlots;
    QComboBox* m_views; ///< there with deep gauges only
    QPushButton* m_deepButton;
    QLabel* m_legend;
    ElidedLabel* m_readout;
    PictureCaption m_caption; ///< of every plot but for title and legend
    bool m_chosen = false; ///< the user has picked a view
    bool m_hasCell = false;
    QString m_birth; ///< of the first value of the cell that is not finite; empty where all are
    bool m_planted = false;
    bool m_hasDeep = false;
    bool m_measuring = false;
};

} // namespace nanscope
