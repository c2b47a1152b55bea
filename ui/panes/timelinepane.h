// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <vector>

#include "core/model/model.h"
#include "ui/panes/paneframe.h"
#include "ui/plots/trace.h"

class QLabel;

namespace nanscope {

class TimelinePlot;

/// Loss and gradient norm of all ranks on linked steps, with the marker lane above each.
class TimelinePane : public QWidget
{
    Q_OBJECT

public:
    explicit TimelinePane(QWidget* parent = nullptr);

    void setRun(const RunData* run, const Diagnosis* diagnosis);

    TimelinePlot* lossPlot() { return m_plots[0].plot; }
    TimelinePlot* gradNormPlot() { return m_plots[1].plot; }

protected:
    void changeEvent(QEvent* event) override;

private:
    struct Plot
    {
        PaneFrame* frame = nullptr;
        QLabel* legend = nullptr;
        TimelinePlot* plot = nullptr;
        QString note;
        std::vector<QString> labels;
    };

    void build(Plot& plot, const QString& title);
    void fill(Plot& plot, const RunData& run, std::string_view name);
    void updateLegend(Plot& plot);

    std::array<Plot, 2> m_plots;
    const RunData* m_run = nullptr; ///< only to recognise it
};

/// One trace per rank of a canonical series; where several sources hold the same rank, the one with most points.
std::vector<Trace> tracesOf(const RunData& run, std::string_view name);

/// Marks for the upper row: judged captures between their steps, and log events that say their step.
std::vector<TimelineEvent> eventsOf(const RunData& run, const Diagnosis* diagnosis);

} // namespace nanscope
